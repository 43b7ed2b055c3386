"""What regenerates the figures and tables of majeed2024."""

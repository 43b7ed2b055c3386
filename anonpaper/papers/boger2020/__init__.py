"""What regenerates the figures and tables of boger2020."""

"""What regenerates the figures and tables of diva2021."""

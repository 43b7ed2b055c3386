"""What regenerates the figures and tables of xiao2010."""

"""What regenerates the figures and tables of dewri2009."""

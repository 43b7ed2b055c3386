"""paper0000: what regenerates its figures and tables, and judges its claims."""

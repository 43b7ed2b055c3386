"""Prepare: a table made ready for grouping; every function takes and gives Microdata or frames."""

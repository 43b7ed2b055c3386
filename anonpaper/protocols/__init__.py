"""Measurement protocols: what the figures of each paper ask of the algorithms."""

"""Algorithms that group rows: Microdata in, Partition out."""

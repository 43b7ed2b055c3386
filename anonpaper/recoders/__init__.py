"""Algorithms that divide domains: Microdata in, Recoding out."""

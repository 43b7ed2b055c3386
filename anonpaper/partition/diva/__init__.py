"""DIVA: k-anonymous tables that keep the diversity asked for (diva2021)."""

from anonpaper.partition.diva.algorithm import diva

__all__ = ["diva"]

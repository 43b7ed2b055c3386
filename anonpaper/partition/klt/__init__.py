"""K,L,theta-diversity by greedy clustering with a customized distance (boger2020)."""

from anonpaper.partition.klt.clustering import UnplacedRowsWarning, klt

__all__ = ["UnplacedRowsWarning", "klt"]

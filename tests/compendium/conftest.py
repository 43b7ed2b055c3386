"""A folder of notebooks with claims, for the tests of the judge."""

import pandas as pd
import pytest

from anonpaper.compendium import judge

CHECKS = '''
from anonpaper.compendium.judge import Finding


def given(*tables, verdict="reproduced", measured=1, **numbers):
    """Say what it was told to."""
    return Finding(numbers.get("published", measured), verdict, "at l = 2", "2 seeds", (0.5, 1.25))
'''


@pytest.fixture
def entered(monkeypatch, tmp_path):
    """Enter claims of xiao2010 in TOML, and give the folder of their tables."""
    home = tmp_path / "notebooks" / "xiao2010"
    home.mkdir(parents=True)
    (home / "checks.py").write_text(CHECKS)
    monkeypatch.setattr(judge, "notebooks_folder", lambda: tmp_path / "notebooks")
    pd.DataFrame(
        {
            "l": [2, 2, 4, 4, 2, 2, 4, 4],
            "seed": [0, 0, 0, 0, 1, 1, 1, 1],
            "algorithm": ["TP", "TP+"] * 4,
            "stars": [8, 6, 9, 7.5, 8.5, 6.25, 9.5, 7],
        }
    ).to_csv(tmp_path / "stars.csv", index=False)
    basic = 'where = "Figure 2"\nnotebook = "1_example"\nclaim = "fewer stars"\ntable = "stars"\n'

    def enter(**entries):
        written = [f"[xiao2010._basic]\n{basic}"]
        for id, text in entries.items():
            above = "" if "like =" in text else 'like = "_basic"\n'
            written.append(f"[xiao2010.{id}]\n{above}{text}\n")
        (home / "claims.toml").write_text("\n".join(written))
        judge._of_file.cache_clear()
        return tmp_path

    return enter

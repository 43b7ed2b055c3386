"""The judge of xiao2010's claims for what claims.toml cannot say in a few readable lines."""

from __future__ import annotations

import pandas as pd

from anonpaper.compendium.intervals import judge_statement
from anonpaper.compendium.judge import Finding

PATIENT = ["Age", "Gender", "Education"]


def most_accurate(
    table_1: pd.DataFrame, table_3: pd.DataFrame, table_4: pd.DataFrame, table_5: pd.DataFrame
) -> Finding:
    """Compare, cell by cell, the values that Table 5 covers with those of Tables 3 and 4."""
    domains = {column: list(table_1[column].unique()) for column in PATIENT}
    covered = [_covered(table.set_index("Name"), domains) for table in (table_3, table_4, table_5)]
    cells = len(covered[-1])
    third, fourth = (sum(covered[-1][at] <= other[at] for at in other) for other in covered[:2])
    return Finding(
        f"{third} of {cells} values at least as accurate as in Table 3, {fourth} as in Table 4",
        judge_statement(third == fourth == cells),
    )


def _covered(
    table: pd.DataFrame, domains: dict[str, list[str]]
) -> dict[tuple[str, str], set[str]]:
    """Return the original values that each cell covers: one, a range of them, or all for "*"."""

    def values(cell: str, domain: list[str]) -> set[str]:
        if cell == "*":
            return set(domain)
        ends = [cell] if cell in domain else cell[1:-1].split(" - ")
        places = [domain.index(end) for end in ends]
        return set(domain[min(places) : max(places) + 1])

    return {
        (name, column): values(table.loc[name, column], domain)
        for name in table.index
        for column, domain in domains.items()
    }

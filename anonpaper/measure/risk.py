"""Risk: what somebody who knows the quasi-identifiers of a person can still find out."""

from __future__ import annotations

import pandas as pd

from anonpaper.principles import GroupCounts, Theta
from anonpaper.publish import Release, check_release

__all__ = ["disclosure_confidence"]


def disclosure_confidence(rel: Release) -> pd.Series:
    """Return, per published row, how sure an attacker is of the likeliest sensitive value.

    The attacker knows the quasi-identifiers of a person and that the row is published; in the
    equivalence class the most frequent value has this share. A confidence of 1 is the
    homogeneity attack of Machanavajjhala et al. (2007).

    Returns
    -------
    pandas.Series
        Index of the published rows, values in (0, 1].

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> disclosure_confidence(ap.suppress(m, ap.examples.hospital_two_anonymous()))["Adam"].item()
    1.0
    """
    m, labels = check_release(rel)._audited()
    shown = labels >= 0
    m.sensitive_codes  # noqa: B018 - raises ColumnError where there is none
    shares = Theta(1).levels(GroupCounts.of(m, labels))
    return pd.Series(shares[labels[shown]], index=m.frame.index[shown], name="confidence")

"""Whatever is given for one argument of a public function, the answer is a result or our error."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import AnonpaperError
from anonpaper.principles import l_diversity, require_diverse
from anonpaper.repair.cleaning import clean
from anonpaper.repair.synthesis import fuse

FRAME = pd.DataFrame({"age": [1, 2, 3, 4], "job": list("abca"), "ill": list("xyxy")})
M = ap.Microdata(FRAME, ["age", "job"], "ill")
P, R, TREE = (
    ap.Partition([0, 0, 1, 1]),
    ap.Recoding.identity(M.attributes),
    ap.Hierarchy.flat("abc"),
)

BAD = [
    None, 0, 1, -1, 2, 3.5, np.nan, np.inf, 2**60, 10**400, 1j, True, np.bool_(True), np.int64(2),
    "age", "x", "4", b"3", "*", decimal.Decimal("1.5"), datetime.date(2020, 1, 1), pd.NA, pd.NaT,
    [], (), {}, [[]], [None], [[1]], ["age"], ["ill"], ["age", "job"], ("age",), {"age"}, range(4),
    {"age": 1}, {"age": -1}, {"age": "x"}, {"age": None}, {"age": (0, 10)}, {"age": [1, 2, 3, 4]},
    {"age": {1: 2}}, {1: 2}, {"job": TREE}, [["a", "*"], ["b", "*"]], ["a", "b", ""],
    np.array([0, 0, 1, 1]), np.array([0, 1]), np.array([[0, 1]]), np.array(3), np.zeros(4),
    np.array([True, False, True, False]), np.array([2**60] * 4), np.array(["a"] * 4),
    FRAME, FRAME.head(0), FRAME["age"], M, P, R, TREE, M.attributes, len, object(),
]  # fmt: skip

CALLS = {
    "Microdata, frame": lambda x: ap.Microdata(x, ["age"]).codes,
    "Microdata, qi": lambda x: ap.Microdata(FRAME, x).codes,
    "Microdata, sensitive": lambda x: ap.Microdata(FRAME, ["age"], x).cells,
    "Microdata, missing": lambda x: ap.Microdata(FRAME, ["age"], missing=x).codes,
    "Microdata, domains": lambda x: ap.Microdata(FRAME, ["age"], domains=x).codes,
    "Microdata, a domain": lambda x: ap.Microdata(FRAME, ["age"], domains={"age": x}).codes,
    "Microdata, synthetic": lambda x: ap.Microdata(FRAME, ["age"], synthetic=x).codes,
    "replace, frame": lambda x: M.replace(frame=x).codes,
    "replace, qi": lambda x: M.replace(qi=x).codes,
    "replace, sensitive": lambda x: M.replace(sensitive=x).cells,
    "replace, domains": lambda x: M.replace(domains=x).codes,
    "replace, synthetic": lambda x: M.replace(synthetic=x).codes,
    "replace, dropped": lambda x: M.replace(dropped=x).codes,
    "with_codes": lambda x: M.with_codes(x).codes,
    "with_codes, of one": lambda x: M.with_codes({"age": x}).codes,
    "take": lambda x: M.take(x).codes,
    "sample, rows": lambda x: M.sample(x, 0),
    "sample, seed": lambda x: M.sample(2, x),
    "codes_of": M.codes_of,
    "attribute": M.attribute,
    "attribute_index": M.attribute_index,
    "code": M.attribute("age").code,
    "Partition, labels": ap.Partition,
    "Partition, info": lambda x: ap.Partition([0, 0, 1, 1], x),
    "Partition, starred": lambda x: ap.Partition([0, 0, 1, 1], starred=x),
    "KAnonymity": ap.KAnonymity,
    "RecursiveLDiversity": lambda x: ap.RecursiveLDiversity(x, 2),
    "TCloseness": lambda x: ap.TCloseness(0.5, x),
    "holds": ap.FrequencyLDiversity(2).holds,
    "holds, labels": lambda x: ap.FrequencyLDiversity(2).holds(M, x),
    "level": ap.TCloseness(0.5, "ordered").level,
    "l_diversity": lambda x: l_diversity(2, x),
    "require_diverse, m": lambda x: require_diverse(x, 2),
    "require_diverse, l": lambda x: require_diverse(M, x),
    "Hierarchy": ap.Hierarchy,
    "flat": ap.Hierarchy.flat,
    "balanced": ap.Hierarchy.balanced,
    "balanced, fan_out": lambda x: ap.Hierarchy.balanced("abc", x),
    "intervals, values": lambda x: ap.Hierarchy.intervals(x, [1]),
    "intervals, widths": lambda x: ap.Hierarchy.intervals([1, 2], x),
    "from_frame": ap.Hierarchy.from_frame,
    "generalize": lambda x: TREE.generalize(x, 1),
    "generalize, level": lambda x: TREE.generalize("a", x),
    "map_at": lambda x: TREE.map_at(M.attribute("job"), x),
    "names": TREE.names,
    "Recoding, attributes": lambda x: ap.Recoding(x, [[0, 0, 0, 0]]),
    "Recoding, maps": lambda x: ap.Recoding(M.attributes, x),
    "Recoding, a map": lambda x: ap.Recoding(M.attributes[:1], [x]),
    "identity": ap.Recoding.identity,
    "from_levels, hierarchies": lambda x: ap.Recoding.from_levels(M.attributes, x, {"job": 1}),
    "from_levels, levels": lambda x: ap.Recoding.from_levels(M.attributes, {"job": TREE}, x),
    "decode": lambda x: ap.Recoding.decode(M.attributes, x),
    "sub_domains": R.sub_domains,
    "granularize": lambda x: ap.granularize(M, x),
    "granularize, a width": lambda x: ap.granularize(M, {"age": x}),
    "granularize, ranges": lambda x: ap.granularize(M, {"age": 5}, x),
    "granularize, a range": lambda x: ap.granularize(M, {"age": 5}, {"age": x}),
    "in_preorder": lambda x: ap.in_preorder(M, x),
    "in_preorder, a tree": lambda x: ap.in_preorder(M, {"job": x}),
    "find_imbalance": ap.find_imbalance,
    "find_imbalance, threshold": lambda x: ap.find_imbalance(M, x),
    "fuse": lambda x: fuse(M, x),
    "clean, frame": lambda x: clean(x, ["age"], "ill"),
    "clean, qi": lambda x: clean(FRAME, x, "ill"),
    "clean, sensitive": lambda x: clean(FRAME, ["age"], x),
    "clean, ranges": lambda x: clean(FRAME, ["age"], "ill", ranges=x),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_argument_gives_our_error(name):
    refused = 0
    for value in BAD:
        try:
            CALLS[name](value)
        except AnonpaperError:
            refused += 1
    assert refused > 0

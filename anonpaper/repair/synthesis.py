"""Synthetic rows for rare sensitive values, and their fusion with the real ones.

The only module that imports SDV, and only when a synthesizer is used. Source: majeed2024, sections
4.1.4 and 4.1.5; L. Xu, M. Skoularidou, A. Cuesta-Infante, K. Veeramachaneni, *Modeling tabular
data using conditional GAN*, NeurIPS 2019.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from types import ModuleType

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from anonpaper import errors
from anonpaper.files import cache_folder, sha256, whole_file
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.randomness import generator

__all__ = ["fuse", "gaussian_copula", "quality", "synthesize"]

MOST_CATEGORIES = 500  # values of a column; each is an input of the network
_TABLE = "people"
_ROUNDS = 100  # attempts to sample a batch
_BATCH = 500  # rows of a training step


def synthesize(
    m: Microdata, needed: Mapping[object, int], *, epochs: int = 300, seed: int = 0
) -> pd.DataFrame:
    """Sample rows with given sensitive values from SDV's CTGAN, trained on the table.

    `needed` has the rows to sample per sensitive value. They come in its order, with the columns
    ``m.qi`` and the sensitive one. Numbers are clipped to the real range, whole ones stay whole.
    Rows with other values are rejected, so a model with few epochs may yield too few rows, which
    is a BudgetExceededError. `seed` is the seed of numpy and torch, before training and again
    before sampling. ``attrs`` of the rows has ``clipped``, the number of clipped values, and
    ``seconds``, the original time of training and sampling: the rows are kept in $ANONPAPER_CACHE
    or data/cache.
    """
    values = _checked_needs(m, needed)
    epochs = errors.check_integer("epochs", epochs, 1)
    seed = errors.check_integer("seed", seed, 0, 2**32 - 1)
    real = _plain_frame(m)
    if not values:
        return _as_in(m, real.head(0))
    with errors.needs("synthesis"):
        packages = [f"{name} {version(name)}" for name in ("sdv", "ctgan", "torch")]
    content = pd.util.hash_pandas_object(real, index=False).to_numpy().tobytes()
    settings = [("batch_size", _BATCH), ("epochs", epochs), ("method", "ctgan"), ("seed", seed)]
    key = sha256(repr((list(real.columns), content, settings, packages)))[:24]
    asked = sha256(repr(list(values.items())))[:12]
    sampled = cache_folder() / "models" / f"{key}-{asked}.parquet"
    if not sampled.exists():
        began = time.perf_counter()
        with _quiet_and_seeded(seed) as sdv:
            model = sdv.single_table.CTGANSynthesizer(
                _metadata(sdv, real), enable_gpu=False, epochs=epochs, batch_size=_BATCH
            )
            model.fit({_TABLE: real})
        with _quiet_and_seeded(seed) as sdv:
            parts = [_sampled(sdv, model, m, code, rows) for code, rows in values.items()]
        rows = pd.concat(parts, ignore_index=True)[list(real.columns)]
        rows.attrs["seconds"] = time.perf_counter() - began
        with whole_file(sampled) as stream:
            rows.to_parquet(stream)
    return _as_in(m, pd.read_parquet(sampled))


def _sampled(sdv, model, m: Microdata, code: int, rows: int) -> pd.DataFrame:
    """Sample rows under the condition of one sensitive value."""
    condition = sdv.sampling.Condition({str(m.sensitive): str(code)}, num_rows=rows)
    found = pd.DataFrame()
    with contextlib.suppress(ValueError):  # not a single row was accepted
        found = model.sample_from_conditions([condition], max_tries_per_batch=_ROUNDS)[_TABLE]
    if len(found) < rows:
        value = m.sensitive_attribute.values[code]
        told = f"{len(found)} of the {rows} rows with {m.sensitive!r} = {value!r} that are needed"
        way = "train it for more epochs, or use ap.gaussian_copula"
        raise errors.BudgetExceededError(f"the model yields {told}: {way}")
    return found.head(rows)


def fuse(m: Microdata, rows: pd.DataFrame) -> Microdata:
    """Append synthetic rows to real ones: a Microdata of the role columns, real rows first.

    ColumnError if `rows` lack a column, a category is unknown or a number is out of the real
    range. Rows are numbered from 0, and ``synthetic`` is true for those added. The domain of a
    numeric column becomes the numbers that occur.

    >>> m = ap.examples.hospital()
    >>> fuse(m, m.frame.head(2)).synthetic.sum().item()
    2
    """
    names = [*check_microdata(m, people=True).qi, *m.sensitives]
    if not isinstance(rows, pd.DataFrame):
        raise errors.ParameterError(f"rows must be a pandas DataFrame, got {type(rows).__name__}")
    if missing := [name for name in names if name not in rows.columns]:
        raise errors.ColumnError(f"synthetic rows lack the columns {missing}")
    columns = {}
    for name in names:
        attribute = m.attribute(name)
        both = np.append(attribute.values[m.codes_of(name)], rows[name].to_numpy(dtype=object))
        if attribute.numeric:
            columns[name], (low, high) = pd.to_numeric(both), attribute.positions[[0, -1]]
            known = (columns[name] >= low) & (columns[name] <= high)
        else:
            kind = pd.CategoricalDtype(list(attribute.values), attribute.ordered)
            columns[name] = pd.Categorical(both, dtype=kind)
            known = ~columns[name].isna()
        if not known.all():
            told = f"of {name!r} are unknown or out of range: {both[~known][:5]}"
            raise errors.ColumnError(f"synthetic values {told}")
    if m.person is not None:  # new numbers; every added row is another person
        people = pd.factorize(m.frame[m.person])[0]
        columns[m.person] = np.r_[people, people.max() + 1 + np.arange(len(rows))]
    occurring = {a: None for a in names if m.attribute(a).numeric}
    synthetic = np.r_[m.synthetic, np.ones(len(rows), dtype=bool)]
    return m.replace(frame=pd.DataFrame(columns), domains=occurring, synthetic=synthetic)


def quality(m: Microdata, rows: pd.DataFrame) -> pd.DataFrame:
    """Return SDV's scores of how similar synthetic rows are to `m`: ``property`` and ``score``."""
    real = _plain_frame(m)
    theirs = _plain_frame(fuse(m, rows)).iloc[m.n :].reset_index(drop=True)
    with _quiet_and_seeded(0) as sdv:
        report = sdv.evaluation.evaluate_quality(
            {_TABLE: real}, {_TABLE: theirs}, _metadata(sdv, real), verbose=False
        )
        found = report.get_properties().rename(columns={"Property": "property", "Score": "score"})
        found.loc[len(found)] = {"property": "Overall", "score": report.get_score()}
    # SDV also reports properties between tables, which are not defined for one table.
    return found.dropna().reset_index(drop=True)


def _checked_needs(m: Microdata, needed: Mapping[object, int]) -> dict[int, int]:
    """Return rows to sample per sensitive code, after checking that each value has a real row."""
    check_microdata(m)
    if not isinstance(needed, Mapping):
        raise errors.ParameterError(f"needed must be {{sensitive value: rows}}, got {needed!r}")
    values = {}
    for value, rows in needed.items():
        code = m.sensitive_attribute.code(value)
        values[code] = errors.check_integer(f"rows of {value!r}", rows, 0)
        if values[code] and not m.sensitive_counts[code]:
            what = f"{m.sensitive!r} = {value!r}"
            raise errors.InfeasibleError(f"no real row has {what} to learn from")
    return {code: rows for code, rows in values.items() if rows}


def _plain_frame(m: Microdata) -> pd.DataFrame:
    """Write numbers as floats and everything else as the text of its code."""
    columns = {}
    for name in [*m.qi, m.sensitive]:
        attribute, codes = m.attribute(name), m.codes_of(name)
        columns[str(name)] = codes.astype(str).astype(object)
        if attribute.numeric and name != m.sensitive:
            columns[str(name)] = attribute.positions[codes]
        elif (present := len(np.unique(codes))) > MOST_CATEGORIES:
            told = f"{name!r} has {present} categories, more than {MOST_CATEGORIES}"
            way = "group them, or drop the column (is it an identifier?)"
            raise errors.ColumnError(f"{told}: {way}")
    return pd.DataFrame(columns)


def _metadata(sdv, real: pd.DataFrame):
    numbers = list(real.select_dtypes("number"))
    kinds = {c: {"sdtype": "numerical" if c in numbers else "categorical"} for c in real}
    return sdv.metadata.Metadata.load_from_dict({"tables": {_TABLE: {"columns": kinds}}})


def _as_in(m: Microdata, rows: pd.DataFrame) -> pd.DataFrame:
    """Convert sampled rows to the table's values; clip numbers to the real range."""
    columns, clipped = {}, 0
    for name in [*m.qi, m.sensitive]:
        attribute, found = m.attribute(name), rows[str(name)].to_numpy()
        if not attribute.numeric or name == m.sensitive:
            columns[name] = attribute.values[found.astype(int)]
            continue
        domain = attribute.positions
        whole = (domain % 1 == 0).all()
        found = np.round(found) if whole else found
        inside = np.clip(found, domain[0], domain[-1])
        clipped += int(np.count_nonzero(inside != found))
        near = domain[np.searchsorted((domain[1:] + domain[:-1]) / 2, inside)]
        columns[name] = inside.astype(int) if whole else near  # no finer digits than real ones
    frame = pd.DataFrame(columns)
    frame.attrs.update(clipped=clipped, seconds=rows.attrs.get("seconds", 0.0))
    return frame


@contextlib.contextmanager
def _quiet_and_seeded(seed: int) -> Iterator[ModuleType]:
    """Import SDV, silence it, use one thread, seed and restore global random states."""
    # one instruction set for all processors, since others round otherwise; read on torch's import
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "default")
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        warnings.simplefilter("ignore")
        with errors.needs("synthesis"):
            import joblib
            import sdv.evaluation
            import sdv.metadata
            import sdv.sampling
            import sdv.single_table
            import threadpoolctl  # scikit-learn brings it along
            import torch

        stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        stack.callback(logging.disable, logging.root.manager.disable)
        torch.set_num_threads(1)
        logging.disable(logging.WARNING)
        np.random.seed(seed)  # noqa: NPY002 - SDV draws from numpy's global state
        torch.manual_seed(seed)
        # CTGAN would start processes that stay for minutes, and the last digits of its mixtures
        # depend on the threads of BLAS
        stack.enter_context(joblib.parallel_config(backend="sequential"))
        stack.enter_context(threadpoolctl.threadpool_limits(1))
        yield sdv


def gaussian_copula(
    m: Microdata, needed: Mapping[object, int], *, seed: int | np.random.Generator | None = None
) -> pd.DataFrame:
    """Sample rows with given sensitive values from a Gaussian copula of the table. O(n d^2).

    A short model that can be read in a lesson: each column's distribution and one correlation per
    pair of columns. Every value drawn occurs in its column of `m`; this gives no privacy
    guarantee. Each column is a normal variable cut into one step per value, as wide as the value
    is frequent. Columns are correlated like the middles of steps, which understates dependence
    between columns with few values. `needed` has the rows to sample per sensitive value, at least
    0. The frame has the columns ``m.qi`` and the sensitive one, for :func:`fuse`. Source: R. B.
    Nelsen, *An Introduction to Copulas*, Springer 2006, section 2.3.

    >>> m = ap.examples.hospital()
    >>> gaussian_copula(m, {"HIV": 2, "pneumonia": 1}, seed=0)["Disease"].tolist()
    ['HIV', 'HIV', 'pneumonia']
    """
    values, rng = _checked_needs(m, needed), generator(seed)
    columns = [*m.codes.T, m.sensitive_codes]
    counts = map(np.bincount, columns)
    middles = [ndtri(np.cumsum(of) / m.n - of / (2 * m.n)) for of in counts]  # of their steps
    scores = np.column_stack([of[codes] for of, codes in zip(middles, columns, strict=True)])
    scores -= scores.mean(axis=0)
    spread = scores.std(axis=0)
    scores /= np.where(spread > 0, spread, 1)  # 0 in a constant column
    correlation = scores.T @ scores / m.n
    np.fill_diagonal(correlation, 1)
    with_secret = correlation[:-1, -1]
    given_secret = correlation[:-1, :-1] - np.outer(with_secret, with_secret)
    ends = np.append(np.cumsum(m.sensitive_counts) / m.n, 0.0)  # of steps; the first begins at 0
    ordered, found = np.sort(m.codes, axis=0), [np.empty((0, m.d), int)]
    for code, rows in values.items():
        secret = ndtri(rng.uniform(ends[code - 1], ends[code], rows))
        around = rng.multivariate_normal(0 * with_secret, given_secret, rows, method="eigh")
        shares = ndtr(np.outer(secret, with_secret) + around)
        places = np.minimum((shares * m.n).astype(int), m.n - 1)
        found.append(np.take_along_axis(ordered, places, axis=0))
    columns = zip(m.attributes, np.concatenate(found).T, strict=True)
    secrets = np.repeat([*values], [*values.values()]).astype(int)
    drawn = {a.name: a.values[of] for a, of in columns}
    return pd.DataFrame(drawn | {m.sensitive: m.sensitive_attribute.values[secrets]})

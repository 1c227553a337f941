"""The synthetic tables of the Rothko paper, of any size, with its class and target functions.

Source: LeFevre and DeWitt, Scalable Anonymization Algorithms for Large Data Sets, TR 1590 (2007), figure 7, after
Agrawal, Imielinski and Swami (1993). Nine numeric attributes, all whole numbers that fit int32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anoncore.base.errors import DataError
from anoncore.datasets.generated import ColumnValues, check_seed, check_size, value_column

DEFAULT_ROWS = 100_000
ATTRIBUTES = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")
TARGETS = ("C2", "C7", "R7", "R10")

# Rows are drawn in blocks of this size, each from its own stream, so that chunks of any size hold the same rows.
_BLOCK_ROWS = 65_536

Columns = Mapping[str, NDArray[np.int32]]


def load_rothko(n_rows: int = DEFAULT_ROWS, seed: int = 0, targets: Sequence[str] = TARGETS) -> pd.DataFrame:
    """The synthetic table of the Rothko paper.

    Parameters
    ----------
    n_rows : int
        How many rows, at least 1.
    seed : int
        At least 0. The first rows are the same for every `n_rows` of one seed.
    targets : sequence of str
        Which of the classes C2 and C7 and the numeric targets R7 and R10 to add as columns.

    Returns
    -------
    DataFrame
        The nine attributes (int32), then the targets (`A` or `B` for a class, float64 dollars for a numeric target).

    Raises
    ------
    DataError
        For fewer than one row, a negative seed and a target that does not exist.

    References
    ----------
    LeFevre and DeWitt, Scalable Anonymization Algorithms for Large Data Sets, TR 1590, 2007, figure 7.

    Examples
    --------
    >>> from anoncore.datasets.rothko_synthetic import load_rothko
    >>> load_rothko(5, targets=["C7"]).shape
    (5, 10)
    """
    return next(chunks(n_rows, n_rows, seed, targets))


def chunks(n_rows: int, chunk_rows: int, seed: int = 0, targets: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
    """The rows of `load_rothko(n_rows, seed, targets)` in pieces, of which only one is in memory at a time.

    Parameters
    ----------
    n_rows, seed, targets
        As in `load_rothko`, but without targets unless they are asked for.
    chunk_rows : int
        The rows of a piece, at least 1; the last piece may be shorter. The rows do not depend on it.

    Yields
    ------
    DataFrame
        The next rows; the index starts at 0 in every piece.

    Raises
    ------
    DataError
        As `load_rothko`, and for a piece of fewer than one row; at the call, not at the first piece.

    Examples
    --------
    >>> from anoncore.datasets.rothko_synthetic import chunks
    >>> [len(piece) for piece in chunks(n_rows=10, chunk_rows=4)]
    [4, 4, 2]
    """
    n_rows, chunk_rows = check_size(n_rows), check_size(chunk_rows)
    _check_targets(targets)
    return _chunks(n_rows, chunk_rows, check_seed(seed), targets)


def _chunks(n_rows: int, chunk_rows: int, seed: int, targets: Sequence[str]) -> Iterator[pd.DataFrame]:
    number, block = 0, _block(0, seed)
    for first in range(0, n_rows, chunk_rows):
        last = min(first + chunk_rows, n_rows)
        columns = {name: np.empty(last - first, dtype=np.int32) for name in ATTRIBUTES}
        row = first
        while row < last:
            if row // _BLOCK_ROWS != number:
                number = row // _BLOCK_ROWS
                block = _block(number, seed)
            within = row - number * _BLOCK_ROWS
            taken = min(last - row, _BLOCK_ROWS - within)
            for name, values in columns.items():
                values[row - first : row - first + taken] = block[name][within : within + taken]
            row += taken
        yield _frame(columns, targets)


def class_c2(columns: Columns) -> ColumnValues:
    """Function C2: `A` for a middle salary at the person's age, else `B`; shape (n_rows,)."""
    age, salary = columns["age"], columns["salary"]
    young = (age < 40) & (salary >= 50_000) & (salary <= 100_000)
    middle = (age >= 40) & (age < 60) & (salary >= 75_000) & (salary <= 125_000)
    old = (age >= 60) & (salary >= 25_000) & (salary <= 75_000)
    return _a_or_b(young | middle | old)


def class_c7(columns: Columns) -> ColumnValues:
    """Function C7: `A` where the disposable income of R7 is above 0, else `B`; shape (n_rows,)."""
    return _a_or_b(_disposable_cents(columns) > 0)


def target_r7(columns: Columns) -> NDArray[np.float64]:
    """Function R7: 0.67 (salary + commission) - 0.2 loan - 20,000; dollars, shape (n_rows,)."""
    return np.asarray(_disposable_cents(columns) / 100.0)


def target_r10(columns: Columns) -> NDArray[np.float64]:
    """Function R10: 0.67 (salary + commission) - 5,000 elevel + 0.2 equity - 10,000; dollars, shape (n_rows,).

    Equity is 0 before the 20th year of owning the house, then 0.1 hvalue (hyears - 20).
    """
    years = np.maximum(_wide(columns, "hyears") - 20, 0)
    income = 67 * (_wide(columns, "salary") + _wide(columns, "commission"))
    cents = income - 500_000 * _wide(columns, "elevel") + 2 * _wide(columns, "hvalue") * years - 1_000_000
    return np.asarray(cents / 100.0)


def _disposable_cents(columns: Columns) -> NDArray[np.int64]:
    # In whole cents the comparison with 0 is exact, which it is not in floating point.
    income = 67 * (_wide(columns, "salary") + _wide(columns, "commission"))
    return np.asarray(income - 20 * _wide(columns, "loan") - 2_000_000)


def _wide(columns: Columns, name: str) -> NDArray[np.int64]:
    return np.asarray(columns[name], dtype=np.int64)


def _a_or_b(is_a: NDArray[np.bool_]) -> ColumnValues:
    return value_column(("A", "B"), np.where(is_a, 0, 1))


_TARGET_FUNCTIONS = {"C2": class_c2, "C7": class_c7, "R7": target_r7, "R10": target_r10}


def _check_targets(targets: Sequence[str]) -> None:
    unknown = [target for target in targets if target not in TARGETS]
    if unknown:
        raise DataError(f"There is no target '{unknown[0]}'; the targets are {', '.join(TARGETS)}.")


def _frame(columns: Columns, targets: Sequence[str]) -> pd.DataFrame:
    complete: dict[str, object] = dict(columns)
    complete |= {target: _TARGET_FUNCTIONS[target](columns) for target in targets}
    return pd.DataFrame(complete, copy=False)


def _block(number: int, seed: int) -> dict[str, NDArray[np.int32]]:
    """All rows of the block of that number, drawn from a stream of random numbers of its own."""
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy=seed, spawn_key=(number,))))

    def uniform(low: int, high: int) -> NDArray[np.int32]:
        return rng.integers(low, high, _BLOCK_ROWS, dtype=np.int32, endpoint=True)

    salary = uniform(20_000, 150_000)
    commission = np.where(salary >= 75_000, np.int32(0), uniform(10_000, 75_000))
    age, elevel, car, zipcode = uniform(20, 80), uniform(0, 4), uniform(1, 20), uniform(1, 9)
    h = rng.random(_BLOCK_ROWS) + 0.5
    hvalue = np.rint(zipcode * h * 100_000).astype(np.int32)
    hyears, loan = uniform(1, 30), uniform(0, 500_000)
    values = (salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan)
    return dict(zip(ATTRIBUTES, values, strict=True))

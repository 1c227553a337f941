"""Figures in CSV files, with a row for each combination of parents' values and a column for each value of the child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from anoncore.datasets.data_files import number, read_csv, wrong
from anoncore.datasets.network import Figures


@dataclass(frozen=True)
class FigureTable:
    """Figures of shape (|parent 1|, ..., |parent p|, |values|), and the values that the last axis stands for."""

    values: tuple[str, ...]
    figures: Figures


def read_figures(path: Path, parents: Mapping[str, Sequence[str]], values: Sequence[str] | None = None) -> FigureTable:
    """The figures in a CSV file.

    `parents` gives the first columns of the file with all their values in order; the rows must be their combinations,
    the last parent changing fastest. The other columns are the values of the child, which must be `values` if given.
    Raises DataError that names the file for anything that does not fit.
    """
    header, *lines = read_csv(path)
    n_parents = len(parents)
    if header[:n_parents] != list(parents):
        raise wrong(path, f"its first columns must be {', '.join(parents)}")
    found = tuple(header[n_parents:])
    if values is not None and found != tuple(values):
        raise wrong(path, f"its values are {', '.join(found)}; they must be {', '.join(values)}")
    expected = list(product(*parents.values()))
    if len(lines) != len(expected):
        raise wrong(path, f"it has {len(lines)} rows of figures; it must have {len(expected)}")
    for line, combination in zip(lines, expected, strict=True):
        if tuple(line[:n_parents]) != combination:
            raise wrong(path, f"the row of {', '.join(line[:n_parents])} stands where {', '.join(combination)} must be")
    figures = np.array([[number(path, text) for text in line[n_parents:]] for line in lines], dtype=np.float64)
    return FigureTable(found, figures.reshape(*(len(labels) for labels in parents.values()), len(found)))

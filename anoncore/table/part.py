"""Some rows of a coded table, with the codes and domains of the whole."""

from __future__ import annotations

from copy import copy

import numpy as np
import numpy.typing as npt

from anoncore.table.microdata import Microdata


def rows_of(data: Microdata, rows: npt.NDArray[np.int64]) -> Microdata:
    """Some rows of a coded table, as a table of its own with the codes and domains of the whole."""
    view = copy(data)
    for cached in ("canonical_order", "content_words", "unit_note"):
        view.__dict__.pop(cached, None)
    view.given = data.given.rows(rows)
    view.codes = {name: codes[rows] for name, codes in data.codes.items()}
    if data.people is not None:
        different, people = np.unique(data.people[rows], return_inverse=True)
        view.people = people.reshape(-1).astype(np.int32) if len(different) < len(rows) else None
    return view


def published_beside(data: Microdata, rows: npt.NDArray[np.int64]) -> Microdata:
    """Some rows of a coded table, for a method whose release is published together with the other rows.

    Distances from the table's distribution are then those from the distribution of the whole table, which readers see.
    """
    view = rows_of(data, rows)
    view.whole = data if data.whole is None else data.whole
    return view

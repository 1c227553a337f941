"""Some rows of a coded table, with the codes and domains of the whole."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anoncore.kernels.arrays import Int64
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata, copy_to_change


def rows_of(data: Microdata, rows: Int64) -> Microdata:
    """Some rows of a coded table, as a table of its own with the codes and domains of the whole."""
    view = copy_to_change(data, "_repeated")
    view.given = data.given.rows(rows)
    view.codes = {name: codes[rows] for name, codes in data.codes.items()}
    if data.people is not None:
        different, people = np.unique(data.people[rows], return_inverse=True)
        view.people = people.reshape(-1).astype(np.int32) if len(different) < len(rows) else None
    view.shifts = None if data.shifts is None else data.shifts.rows(rows)
    return view


def published_beside(data: Microdata, rows: Int64) -> Microdata:
    """Some rows of a coded table, for a method whose release is published together with the other rows.

    Distances from the table's distribution are then those from the distribution of the whole table, which readers see.
    """
    view = rows_of(data, rows)
    view.whole = data if data.whole is None else data.whole
    return view


def with_domains(data: Microdata, domains: Mapping[str, Domain]) -> Microdata:
    """The same table with larger domains of some attributes, which hold all its values; it is coded by them."""
    view = copy_to_change(data)
    view.domain = {**data.domain, **domains}
    view.codes = dict(data.codes)
    for name, domain in domains.items():
        recode = np.array([domain.code_of(value) for value in data.domain[name]], dtype=np.int32)
        view.codes[name] = recode[data.codes[name]]
    return view

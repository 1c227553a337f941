"""What a table gives away as it is: the first answer about it, before any release."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from anoncore import AnonymizationError, Microdata, Role, attacks
from anoncore.base.texts import share_text
from anoncore.kernels.grouping import dense_key
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.release.unchanged import unchanged
from dashboard.markdown import few

MOST_NAMED = 8
MOST_COPIES = 10
"""Rows for each different one, on average, up to which a table in which every row has its like may hold copies."""
_known: WeakKeyDictionary[Microdata, tuple[str, ...]] = WeakKeyDictionary()


def sentences(data: Microdata) -> tuple[str, ...]:
    """How many are found by what is known of them alone, and whose secret values are certain then.

    Columns on which nobody decided count as known: who says that nobody knows them? Made once for each table with its
    tags. Raises DataError where no column is known even so.
    """
    # Nobody waits for another visitor's table; two who ask for the same one at once both work it out.
    said = _known.get(data)
    if said is None:
        said = _known[data] = _sentences(data)
    return said


def _sentences(data: Microdata) -> tuple[str, ...]:
    known = _all_known(data)
    release = unchanged(known)
    found = attacks.reidentification(release)
    is_found = reaches(found.risk, 1.0, ACCUMULATED)
    # Of a table on which nobody decided anything it is not known either whose its rows are.
    people = data.people_word if data.roles else "rows"
    whose, share = people if data.people is None else "people's rows", share_text(float(is_found.mean()))
    how = f"be found by what others know{_undecided(data)}"
    if is_found.any():
        nobody = "no other row" if people == "rows" else "nobody else"
        said = [
            f"As it is, this table lets {is_found.sum():,} of {len(is_found):,} {whose} ({share}) {how}: {nobody} has "
            "the same values."
        ]
    else:
        others = round(1 / float(found.prosecutor.largest)) - 1
        said = [
            f"As it is, this table lets none of {len(is_found):,} {whose} {how}: the least hidden share their values "
            f"with {others:,} other{'s' if others > 1 else ''}.",
            *_copies(known),
        ]
    for name in data.sensitive:
        try:
            belief = attacks.attribute_disclosure(release, name).belief
        except AnonymizationError:  # no value of it needs protection
            continue
        is_sure = reaches(belief, 1.0, ACCUMULATED)
        share = share_text(float(is_sure.mean()))
        # A person counts once here, however many rows they have.
        whom = people if data.people is None else "people"
        said.append(f"Whoever knows these values is certain of the '{name}' of {is_sure.sum():,} {whom} ({share}).")
    return tuple(said)


def _copies(known: Microdata) -> Iterator[str]:
    """That every row has copies that are alike in everything: these hide nobody if they are one person's."""
    row = dense_key(tuple(known.codes[name] for name in known.attributes), known.n_rows)
    copies = np.bincount(row)
    # Of few columns with few values every row has its like by chance, and then many.
    if copies.min() < 2 or known.n_rows > MOST_COPIES * len(copies):
        return
    classes = dense_key(tuple(known.codes[name] for name in known.quasi_identifiers), known.n_rows)
    rows_of = np.bincount(classes[np.unique(row, return_index=True)[1]])
    yield (
        f"But its rows are {len(copies):,} different ones, each there {copies.min():,} times or more. If rows that are "
        f"alike in everything are one person's, {int((rows_of == 1).sum()):,} of {len(copies):,} people are found."
    )


def _all_known(data: Microdata) -> Microdata:
    """The table with every column known on which nobody decided."""
    if not data.left_out:
        return data
    return Microdata(
        data.given,
        roles={**data.roles, **dict.fromkeys(data.left_out, Role.QUASI_IDENTIFIER)},
        kinds={name: data.domain[name].kind for name in data.attributes},
        sensitive_values=data.sensitive_values,
        unit=data.unit,
    )


def _undecided(data: Microdata) -> str:
    """That columns count as known although nobody said so."""
    left = data.left_out
    if not left:
        return ""
    if not data.roles:
        columns = "its only column" if len(left) == 1 else f"all {len(left):,} columns"
        return f", {columns} counted as known, as nobody decided on {'it' if len(left) == 1 else 'any'}"
    columns = "the column" if len(left) == 1 else f"the {len(left):,} columns"
    return f", {columns} on which nobody decided ({few(left, MOST_NAMED)}) counted as known"

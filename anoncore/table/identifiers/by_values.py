"""The kinds of identifiers that the values of a column tell, whatever it is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anoncore.table.identifiers.column_values import ColumnValues
from anoncore.table.identifiers.findings import IdentifierFinding
from anoncore.table.identifiers.kinds import MENDS, Mend
from anoncore.table.identifiers.value_forms import FORMS, INSIDE, ValueForm

TRIED = 1_000
"""Different values on which every form is tried; those that none of them has are not counted on all."""
SHORTEST_NUMBER = 10_000_000
"""Least of the largest whole number of a column whose numbers may have check digits or be dates."""


def seen_in(values: ColumnValues, named: str = "") -> Iterator[IdentifierFinding]:
    """The kinds that the values tell, one finding each; of the kind that the name tells also where few values do."""
    if values.begins_like_a_picture:
        yield IdentifierFinding(values.name, "Q", "pictures", "values", 1.0, Mend.DROP)
    if not values.is_text and not (values.is_whole and values.numbers[0].max(initial=0) >= SHORTEST_NUMBER):
        return
    found: dict[str, IdentifierFinding] = {}
    for form, share in _form_shares(values, named):
        before = found.get(form.letter)
        if before is None:
            is_shape = form.is_shape
            found[form.letter] = IdentifierFinding(
                values.name, form.letter, form.what, "values", share, form.mended_by, is_shape
            )
        else:
            found[form.letter] = replace(before, share=before.share + share, is_shape=before.is_shape and form.is_shape)
    yield from found.values()
    for letter, (what, pattern) in INSIDE.items() if values.is_text else ():
        share = values.share_with(pattern)
        if share:
            yield IdentifierFinding(values.name, letter, what, "values", share, MENDS[letter])


def _form_shares(values: ColumnValues, named: str) -> Iterator[tuple[ValueForm, float]]:
    """The forms that enough values of a column have, with their shares; a value counts for the first of them."""
    texts, _ = values.looked_at
    step = -(-len(texts) // TRIED) or 1
    open_places = np.ones(len(texts), dtype=np.bool_)
    letters = {named}
    for form in FORMS:
        if (form.letter == "O" and values.are_versions) or (form.is_loose and form.letter not in letters):
            continue
        if not (values.is_text or form.in_numbers) or not any(form.fits(text) for text in texts[::step]):
            continue
        fits = np.array([is_open and form.fits(text) for text, is_open in zip(texts, open_places, strict=True)])
        share = values.share(fits)
        least = 0.0 if form.is_loose or (form.letter == named and form.holds is None) else form.least
        if share >= least and form.is_more_than_chance(int(fits.sum())):
            open_places &= ~fits
            letters.add(form.letter)
            yield form, share

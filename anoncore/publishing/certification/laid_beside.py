"""Laying a release beside an earlier one that a certificate is to name: what both tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from anoncore import attacks
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.publishing.certification.certificate import Certificate, earlier_of
from anoncore.publishing.certification.certifying import content_hash
from anoncore.publishing.certification.claimed_entries import Earlier, Together
from anoncore.release.published_numbers import Numbers
from anoncore.release.release import Release, ReleaseMethod
from anoncore.requirements import DistinctDiversity, EntropyDiversity, FrequencyDiversity


def laid_beside(
    release: Release, after: Sequence[Certificate], releases: Sequence[Release], by: Sequence[str]
) -> list[Earlier]:
    """The entries of earlier releases, with figures for those whose tables have the hash of one of some releases.

    `by` are the columns that say who a row is, in the tables of all of them; without any, the unit of the tables does.
    Raises ParameterError where nothing says who a row is, and ReleaseError where none of the releases is one that a
    certificate names, or where two have no common sensitive attribute.
    """
    entries = [earlier_of(one) for one in after]
    if not releases:
        return entries
    # A session does not say in which form the numbers of a release were published.
    known = {content_hash(replace(one, numbers=form)): one for one in releases for form in get_args(Numbers)}
    if not any(entry.sha256 in known for entry in entries):
        raise ReleaseError(
            f"None of the {len(releases):,} releases that were saved is one that an earlier certificate names: their "
            "tables have other hashes. Choose the session in which the earlier release was made."
        )
    return [_measured(entry, release, known[entry.sha256], by) if entry.sha256 in known else entry for entry in entries]


def _measured(entry: Earlier, release: Release, earlier: Release, by: Sequence[str]) -> Earlier:
    """The entry with the figures of every sensitive attribute that both releases publish."""
    units = [one.data.unit for one in (release, earlier)]
    if not by and None in units:
        raise ParameterError(
            "Say by which columns (--by) a row of this table is the same person as a row of the earlier one, such as a "
            "name or a number."
        )
    names = [
        name
        for name in release.data.sensitive
        if name in earlier.data.sensitive and name in release.attributes and name in earlier.attributes
    ]
    if not names:
        raise ReleaseError("The earlier release and this one publish no common sensitive attribute to be measured.")
    people, together = 0, []
    for name in names:
        l = max(promised_l(one, name) for one in (release, earlier))
        found = attacks.composition([release, earlier], name, by=list(by) or None, l=l)
        people, few, largest = len(found.people), found.few, found.largest
        if people:
            alone, guess = few.baseline or 0.0, largest.baseline or 0.0
            shares = {"few": float(few), "few_alone": alone, "largest": float(largest), "guessing": guess}
            together.append(Together(attribute=name, l=l, **shares))
    return entry.measured(by or [str(unit) for unit in dict.fromkeys(units)], people, together)


def promised_l(release: Release, attribute: str) -> float:
    """The largest diversity of an attribute that the algorithm of a release promises; 2 where it promises none."""
    method: ReleaseMethod | None = release.algorithm
    promises = () if method is None else method.promises(release.data)
    diverse = [one for one in promises if isinstance(one, DistinctDiversity | FrequencyDiversity | EntropyDiversity)]
    return max([2.0, *(float(one.l) for one in diverse if one.attribute in (None, attribute))])

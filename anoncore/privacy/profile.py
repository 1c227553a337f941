"""What holds in every group of a release, whatever was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import ReleaseError
from anoncore.base.score import Score
from anoncore.base.texts import listing
from anoncore.privacy.levels import LEVELS, group_levels, table_levels
from anoncore.privacy.published import has_single_values
from anoncore.release.release import Fragment, Release
from anoncore.requirements.requirement import Floats
from anoncore.requirements.t_closeness import GROUNDS, Ground


class WorstLevel(Score):
    """The worst level over all groups; `attribute`, `fragment` and `group` say where it is reached.

    `baseline` is the level of the original table as one group: no grouping can have a better worst group.
    """

    attribute: str | None
    fragment: str
    group: int


@dataclass(frozen=True, eq=False)
class AttributeProfile:
    """Levels of one sensitive attribute: `levels[name]` is float (n_groups,), by the names of the scores."""

    attribute: str
    levels: Mapping[str, Floats]

    @property
    def distinct(self) -> Floats:
        """Different values in each group."""
        return self.levels["distinct-l"]

    @property
    def entropy(self) -> Floats:
        """exp(entropy) of each group."""
        return self.levels["entropy-l"]

    @property
    def frequency(self) -> Floats:
        """1 / `max_share` of each group."""
        return self.levels["frequency-l"]

    @property
    def max_share(self) -> Floats:
        """Share of the most frequent value of each group."""
        return self.levels["max-share"]

    @property
    def recursive(self) -> Floats:
        """x_1 / (x_l + ... + x_m) of each group: (c, l)-diversity holds for every c above it; infinite: for none."""
        return self.levels["recursive-c"]

    @property
    def distance(self) -> dict[Ground, Floats]:
        """EMD of each group from the table, by ground distance."""
        return {ground: self.levels[f"t-{ground}"] for ground in GROUNDS if f"t-{ground}" in self.levels}


@dataclass(frozen=True, eq=False)
class FragmentProfile:
    """Groups of one partition: `size` int64 (n_groups,) and the sensitive attributes that are published in them."""

    fragment: str
    size: npt.NDArray[np.int64]
    attributes: Mapping[str, AttributeProfile]


@dataclass(frozen=True, eq=False)
class Profile:
    """Levels of all groups, per partition, and the worst of each as a score.

    A release of one fragment or with a shared partition has one entry in `fragments`; its `size` and `profile[name]`
    are those of the release. Fragments with partitions of their own have an entry each.
    """

    fragments: tuple[FragmentProfile, ...]
    scores: tuple[WorstLevel, ...]
    notes: tuple[str, ...]

    @property
    def k(self) -> WorstLevel:
        """Rows of the smallest group."""
        return self.score("k")

    @property
    def size(self) -> npt.NDArray[np.int64]:
        """Rows of each group, int64 (n_groups,). Raises ReleaseError if fragments have partitions of their own."""
        return self._only.size

    def __getitem__(self, attribute: str) -> AttributeProfile:
        """Levels of one attribute. Raises ReleaseError if fragments have partitions of their own."""
        known = self._only.attributes
        if attribute not in known:
            raise ReleaseError(f"The profile has no attribute '{attribute}'; it has {listing(list(known)) or 'none'}.")
        return known[attribute]

    @property
    def _only(self) -> FragmentProfile:
        if len(self.fragments) > 1:
            raise ReleaseError(
                "The fragments of this release have partitions of their own; read profile.fragments one by one."
            )
        return self.fragments[0]

    def score(self, name: str, attribute: str | None = None) -> WorstLevel:
        """The worst level by name: k, distinct-l, entropy-l, frequency-l, max-share, recursive-c, t-ordered, t-equal,
        t-hierarchical. Without an attribute the worst over all of them. Raises ReleaseError where there is none.
        """
        found = [one for one in self.scores if one.name == name and attribute in (None, one.attribute)]
        if not found:
            known = listing(list(dict.fromkeys(one.name for one in self.scores)), 12)
            of = f" of '{attribute}'" if attribute is not None else ""
            raise ReleaseError(f"The profile has no level {name!r}{of}; it has {known}.")
        return min(found) if found[0].higher_is_better else max(found)

    def frame(self) -> pd.DataFrame:
        """One row per group: fragment (if several), group, size, and a column `attribute: level` for each level."""
        return pd.concat([self._part(part) for part in self.fragments], ignore_index=True)

    def _part(self, part: FragmentProfile) -> pd.DataFrame:
        columns: dict[str, object] = {"fragment": part.fragment} if len(self.fragments) > 1 else {}
        columns |= {"group": np.arange(len(part.size)), "size": part.size}
        for name, one in part.attributes.items():
            columns |= {f"{name}: {LEVELS[level].title}": values for level, values in one.levels.items()}
        return pd.DataFrame(columns, index=range(len(part.size)))


def profile(release: Release, l: int = 2) -> Profile:
    """Size, diversity and closeness of every group by what is published; `l` is that of recursive (c, l)-diversity.

    Where only some sensitive values need protection they count as one value and every other row as a value of its own.
    Distances: `equal` always, `ordered` for numbers and ranked categories, `hierarchical` where there is a hierarchy.
    Sensitive attributes that are not published value by value are left out, with a note.

    Parameters: `l` that of recursive (c, l)-diversity, whose ratio x1 / (xl + ... + xm) is reported.
    Assumes: that is right which is published; the levels say nothing about what is learned from other groups.
    Cost: one pass over the groups per level and sensitive attribute.
    Use: several releases are to be compared whatever they promised.
    Avoid: a single requirement is in question: see `check`.
    Source: the definitions of the requirements, each with its own source.
    """
    parts = release.fragments[:1] if release.is_shared else release.fragments
    profiles = tuple(_fragment_profile(release, part, l) for part in parts)
    scores = [_smallest_group(release, profiles)]
    notes = []
    for name in release.data.sensitive:
        holding = [part for part in profiles if name in part.attributes]
        if holding:
            scores.extend(_worst_levels(release, holding, name, l))
        else:
            notes.append(f"'{name}' is not published value by value, so nothing is said about it.")
    return Profile(profiles, tuple(scores), tuple(notes))


def _fragment_profile(release: Release, part: Fragment, l: int) -> FragmentProfile:
    candidates = release.fragments if release.is_shared else (part,)
    attributes = {}
    for name in release.data.sensitive:
        for fragment in candidates:
            if name in fragment.recodings and has_single_values(fragment, name):
                attributes[name] = AttributeProfile(name, group_levels(release, fragment, name, l))
                break
    return FragmentProfile(part.name, part.partition.sizes, attributes)


def _smallest_group(release: Release, profiles: tuple[FragmentProfile, ...]) -> WorstLevel:
    part = min(profiles, key=lambda one: int(one.size.min()))
    group = int(part.size.argmin())
    return WorstLevel(
        part.size[group],
        name="k",
        title="k",
        unit="rows",
        higher_is_better=True,
        bounds=(1, release.data.n_rows),
        baseline=float(release.data.n_rows),
        meaning=f"Every {release.group_word} has at least this many rows.",
        attribute=None,
        fragment=part.fragment,
        group=group,
    )


def _worst_levels(release: Release, holding: list[FragmentProfile], attribute: str, l: int) -> list[WorstLevel]:
    table = table_levels(release, attribute, l)
    scores = []
    for name in holding[0].attributes[attribute].levels:
        kind = LEVELS[name]
        sign = 1 if kind.higher_is_better else -1
        levels = {part.fragment: part.attributes[attribute].levels[name] for part in holding}
        fragment = min(levels, key=lambda one: float((sign * levels[one]).min()))
        group = int((sign * levels[fragment]).argmin())
        scores.append(
            WorstLevel(
                levels[fragment][group],
                name=name,
                title=kind.title,
                unit=kind.unit,
                higher_is_better=kind.higher_is_better,
                bounds=_bounds(name),
                baseline=table[name],
                meaning=f"'{attribute}': {kind.meaning.format(group=release.group_word, l=l)}",
                attribute=attribute,
                fragment=fragment,
                group=group,
            )
        )
    return scores


def _bounds(name: str) -> tuple[float | None, float | None]:
    if name == "max-share" or name.startswith("t-"):
        return (0.0, 1.0)
    return (0.0, None) if name == "recursive-c" else (1.0, None)

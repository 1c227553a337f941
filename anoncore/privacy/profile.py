"""What holds in every group of a release, whatever was asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import ReleaseError
from anoncore.base.number import measure
from anoncore.base.score import Score
from anoncore.base.showing import Lines, Result, SizesDrawn
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.privacy.levels import DISTANCE, LEVELS, SMALLEST_GROUP, group_levels, table_levels
from anoncore.privacy.published import fragments_of, has_single_values, worst_group
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.requirements.t_closeness import GROUNDS, Ground


class WorstLevel(Score):
    """The worst level over all groups, as a number that says what it means.

    Its `baseline` is the level of the original table taken as one group: no grouping can have a better worst group.

    Attributes
    ----------
    attribute : str or None
        The sensitive attribute; None for the size of the smallest group.
    fragment : str
        Name of the fragment in which the level is reached.
    group : int
        Number of the group in which it is reached.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> worst = privacy.profile(release).score("distinct-l")
    >>> float(worst), worst.group, worst.baseline
    (1.0, 1, 2.0)
    """

    attribute: str | None
    fragment: str
    group: int


@record
class AttributeProfile(Result):
    """The levels of one sensitive attribute in every group.

    Attributes
    ----------
    attribute : str
        The sensitive attribute.
    levels : mapping of str to ndarray of float, shape (n_groups,)
        Each level by name: distinct-l, entropy-l, frequency-l, max-share, recursive-c, t-ordered,
        t-interval, t-equal, t-hierarchical.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> disease = privacy.profile(release)["disease"]
    >>> disease.distinct.tolist(), disease.max_share.round(3).tolist()
    ([2.0, 1.0], [0.667, 1.0])
    """

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


@record
class FragmentProfile(Result):
    """The groups of one partition and the levels of the sensitive attributes that are published in them.

    Attributes
    ----------
    fragment : str
        Name of the fragment, the first one where several share the partition.
    size : ndarray of int64, shape (n_groups,)
        People of each group, which are its rows unless the table has a unit.
    attributes : mapping of str to AttributeProfile
        The levels of each sensitive attribute.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> (fragment,) = privacy.profile(release).fragments
    >>> fragment.size.tolist(), list(fragment.attributes)
    ([3, 3], ['disease'])
    """

    fragment: str
    size: Int64
    attributes: Mapping[str, AttributeProfile]


@checked_methods
@record
class Profile(SizesDrawn, Result):
    """The levels of all groups of a release, and the worst of each as a score.

    `profile[name]` are the levels of one sensitive attribute. A release of one fragment, or with a shared partition,
    has one entry in `fragments`; fragments with partitions of their own have an entry each.

    Attributes
    ----------
    fragments : tuple of FragmentProfile
        Groups and levels, one entry per partition.
    scores : tuple of WorstLevel
        The worst level of each kind, per sensitive attribute.
    notes : tuple of str
        Sentences that say which attributes could not be judged.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> profile = privacy.profile(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    >>> float(profile.k), profile.size.tolist(), profile["disease"].distinct.tolist()
    (3.0, [3, 3], [2.0, 1.0])
    """

    fragments: tuple[FragmentProfile, ...]
    scores: tuple[WorstLevel, ...]
    notes: tuple[str, ...]

    def _lines(self) -> Lines:
        lines = []
        for score in self.scores:
            lines.append((f"{score.attribute}: {score.label}" if score.attribute else score.label, score._inline()))
        return [*lines, *(("note", note) for note in self.notes)]

    def _group_sizes(self) -> tuple[str, Int64]:
        return "people per group", np.concatenate([fragment.size for fragment in self.fragments])

    @property
    def k(self) -> WorstLevel:
        """People of the smallest group."""
        return self.score("k")

    @property
    def size(self) -> Int64:
        """People of each group, int64 (n_groups,). Raises ReleaseError if fragments have partitions of their own."""
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
        """The worst level of one kind.

        Parameters
        ----------
        name : str
            k, distinct-l, entropy-l, frequency-l, max-share, recursive-c, t-ordered, t-interval,
            t-equal or t-hierarchical.
        attribute : str, optional
            The sensitive attribute; by default the worst over all of them.

        Returns
        -------
        WorstLevel
            The level of the worst group, and which group that is.

        Raises
        ------
        ReleaseError
            Where the release has no such level.
        """
        scores = [one for one in self.scores if one.name == name and attribute in (None, one.attribute)]
        if not scores:
            known = listing(list(dict.fromkeys(one.name for one in self.scores)), 12)
            of = f" of '{attribute}'" if attribute is not None else ""
            raise ReleaseError(f"The profile has no level {name!r}{of}; it has {known}.")
        return min(scores) if scores[0].higher_is_better else max(scores)

    def frame(self) -> pd.DataFrame:
        """One row per group: fragment (if several), group, size, and a column `attribute: level` for each level."""
        return pd.concat([self._frame_of(groups) for groups in self.fragments], ignore_index=True)

    def _frame_of(self, groups: FragmentProfile) -> pd.DataFrame:
        columns: dict[str, object] = {"fragment": groups.fragment} if len(self.fragments) > 1 else {}
        columns |= {"group": np.arange(len(groups.size)), "size": groups.size}
        for name, profile in groups.attributes.items():
            columns |= {f"{name}: {LEVELS[level].label}": values for level, values in profile.levels.items()}
        return pd.DataFrame(columns, index=range(len(groups.size)))


@measure(SMALLEST_GROUP, DISTANCE, *LEVELS.values(), title="Levels of all groups")
@checked
def profile(release: Release, l: int = 2) -> Profile:
    """Size, diversity and closeness of every group, by what is published.

    Where only some values of an attribute need protection, they count as one value and every other row as a value of
    its own. Closeness is measured with every ground distance that fits: `equal` always, `ordered` for numbers and
    ranked categories, `hierarchical` where there is a hierarchy. Sensitive attributes that are not published value by
    value are left out, with a note.

    Parameters
    ----------
    release : Release
        The release that is measured.
    l : int
        That of recursive (c, l)-diversity, whose ratio x1 / (xl + ... + xm) is reported.

    Returns
    -------
    Profile
        Every level of every group, and the worst of each.

    Notes
    -----
    Assumes: that is right which is published; the levels say nothing about what is learned from other groups.
    Cost: one pass over the groups per level and sensitive attribute.
    Use: several releases are to be compared whatever they promised.
    Avoid: a single requirement is in question: see `check`.

    References
    ----------
    The definitions of the requirements, each with its own source.

    Examples
    --------
    The young and the old make a class of three each. All the old have a cold:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> profile = privacy.profile(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    >>> profile.frame()[["group", "size", "disease: distinct l", "disease: t (equal)"]].round(2)
       group  size  disease: distinct l  disease: t (equal)
    0      0     3                  2.0                0.33
    1      1     3                  1.0                0.33
    """
    release.require_people("k, l and t count people who look alike")
    fragments = fragments_of(release, None)
    profiles = tuple(_fragment_profile(release, fragment, l) for fragment in fragments)
    scores = [_smallest_group(release, profiles)]
    notes = []
    for name in release.data.sensitive:
        holding = [fragment for fragment in profiles if name in fragment.attributes]
        if holding:
            scores.extend(_worst_levels(release, holding, name, l))
        else:
            notes.append(f"'{name}' is not published value by value, so nothing is said about it.")
    return Profile(profiles, tuple(scores), tuple(notes))


def _fragment_profile(release: Release, judged: Fragment, l: int) -> FragmentProfile:
    candidates = release.fragments if release.is_shared else (judged,)
    attributes = {}
    for name in release.data.sensitive:
        for fragment in candidates:
            if name in fragment.recodings and _is_told(release, fragment, name):
                attributes[name] = AttributeProfile(name, group_levels(release, fragment, name, l))
                break
    return FragmentProfile(judged.name, release.people_per_group(judged), attributes)


def _is_told(release: Release, fragment: Fragment, name: str) -> bool:
    """Whether the values of groups can be compared with those of the table, whose counts sets do not tell."""
    is_counted = release.data.knows_rows or isinstance(fragment.recodings[name], Exact)
    return has_single_values(fragment, name) and is_counted


def _smallest_group(release: Release, profiles: tuple[FragmentProfile, ...]) -> WorstLevel:
    sizes = {groups.fragment: groups.size for groups in profiles}
    fragment, group = worst_group(sizes, True)
    by_people = release.data.people is not None
    return WorstLevel(
        sizes[fragment][group],
        SMALLEST_GROUP,
        bounds=(1, release.data.n_people),
        baseline=float(release.data.n_people),
        unit="people" if by_people else None,
        words={"counted": "People" if by_people else "Rows"},
        attribute=None,
        fragment=fragment,
        group=group,
    )


def _worst_levels(release: Release, holding: list[FragmentProfile], attribute: str, l: int) -> list[WorstLevel]:
    table = table_levels(release, attribute, l)
    scores = []
    for name in holding[0].attributes[attribute].levels:
        kind = LEVELS[name]
        levels = {groups.fragment: groups.attributes[attribute].levels[name] for groups in holding}
        fragment, group = worst_group(levels, bool(kind.higher_is_better))
        scores.append(
            WorstLevel(
                levels[fragment][group],
                kind,
                baseline=table[name],
                words={"attribute": f"'{attribute}'", "l": str(l)},
                attribute=attribute,
                fragment=fragment,
                group=group,
            )
        )
    return scores

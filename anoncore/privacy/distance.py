"""How far each group's distribution of an attribute lies from the table's."""

from __future__ import annotations

from anoncore.base.errors import ParameterError
from anoncore.privacy.check import published_levels
from anoncore.privacy.published import publishing_fragment
from anoncore.release.release import Release
from anoncore.requirements import TCloseness
from anoncore.requirements.requirement import Floats
from anoncore.requirements.t_closeness import GROUNDS, Ground


def emd(release: Release, attribute: str, ground: Ground = "ordered", fragment: str | None = None) -> Floats:
    """Earth mover's distance of each group's published distribution from the original table's, float (n_groups,).

    0: the group looks like the table; 1: all mass moves the whole way. The groups are those of `fragment`, or of the
    first fragment that publishes the attribute. Raises ParameterError for an unknown ground distance or fragment,
    DataError for a hierarchical distance without a hierarchy, ReleaseError where single values are not published.

    Parameters: `attribute` sensitive attribute; `ground` how far apart two values are; `fragment` whose groups, none:
      the first that publishes the attribute.
    Assumes: the adversary knows the distribution of the original table.
    Cost: O(m) per group for m values, with a hierarchy the number of its nodes.
    Use: it matters how much a class tells beyond the whole table.
    Avoid: beliefs come from several buckets: see `posterior_emd`.
    Source: Li et al., t-closeness, ICDE 2007; t-closeness dissertation, section 3.6.
    """
    if ground not in GROUNDS:
        raise ParameterError(f"There is no ground distance {ground!r}; there is {', '.join(GROUNDS)}.")
    (check,) = TCloseness(t=1.0, ground=ground, attribute=attribute).checks(release.data)
    return published_levels(release, publishing_fragment(release, attribute, fragment), check)

"""The rules of a policy that are requirements of groups: what a certificate states of them readers can count anew."""

from __future__ import annotations

from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Literal

from anoncore.base.errors import AnonymizationError
from anoncore.front.policy.judgement import Judgement
from anoncore.front.policy.sections import Limit
from anoncore.release.release import Release
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
)
from anoncore.table.domain import Kind

if TYPE_CHECKING:
    from anoncore.front.policy.policy import Policy

Ground = Literal["equal", "ordered", "interval"]
GROUNDS: dict[str, Ground | None] = {"t": None, "t-equal": "equal", "t-ordered": "ordered", "t-interval": "interval"}
"""Measures of how far groups are from the table, by the distance between values; None is the one that fits the kind."""


def requirement_of_limit(
    name: str, limit: Limit, attribute: str | None, kind: str | None, is_one_table: bool
) -> Requirement | None:
    """The requirement of groups that a limit of a measure is, where it is one of whole groups; `kind` is that of the
    attribute. Raises AnonymizationError for a limit that no group can be asked for.

    Who is found and what is believed is told by the groups of a single table; joined tables tell more.
    """
    value = limit.value
    if name == "reidentified-largest":
        return KAnonymity(k=limit.group_size()) if is_one_table and value > 0 else None
    if limit.decimals is not None:
        return None
    if name == "k":
        return KAnonymity(k=ceil(value))
    if name == "distinct-l":
        return DistinctDiversity(l=ceil(value), attribute=attribute)
    if name == "entropy-l":
        return EntropyDiversity(l=value, attribute=attribute)
    if name == "frequency-l":
        return FrequencyDiversity(l=value, attribute=attribute)
    if name in ("max-share", "largest-belief") and (is_one_table or name == "max-share") and value > 0:
        return FrequencyDiversity(l=1 / value, attribute=attribute)
    if name not in GROUNDS:
        return None
    return TCloseness(t=value, ground=GROUNDS[name] or _usual_ground(kind), attribute=attribute)


def _usual_ground(kind: str | None) -> Ground:
    return "equal" if kind in (None, Kind.NOMINAL.value) else "ordered"


def asked_of_groups(policy: Policy, release: Release, judgement: Judgement) -> tuple[Requirement, ...]:
    """The requirements that a policy asks of the groups of a release, without those that it says are broken there."""
    data, is_one_table = release.data, len(release.fragments) == 1
    asked = {f"levels.{axis}": [found] for axis, found in policy.levels.requirements(data).items()}
    limits = {f"risks.{name}": (name, limit) for name, limit in policy.risks.items()}
    if policy.levels.largest_belief is not None:
        limits["levels.largest_belief"] = "largest-belief", Limit(at_most=policy.levels.largest_belief)
    for key, (name, limit) in limits.items():
        for secret in data.sensitive:
            # A requirement about no named secret is about each; distances depend on the kind of the secret.
            attribute = secret if name in GROUNDS and len(data.sensitive) > 1 else None
            with suppress(AnonymizationError):  # no group can be asked for that
                found = requirement_of_limit(name, limit, attribute, data.domain[secret].kind.value, is_one_table)
                asked.setdefault(key, []).extend([] if found is None else [found])
    kept = {line.key for line in judgement.lines if line.status != "broken"}
    return tuple(dict.fromkeys(one for key, several in asked.items() if key in kept for one in several))

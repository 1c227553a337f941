"""Levels of groups in exact fractions, and verdicts that a rounded level cannot excuse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anoncore import Exact, Microdata, Release, privacy
from anoncore.base.texts import is_missing
from anoncore.release.release import Fragment
from anoncore.requirements import Comparison, Requirement
from tests.fuzz.case import RefutedError

SLACK = Fraction(1, 10**8)
"""A verdict is wrong where the exact level misses the threshold by more than this share of it."""

Codes = Sequence[int]
Level = Callable[[Microdata, str, Codes, Any], Fraction | float]


def _size(_data: Microdata, _attribute: str, group: Codes, _asked: Any) -> Fraction:
    return Fraction(len(group))


def _distinct(_data: Microdata, _attribute: str, group: Codes, _asked: Any) -> Fraction:
    return Fraction(len(set(group)))


def _frequency(_data: Microdata, _attribute: str, group: Codes, _asked: Any) -> Fraction:
    return Fraction(len(group), max(Counter(group).values()))


def _entropy(_data: Microdata, _attribute: str, group: Codes, _asked: Any) -> float:
    shares = [count / len(group) for count in Counter(group).values()]
    return math.exp(-math.fsum(share * math.log(share) for share in shares))


def _recursive(_data: Microdata, _attribute: str, group: Codes, asked: Any) -> Fraction | float:
    largest = sorted(Counter(group).values(), reverse=True)
    tail = sum(largest[asked.l - 1 :])
    return Fraction(0) if asked.l <= 1 else Fraction(largest[0], tail) if tail else math.inf


def _gain(data: Microdata, attribute: str, group: Codes, _asked: Any) -> Fraction | float:
    whole = data.codes[attribute].tolist()
    table = Counter(whole)
    largest = Fraction(0)
    for code, count in Counter(group).items():
        gain = Fraction(count * len(whole), table[code] * len(group)) - 1 if table[code] else math.inf
        if gain > math.log(len(whole)) - math.log(table[code] or 1):
            return math.inf
        largest = max(largest, Fraction(gain))
    return largest


def _distance(data: Microdata, attribute: str, group: Codes, asked: Any) -> Fraction:
    whole = data.codes[attribute].tolist()
    own, table = Counter(group), Counter(whole)
    size = len(data.domain[attribute])
    surplus = [Fraction(own[code], len(group)) - Fraction(table[code], len(whole)) for code in range(size)]
    if size == 1:
        return Fraction(0)
    if asked.ground == "equal":
        return sum(map(abs, surplus), Fraction(0)) / 2
    if asked.ground == "ordered":
        return sum((abs(sum(surplus[: code + 1], Fraction(0))) for code in range(size)), Fraction(0)) / (size - 1)
    paths = _paths(data, attribute)
    height = len(paths[0])
    moved = Fraction(0)
    for level in range(height):
        mass: dict[Any, Fraction] = Counter()
        for code in range(size):
            mass[(code,) if level == 0 else paths[code][level - 1]] += surplus[code]
        moved += sum(map(abs, mass.values()), Fraction(0))
    return moved / (2 * height)


def _paths(data: Microdata, attribute: str) -> list[tuple[Any, ...]]:
    """The labels above each code; missing values stand alone up to the top."""
    hierarchy = data.hierarchies[attribute]
    alone = tuple(("missing", level) for level in range(hierarchy.height))
    return [alone if is_missing(value) else hierarchy.path_of(value) for value in data.domain[attribute]]


def _variance(data: Microdata, attribute: str, group: Codes, _asked: Any) -> Fraction:
    values = list(data.domain[attribute])
    known = [Fraction(values[code]) for code in group if not is_missing(values[code])]
    if not known:
        return Fraction(0)
    mean = sum(known) / len(known)
    return sum(((value - mean) ** 2 for value in known), Fraction(0)) / len(known)


LEVELS: Mapping[str, Level] = {
    "k-anonymity": _size,
    "distinct-diversity": _distinct,
    "frequency-diversity": _frequency,
    "entropy-diversity": _entropy,
    "recursive-diversity": _recursive,
    "beta-likeness": _gain,
    "t-closeness": _distance,
    "variance-diversity": _variance,
}


def check_verdicts(release: Release, requirements: Sequence[Requirement]) -> None:
    """What `privacy.check` says of every group is what exact arithmetic says. Raises RefutedError for what is not."""
    for requirement in requirements:
        if requirement.name not in LEVELS:
            continue
        failing = {(one.fragment, one.attribute, one.group) for one in privacy.check(release, [requirement])}
        named = getattr(requirement, "attribute", None)
        attributes = [None] if requirement.attribute_free else [named] if named else list(release.data.sensitive)
        for attribute in attributes:
            if attribute in release.data.sensitive_values:
                continue
            for fragment in _judged(release, attribute):
                for number, group in enumerate(_groups(fragment, attribute)):
                    level = LEVELS[requirement.name](release.data, attribute or "", group, requirement)
                    said = (fragment.name, attribute, number) not in failing
                    fault = _fault(level, requirement, said)
                    if fault:
                        where = f"group {number} of {fragment.name}"
                        raise RefutedError(f"{requirement.label()} {fault} in {where}: exactly {float(level)!r}")


def _judged(release: Release, attribute: str | None) -> list[Fragment]:
    fragments = [
        one for one in release.fragments if attribute is None or isinstance(one.recodings.get(attribute), Exact)
    ]
    return fragments[:1] if release.is_shared else fragments


def _groups(fragment: Fragment, attribute: str | None) -> list[list[int]]:
    group = fragment.partition.group
    recoding = fragment.recodings.get(attribute or "")
    codes = recoding.codes if isinstance(recoding, Exact) else np.zeros(len(group), dtype=np.int64)
    return [codes[group == number].tolist() for number in range(fragment.partition.n_groups)]


def _fault(level: Fraction | float, requirement: Requirement, said: bool) -> str:
    """What is wrong about the verdict; nothing where the level is the threshold but for rounding."""
    threshold = Fraction(requirement.threshold)
    near = math.isfinite(level) and abs(Fraction(level) - threshold) <= SLACK * abs(threshold)
    if near and not (level == threshold and isinstance(level, Fraction)):
        return ""
    holds = {
        Comparison.AT_LEAST: level >= threshold,
        Comparison.AT_MOST: level <= threshold,
        Comparison.BELOW: level < threshold,
    }[requirement.comparison]
    if holds == said:
        return ""
    return "is said to hold, and fails" if said else "is said to fail, and holds"

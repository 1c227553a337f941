"""A policy turned against a release: a line for every rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from anoncore.base.errors import DataError
from anoncore.base.texts import no_such
from anoncore.front.policy.judgement import JudgedRule, Judgement
from anoncore.front.policy.level_rules import judged_levels, unless_found
from anoncore.front.policy.measure_limits import Judged, judged_limit
from anoncore.front.policy.refused_contents import Tables, judged_columns, judged_contents
from anoncore.front.policy.rules import Rules
from anoncore.front.policy.sections import Limit, measure_named
from anoncore.front.policy.wording import rules_in_words
from anoncore.measures.criteria import NUMBERS
from anoncore.measures.kept_results import Cache, KeptResults
from anoncore.measures.verdict import breaking_columns, insensitive_columns
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.microdata import Microdata

LARGEST_CHANCES = ("reidentified-largest", "individual-risk-largest")
"""Chances to be found that are 1 / the size of the smallest group, so that a limit of them asks for a size."""


def judge_release(
    policy: Rules,
    release: Release,
    secret: str | Sequence[str] | None = None,
    control: Microdata | None = None,
    tables: Tables | None = None,
    cache: Cache | None = None,
) -> Judgement:
    """What `Policy.judge` gives, also of tables that are published with more columns than the release has.

    `tables` are the published tables by name where they are at hand; `cache` keeps results of the release.
    """
    data = release.data
    names = data.sensitive if secret is None else (secret,) if isinstance(secret, str) else tuple(secret)
    for name in names:
        if name not in data.sensitive:
            raise DataError(no_such("sensitive attribute", name, data.sensitive))
    judged = Judged(release, names, control, KeptResults(release) if cache is None else cache)
    lines = tuple(_lines(policy, judged, tables))
    said = tuple(
        replace(
            line, rule=data.in_words(line.rule), reached=data.in_words(line.reached), reason=data.in_words(line.reason)
        )
        for line in lines
    )
    return Judgement(policy.name, policy.source, policy.context.sentence, said)


def _lines(policy: Rules, judged: Judged, tables: Tables | None) -> Iterator[JudgedRule]:
    release = judged.release
    rules = rules_in_words(policy)
    of_people = list(judged_levels(policy.levels, judged))
    others: list[JudgedRule] = []
    if policy.levels.largest_belief is not None:
        key, limit = "levels.largest_belief", Limit(at_most=policy.levels.largest_belief)
        of_people += judged_limit(key, rules[key], NUMBERS["largest-belief"], limit, judged)
    for name, limit in policy.risks.items():
        number = measure_named(name)
        found = judged_limit(f"risks.{name}", rules[f"risks.{name}"], number, limit, judged)
        if name == "k":
            found = (unless_found(line, KAnonymity(k=max(1, ceil(limit.value))), judged) for line in found)
        (others if number.family == "cost" else of_people).extend(found)
    yield from _unless_known(of_people, policy, judged)
    yield from others
    if policy.refuse.refuses:
        given = release.pandas_tables() if tables is None else tables
        published = [*release.attributes, *(str(name) for table in given.values() for name in table.columns)]
        yield from judged_columns(policy.refuse, published)
        yield from judged_contents(policy.refuse, given)


def _unless_known(lines: Sequence[JudgedRule], policy: Rules, judged: Judged) -> Iterator[JudgedRule]:
    """The lines, where those that are kept hold only if nobody knows the columns that break what is asked."""
    kept = [line for line in lines if line.status == "kept"]
    columns, breaking = _breaking(policy, judged) if kept else ((), "")
    for line in lines:
        if columns and line.status == "kept":
            told = "; ".join(text for text in (breaking, line.reason) if text)
            yield replace(line, status="only if nobody knows", columns=columns, reason=told)
        else:
            yield line


def _breaking(policy: Rules, judged: Judged) -> tuple[tuple[str, ...], str]:
    """The insensitive columns that break what is asked of people, and what they do, as the verdict finds them."""
    release = judged.release
    wanted: list[Requirement] = [*policy.levels.requirements(release.data).values()]
    sizes = [policy.risks[name].group_size() for name in LARGEST_CHANCES if _is_chance(policy.risks.get(name))]
    wanted += [KAnonymity(k=size) for size in sizes]
    leaks, over_all = insensitive_columns(release, wanted, judged.cache)
    word = release.data.people_word
    columns = tuple(leak.column for leak in leaks if breaking_columns([leak], over_all, word))
    return columns, breaking_columns(leaks, over_all, word)


def _is_chance(limit: Limit | None) -> bool:
    return limit is not None and limit.at_most is not None and limit.at_most > 0

"""A policy turned against a release: a line for every rule, and what every group reaches beside the levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import ceil

from anoncore import privacy
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.texts import counted, no_such
from anoncore.front.policy.judgement import JudgedRule, Judgement, Status
from anoncore.front.policy.measure_limits import NO_SECRET, NOBODYS, Judged, judged_limit
from anoncore.front.policy.refused_contents import Tables, judged_columns, judged_contents
from anoncore.front.policy.sections import Levels, Limit, Rules, measure_named
from anoncore.front.policy.wording import level_rules, rules_in_words
from anoncore.kernels.rounding import reaches
from anoncore.measures.criteria import NUMBERS
from anoncore.measures.promise_marks import rows_that_fit
from anoncore.measures.verdict import breaking_columns, insensitive_columns, joined_rows
from anoncore.privacy.guarantees import Guarantee, level_texts
from anoncore.privacy.guarantees import judged as guarantees_of
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.microdata import Microdata

LARGEST_CHANCES = ("reidentified-largest", "individual-risk-largest")
"""Chances to be found that are 1 / the size of the smallest group, so that a limit of them asks for a size."""
NO_KNOWN = "no column is tagged as known to others: it would hold only if nobody knows anything of anybody"


def judge_release(
    policy: Rules,
    release: Release,
    secret: str | Sequence[str] | None = None,
    control: Microdata | None = None,
    tables: Tables | None = None,
    cache: Cache | None = None,
    progress: Progress = silent,
) -> Judgement:
    """What `Policy.judge` gives, also of tables that are published with more columns than the release has.

    `tables` are the published tables by name where they are at hand; `cache` keeps results of the release. `progress`
    may raise CancelledError to stop.
    """
    data = release.data
    names = data.sensitive if secret is None else (secret,) if isinstance(secret, str) else tuple(secret)
    for name in names:
        if name not in data.sensitive:
            raise DataError(no_such("sensitive attribute", name, data.sensitive))
    judged = Judged(release, names, control, kept_results(release, cache), progress)
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
    of_people = list(_judged_levels(policy.levels, judged))
    others: list[JudgedRule] = []
    if policy.levels.largest_belief is not None:
        key, limit = "levels.largest_belief", Limit(at_most=policy.levels.largest_belief)
        of_people += judged_limit(key, rules[key], NUMBERS["largest-belief"], limit, judged)
    for place, (name, limit) in enumerate(policy.risks.items()):
        number, n = measure_named(name), len(policy.risks)
        tell = part_of(judged.progress, place / n, (place + 1) / n)
        tell(0.0, number.title)
        found = judged_limit(f"risks.{name}", rules[f"risks.{name}"], number, limit, replace(judged, progress=tell))
        if name == "k":
            found = (_unless_found(line, KAnonymity(k=max(1, ceil(limit.value))), judged) for line in found)
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
    columns = [leak.column for leak in leaks if breaking_columns([leak], over_all, word)]
    joined = joined_rows(release, wanted, judged.cache)
    columns += [str(release.data.pseudonym)] if joined else []
    return tuple(columns), "; ".join(filter(None, [joined, breaking_columns(leaks, over_all, word)]))


def _is_chance(limit: Limit | None) -> bool:
    return limit is not None and limit.at_most is not None and limit.at_most > 0


def _judged_levels(levels: Levels, judged: Judged) -> Iterator[JudgedRule]:
    """A line for every level, and for every secret that it is about."""
    requirements = levels.requirements(judged.release.data)
    for key, rule in level_rules(levels).items():
        axis = key.removeprefix("levels.")
        value = float(getattr(levels, axis))
        requirement = requirements.get(axis)
        reason = NOBODYS if judged.release.is_synthetic else NO_SECRET if requirement is None else ""
        reason = reason or ("" if judged.release.data.quasi_identifiers else NO_KNOWN)
        about: list[Guarantee] = []
        if requirement is not None and not reason:
            try:
                guarantees = guarantees_of(judged.release, [requirement])
            except AnonymizationError as error:
                reason = str(error)
            else:
                about = [one for one in guarantees if one.attribute is None or one.attribute in judged.secrets]
                reason = "" if about else NO_SECRET
        if requirement is None or reason:
            yield JudgedRule(key, rule, None, f"{value:g}", "", "not measured", reason=reason, limit=value)
            continue
        for guarantee in about:
            yield _unless_found(_line(key, rule, guarantee), requirement, judged)


def _line(key: str, rule: str, guarantee: Guarantee) -> JudgedRule:
    reached, asked = level_texts(guarantee.reached, guarantee.asked)
    asked = guarantee.requirement.asked_text(asked)
    status: Status = "kept" if guarantee.holds else "broken"
    told = guarantee.requirement.reached_text(guarantee.reached, reached, None)
    return JudgedRule(
        key, rule, guarantee.attribute, asked, told, status, limit=guarantee.asked, value=guarantee.reached
    )


def _unless_found(line: JudgedRule, requirement: Requirement, judged: Judged) -> JudgedRule:
    """The line, broken where groups are large enough and hide nobody: by what is known, or by a join of tables.

    A bucket of k rows does not hide whose row is whose, and classes of tables that are joined are smaller than those of
    each.
    """
    if line.status != "kept":
        return line
    release, cache = judged.release, judged.cache
    if requirement.attribute_free:
        with suppress(AnonymizationError):  # without a known attribute nobody is found by one
            fitting = rows_that_fit(release, cache)
            if not reaches(fitting, line.limit):
                rows = counted(fitting, "row")
                reason = f"what is published of the known columns fits {rows} at worst, however large the groups are"
                return replace(line, status="broken", reason=reason)
    if not release.is_shared:
        k, l = (int(line.limit), 1) if requirement.attribute_free else (1, int(getattr(requirement, "l", 1)))
        with suppress(AnonymizationError):  # without a common attribute there is nothing to join on
            joins = cache("privacy.joins", privacy.joins, k, l)
            if not joins.holds:
                return replace(line, status="broken", reason=joins.sentences[0])
    return line

"""The rules of a policy in words."""

from __future__ import annotations

from anoncore.base.number import Number
from anoncore.front.policy.sections import Levels, Limit, Rules, measure_named
from anoncore.measures.criteria import NUMBERS

REFUSED_TEXT = "no column of free text is found"
REFUSED_IDENTIFIERS = "no identifier of HIPAA's safe harbor is found by names and values"


def rules_in_words(policy: Rules) -> dict[str, str]:
    """Every rule in words, by its key in the file; a column that is refused is a rule of its own."""
    found = level_rules(policy.levels)
    if policy.levels.largest_belief is not None:
        belief = number_text(NUMBERS["largest-belief"], policy.levels.largest_belief)
        found["levels.largest_belief"] = f"nobody's secret is believed with more than {belief}"
    for name, limit in policy.risks.items():
        found[f"risks.{name}"] = limit_rule(measure_named(name), limit)
    for column in policy.refuse.columns:
        found[column_key(column)] = f"'{column}' is not published"
    if policy.refuse.free_text:
        found["refuse.free_text"] = REFUSED_TEXT
    if policy.refuse.identifiers is not None:
        found["refuse.identifiers"] = REFUSED_IDENTIFIERS
    return found


def level_rules(levels: Levels) -> dict[str, str]:
    """The levels of groups in words, by their keys; l and c together are one rule."""
    found = {}
    if levels.k is not None:
        found["levels.k"] = f"groups of at least {levels.k:,} people (k)"
    if levels.c is not None:
        l = "2" if levels.l is None else f"{levels.l:g}"
        found["levels.c"] = f"recursive (c, l)-diversity with c = {levels.c:g} and l = {l}"
    elif levels.l is not None:
        found["levels.l"] = f"no secret value has more than 1/{levels.l:g} of a group (l)"
    if levels.t is not None:
        found["levels.t"] = f"no group is farther than {levels.t:g} from the table (t)"
    return found


def limit_rule(number: Number, limit: Limit) -> str:
    """The limit of a measure in words."""
    rounded = "" if limit.decimals is None else f", rounded to {limit.decimals} decimals"
    return f"{number.title} {limit.words} {number_text(number, limit.value)}{rounded}"


def number_text(number: Number, value: float) -> str:
    """A value of a measure in as many digits as rules have, so that a limit and what exceeds it read differently."""
    return f"{100 * value:.6g}%" if number.form == "share" else f"{value:,.6g}"


def column_key(column: str) -> str:
    """The key of the rule that refuses a column."""
    return f"refuse.columns.{column}"

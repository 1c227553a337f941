"""What the policy in force says of a release, in the few words that fit into the head of its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from anoncore.base.texts import counted, listing
from anoncore.front.policy.judgement import WORST_FIRST
from dashboard.markdown import few

MOST_RULES = 2
"""Rules that a release breaks and its column names."""


@dataclass(frozen=True)
class ByPolicy:
    """What a policy says of a release: in a few words, their tone, the rules that it breaks (empty for none), and all
    rules in lines.
    """

    text: str
    tone: str
    broken: str = ""
    all: str = ""

    @classmethod
    def of(cls, policy: str, judgement: Mapping[str, Any] | None, problem: str = "") -> Self:
        """The words for a judgement as plain values; None: it is not there yet, or for a `problem` never."""
        if judgement is None:
            return cls(f"{policy}: {problem or 'not measured yet'}", "warn" if problem else "plain")
        rules = judgement["rules"]
        of = {status: [rule for rule in rules if rule["status"] == status] for status in WORST_FIRST}
        lines = "\n".join(rule["sentence"] for status in WORST_FIRST for rule in of[status])
        kept = f"keeps {len(of['kept']):,} of {counted(len(rules), 'rule')}"
        if told := [f"{rule['rule']}{rule['reached'] and ': '}{rule['reached']}" for rule in of["broken"]]:
            broken = few(told, MOST_RULES, "; ")
            return cls(f"{policy}: breaks {broken}", "bad", broken, lines)
        if unless := of["only if nobody knows"]:
            columns = listing(list(dict.fromkeys(name for rule in unless for name in rule["columns"])))
            return cls(f"{policy}: {kept}, {len(unless):,} only if nobody knows {columns}", "warn", "", lines)
        if unknown := of["not measured"]:
            return cls(
                f"{policy}: {kept}, not measured: {few([rule['rule'] for rule in unknown], 1)}", "warn", "", lines
            )
        return cls(
            f"{policy}: keeps {'its rule' if len(rules) == 1 else f'all {len(rules):,} rules'}", "good", "", lines
        )

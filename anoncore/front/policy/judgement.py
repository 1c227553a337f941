"""What a policy says of a release: a line for every rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from anoncore.base.showing import Lines, Shown, printable
from anoncore.base.texts import counted, listing

Status = Literal["kept", "broken", "not measured", "only if nobody knows"]
WORST_FIRST: tuple[Status, ...] = ("broken", "not measured", "only if nobody knows", "kept")
CODES: Mapping[Status, int] = MappingProxyType({"kept": 0, "broken": 1, "not measured": 3, "only if nobody knows": 3})
"""The exit code of a command where nothing is worse."""
COLUMNS = ("key", "rule", "attribute", "asked", "reached", "limit", "value", "status", "columns", "reason")
"""What is told of every rule, in this order."""


@dataclass(frozen=True)
class JudgedRule(Shown):
    """One rule of a policy, and whether a release keeps it.

    Attributes
    ----------
    key : str
        The key of the rule in the file, such as `levels.k`.
    rule : str
        The rule in words.
    attribute : str or None
        The secret that it was judged on; None where it is about none.
    asked, reached : str
        The limit, and what the release reaches, in words; `reached` is empty where it could not be measured.
    status : {"kept", "broken", "not measured", "only if nobody knows"}
        How it came out.
    columns : tuple of str
        Where it holds only if nobody knows some published columns: these.
    reason : str
        Why it was not measured or holds only if nobody knows a column, or where it is broken, in a sentence.
    limit, value : float
        `asked` and `reached` as numbers; NaN where there is none.

    Examples
    --------
    >>> from anoncore import JudgedRule
    >>> JudgedRule("levels.k", "groups of at least 5 people (k)", None, "at least 5", "size 4", "broken").sentence
    'broken: groups of at least 5 people (k): size 4'
    """

    key: str
    rule: str
    attribute: str | None
    asked: str
    reached: str
    status: Status
    columns: tuple[str, ...] = ()
    reason: str = ""
    limit: float = field(default=nan, repr=False)
    value: float = field(default=nan, repr=False)

    @property
    def outcome(self) -> str:
        """The status, with the columns that nobody may know."""
        return f"{self.status} {listing(self.columns)}" if self.columns else self.status

    @property
    def sentence(self) -> str:
        """The rule, what is reached and why, in a line."""
        of = f" on '{self.attribute}'" if self.attribute is not None else ""
        reached = f": {self.reached}" if self.reached else ""
        reason = f" ({self.reason.rstrip('.')})" if self.reason else ""
        return printable(f"{self.outcome}: {self.rule}{of}{reached}{reason}")

    def _headline(self) -> str:
        return self.sentence

    def _lines(self) -> Lines:
        return []


@dataclass(frozen=True)
class Judgement(Shown):
    """What a policy says of a release, a line for every rule and every secret that the rule is about.

    It says what was asked and what was measured, and never that a law is met.

    Attributes
    ----------
    policy : str
        Name of the policy.
    source : str
        Whose rules they are.
    recipient : str
        Who receives the release, in a sentence; empty where the policy does not say it.
    lines : tuple of JudgedRule
        The rules in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, Policy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> judgement = Policy(name="Ours", levels={"k": 2}).judge(release)
    >>> judgement.status, judgement.exit_code, judgement.headline
    ('kept', 0, 'Ours: 1 of 1 rule is kept by what was measured.')
    """

    policy: str
    source: str
    recipient: str
    lines: tuple[JudgedRule, ...]

    @property
    def status(self) -> Status:
        """The worst status of any rule."""
        found = {line.status for line in self.lines}
        return next((status for status in WORST_FIRST if status in found), "not measured")

    @property
    def exit_code(self) -> int:
        """0 where every rule is kept, 1 where one is broken, else 3: one can only be claimed."""
        return CODES[self.status]

    def of(self, status: Status) -> tuple[JudgedRule, ...]:
        """The rules that came out in one way.

        Parameters
        ----------
        status : {"kept", "broken", "not measured", "only if nobody knows"}
            The way.

        Returns
        -------
        tuple of JudgedRule
            These rules in their order.
        """
        return tuple(line for line in self.lines if line.status == status)

    @property
    def headline(self) -> str:
        """How many rules are kept, in a sentence that never says the good half alone."""
        total = counted(len(self.lines), "rule")
        parts: list[str] = []
        for status in WORST_FIRST:
            rules = self.of(status)
            if not rules or (status == "kept" and parts):
                continue
            of = f"{len(rules):,} " if parts else f"{len(rules):,} of {total} "
            is_one = len(rules) == 1
            columns = tuple(dict.fromkeys(name for line in rules for name in line.columns))
            words = {
                "broken": "is broken" if is_one else "are broken",
                "not measured": "was not measured" if is_one else "were not measured",
                "only if nobody knows": f"{'holds' if is_one else 'hold'} only if nobody knows {listing(columns)}",
                "kept": f"{'is' if is_one else 'are'} kept by what was measured",
            }[status]
            parts.append(f"{of}{words}")
        return printable(f"{self.policy}: {', '.join(parts)}.")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The headline, whose rules they are, and a line for every rule, the worst first."""
        source = [printable(f"  Source: {self.source}")] if self.source else []
        rules = [f"  {line.sentence}" for status in WORST_FIRST for line in self.of(status)]
        return (self.headline, *source, *rules)

    def frame(self) -> pd.DataFrame:
        """A line for every rule.

        Returns
        -------
        DataFrame
            Columns `key`, `rule`, `attribute`, `asked`, `reached`, `limit`, `value`, `status`, `columns` and `reason`;
            numbers that there are not are NaN.
        """
        rows = [{name: getattr(line, name) for name in COLUMNS} for line in self.lines]
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"limit": "float64", "value": "float64"})

    def to_dict(self) -> dict[str, Any]:
        """The judgement as plain values, as JSON holds them.

        Returns
        -------
        dict of str to object
            Name and source of the policy, the status and the exit code, and the rules; numbers that there are not are
            None.
        """
        return {
            "policy": self.policy,
            "source": self.source,
            "recipient": self.recipient,
            "status": self.status,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "rules": [_plain(line) for line in self.lines],
        }

    def _headline(self) -> str:
        return self.headline

    def _lines(self) -> Lines:
        return [(line.outcome, line.sentence.partition(": ")[2]) for line in self.lines]


def _plain(line: JudgedRule) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return value if abs(value) < float("inf") else None  # which NaN is not either

    return {
        **{name: getattr(line, name) for name in COLUMNS},
        "limit": number(line.limit),
        "value": number(line.value),
        "columns": list(line.columns),
        "sentence": line.sentence,
    }

"""What a verification says: a finding per check, and all of them together.

There are three kinds of sentences, which are never mixed: counted here and holds, counted here and fails, and claimed
by the certificate but not to be counted in the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anoncore.base.showing import Lines, Shown, printable
from anoncore.base.texts import counted

Outcome = Literal["holds", "fails", "claimed"]


@dataclass(frozen=True)
class Finding:
    """One check of a verification.

    Attributes
    ----------
    check : str
        What was checked.
    outcome : {"holds", "fails", "claimed"}
        How it came out: counted in the files, or only claimed.
    sentence : str
        Why, in a sentence for people. What it quotes from certificates and files commands no terminal.
    breaking : str
        Where the check is about insensitive columns that break what is promised: which they are and what they do, in
        half a sentence.

    Examples
    --------
    >>> from anoncore.publishing import Finding
    >>> Finding("links between tables", "holds", "The tables are joined as certified.").outcome
    'holds'
    """

    check: str
    outcome: Outcome
    sentence: str
    breaking: str = ""

    def __post_init__(self) -> None:
        for name in ("check", "sentence", "breaking"):
            object.__setattr__(self, name, printable(getattr(self, name)))


def fails(check: str, sentence: str) -> Finding:
    """What was counted here and does not hold."""
    return Finding(check, "fails", sentence)


def claimed(check: str, sentence: str, breaking: str = "") -> Finding:
    """What cannot be counted here."""
    return Finding(check, "claimed", sentence, breaking)


def either(check: str, holds: bool, good: str, bad: str | None = None) -> Finding:
    """What a check that was counted here found, in the sentence for the way in which it came out; by default in one."""
    return Finding(check, "holds" if holds else "fails", good if holds or bad is None else bad)


@dataclass(frozen=True)
class Verification(Shown):
    """All checks of a certificate against files.

    Attributes
    ----------
    findings : tuple of Finding
        The checks in their order.

    Examples
    --------
    >>> from anoncore.publishing import Finding, Verification
    >>> verification = Verification((Finding("input", "fails", "The release was made of another table."),))
    >>> verification.holds, verification.code
    (False, 1)
    """

    findings: tuple[Finding, ...]

    def _headline(self) -> str:
        return f"Verification of {counted(len(self.findings), 'statement')}: {self.state}"

    def _lines(self) -> Lines:
        return [(one.check, one.outcome) for one in self.findings]

    def of(self, outcome: Outcome) -> tuple[Finding, ...]:
        """The findings that came out in one way.

        Parameters
        ----------
        outcome : {"holds", "fails", "claimed"}
            The way.

        Returns
        -------
        tuple of Finding
            These findings in their order.
        """
        return tuple(one for one in self.findings if one.outcome == outcome)

    @property
    def holds(self) -> bool:
        """Whether all that is claimed was counted and holds; what is only claimed does not."""
        return all(one.outcome == "holds" for one in self.findings)

    @property
    def code(self) -> int:
        """The exit code of the command: 0 if all holds, 1 if something fails, 3 if something is only claimed."""
        return 0 if self.holds else 1 if self.of("fails") else 3

    @property
    def breaking(self) -> str:
        """The published columns by which what is claimed holds only if nobody knows them, in half a sentence."""
        return next((one.breaking for one in self.findings if one.breaking), "")

    @property
    def state(self) -> str:
        """Whether the certificate holds, in a sentence that never says the good half alone."""
        failed, claimed = len(self.of("fails")), len(self.of("claimed"))
        breaking = f"; {self.breaking}" if self.breaking else ""
        if failed:
            of = f"{counted(failed, 'statement')} of {len(self.findings):,}"
            return f"The certificate does not hold: {of} {'fails' if failed == 1 else 'fail'}{breaking}."
        if claimed:
            only = f"{counted(claimed, 'statement')} of {len(self.findings):,} {'is' if claimed == 1 else 'are'}"
            return f"What was counted holds, but {only} only claimed{breaking}."
        return f"The certificate holds: all {counted(len(self.findings), 'statement')} were counted here and hold."

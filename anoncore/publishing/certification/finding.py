"""What a verification says: a finding per check, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anoncore.base.showing import Lines, Shown, counted

Outcome = Literal["holds", "fails", "not checked"]


@dataclass(frozen=True)
class Finding:
    """One check of a verification.

    Attributes
    ----------
    check : str
        What was checked.
    outcome : {"holds", "fails", "not checked"}
        How it came out.
    sentence : str
        Why, in a sentence for people.
    breaking : str
        Where the check is about insensitive columns that break what is promised: which they are and what they do, in
        half a sentence.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.publishing import certify, new_key, verify, write_tables
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> file = io.BytesIO()
    >>> write_tables(release.tables(), file, "csv")
    >>> files = {"people.csv": file.getvalue()}
    >>> certificate = certify(release, new_key(), files)
    >>> finding = verify(certificate, files).findings[0]
    >>> finding.outcome, finding.sentence
    ('holds', "'release' has the 6 rows that were certified.")
    """

    check: str
    outcome: Outcome
    sentence: str
    breaking: str = ""


@dataclass(frozen=True)
class Verification(Shown):
    """All checks of a certificate against files.

    Attributes
    ----------
    findings : tuple of Finding
        The checks in their order.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.publishing import certify, new_key, verify, write_tables
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> file = io.BytesIO()
    >>> write_tables(release.tables(), file, "csv")
    >>> files = {"people.csv": file.getvalue()}
    >>> certificate = certify(release, new_key(), files)
    >>> verification = verify(certificate, files)
    >>> verification.holds, len(verification.findings)
    (True, 5)
    """

    findings: tuple[Finding, ...]

    def _headline(self) -> str:
        failed = sum(one.outcome == "fails" for one in self.findings)
        of = counted(len(self.findings), "check")
        told = f"; {self.breaking}" if self.breaking else ""
        return f"Verification: {'nothing fails' if failed == 0 else f'{failed:,} fail'} in {of}{told}"

    @property
    def breaking(self) -> str:
        """The insensitive columns by which what is promised only holds over what is known, in half a sentence."""
        return next((one.breaking for one in self.findings if one.breaking), "")

    @property
    def state(self) -> str:
        """Whether the certificate holds, in a sentence that never says the good half alone."""
        holds = "holds" if self.holds else "does not hold"
        over = " over what is known" if self.holds and self.breaking else ""
        return f"The certificate {holds}{over}{f'; {self.breaking}' if self.breaking else ''}."

    def _lines(self) -> Lines:
        return [(one.check, one.outcome) for one in self.findings]

    @property
    def holds(self) -> bool:
        """Whether nothing failed; what could not be checked does not count."""
        return all(one.outcome != "fails" for one in self.findings)

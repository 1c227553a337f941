"""The dossier of a release, as data and as a page to read, print and sign."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.texts import no_such
from anoncore.base.version import __version__
from anoncore.front.dossier import certified_claims as claims
from anoncore.front.dossier import measured_release as measuring
from anoncore.front.dossier import measured_treatment as treating
from anoncore.front.dossier.dossier_page import dossier_page
from anoncore.front.dossier.dossier_parts import Sections
from anoncore.front.dossier.other_draws import OTHER_DRAWS, other_draws
from anoncore.front.dossier.typed_answers import Answers
from anoncore.front.policy.judgement import CODES
from anoncore.front.policy.policy import Policy
from anoncore.front.policy.published_rules import judge_files
from anoncore.front.policy.release_rules import judge_release
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.verification import verify
from anoncore.publishing.signing.signers import NOBODY
from anoncore.recipes.schema import DRAFT
from anoncore.release.release import Release
from anoncore.search.sweeping import Point
from anoncore.table.microdata import Microdata


@checked_methods
class Dossier(Sections):
    """What a person reads, prints and signs before a release leaves the house, in seven sections.

    It says what was measured, counted or claimed, and never that a law is met. It holds no value of the original table
    that is not published. What only people know is typed in, and an answer that is empty stays an empty line.

    Attributes
    ----------
    format : str
        Says that the JSON is a dossier.
    version : int
        Version of the format, 1.
    made : str
        When it was made, in UTC.
    software : str
        The version of anoncore.
    basis : {"release", "published", "certificate"}
        What was at hand: a release with its original table, published tables that were read back, or a certificate and
        its files.
    released : Released
        1. What is released, for whom, for how long and under which controls.
    people : People
        2. The people and the table.
    adversaries : Adversaries
        3. Adversaries considered, and what each got.
    identifiability : Identifiability
        4. Levels, groups by size, and who is unique.
    treatment : Treatment
        5. What was done, what it costs, and the releases that were considered instead.
    reached : Reached
        6. Levels of the policy beside what was reached, and the verdict.
    decisions : Decisions
        7. Decisions, roles, dates and signatures.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Answers, Dossier, Microdata, Policy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> dossier = Dossier.of(release, Policy(name="Ours", levels={"k": 2}), Answers(recipients="the registry"))
    >>> dossier.reached.policy.status, dossier.released.recipients, dossier.released.duration
    ('kept', 'the registry', '')
    """

    @classmethod
    def of(
        cls,
        release: Release,
        policy: Policy | None = None,
        answers: Answers | None = None,
        considered: Sequence[Point] = (),
        control: Microdata | None = None,
        draws: int = OTHER_DRAWS,
        progress: Progress | None = None,
    ) -> Self:
        """The dossier of a release: what its tables and the original show is measured.

        Of a release that was read back from published tables alone, what needs the original is not measured.

        Parameters
        ----------
        release : Release
            The release.
        policy : Policy, optional
            The rules beside which its levels stand.
        answers : Answers, optional
            What only people know; what is not given stays empty.
        considered : sequence of Point
            The releases that were considered instead, as `anoncore.search.sweep` measures them with the criteria
            `two-way-error` and `strongest-attribute`.
        control : Microdata, optional
            People who are not in the release, drawn as those were who are in it; see `Microdata.split`.
        draws : int
            Of a method that draws at random: how many further draws are measured, to say how far their numbers lie
            apart.
        progress : callable, optional
            Called with the share done and a text; it may raise CancelledError to stop.

        Returns
        -------
        Dossier
            The dossier.

        Raises
        ------
        ParameterError
            For an answer about a column that the table lacks, and for what was considered and is no point of a sweep.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Dossier, Microdata
        >>> from anoncore.algorithms import Mondrian
        >>> from anoncore.requirements import KAnonymity
        >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
        >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
        >>> dossier = Dossier.of(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data))
        >>> [group.groups for group in dossier.identifiability.sizes[0].classes if group.sizes == "2"]
        [2]
        """
        answers, tell = answers or Answers(), progress or silent
        _require_columns(answers, measuring.names_of(release.data))
        points = treating.require_points(considered)
        measured = measuring.MeasuredRelease(release, answers, control, part_of(tell, 0.0, 0.7))
        recipient = "" if policy is None else policy.context.sentence
        adversaries = measuring.adversaries(measured)
        tell(0.7, "Measuring")
        judgement = None
        if policy is not None:
            judgement = judge_release(policy, release, control=control, tables=measured.tables, cache=measured.results)
        tell(0.9, "Writing")
        return cls(
            made=_now(),
            software=__version__,
            basis="release" if release.data.knows_rows else "published",
            released=measuring.released(measured, recipient),
            people=measuring.people(measured),
            adversaries=adversaries,
            identifiability=measuring.identifiability(measured, *other_draws(measured, draws)),
            treatment=treating.treatment(measured, points),
            reached=treating.reached(measured, judgement),
            decisions=treating.decisions(answers, "", ()),
        )

    @classmethod
    def of_certificate(
        cls,
        certificate: Certificate,
        files: Mapping[str, bytes],
        policy: Policy | None = None,
        answers: Answers | None = None,
        signature: str = NOBODY,
        findings: Sequence[Finding] = (),
        progress: Progress | None = None,
    ) -> Self:
        """The dossier of a release of which only a certificate and the published files are at hand.

        What the files show is counted anew. What the certificate says beside that is claimed, and what needs the
        original table is not measured.

        Parameters
        ----------
        certificate : Certificate
            What was certified.
        files : mapping of str to bytes
            The published files by name.
        policy : Policy, optional
            The rules that are put to the files.
        answers : Answers, optional
            What only people know; what is not given stays empty.
        signature : str
            Who signed the certificate, in words, such as `signed_by` finds it.
        findings : sequence of Finding
            What was found of the certificate beside its files, such as that no trusted key signed it.
        progress : callable, optional
            Called with the share done and a text; it may raise CancelledError to stop.

        Returns
        -------
        Dossier
            The dossier.

        Raises
        ------
        DataError
            For files that cannot be read, and for the certificate of a release in parts or in a database.
        ParameterError
            For an answer about a column that the certificate does not name.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Dossier, Microdata
        >>> from anoncore.algorithms import Mondrian
        >>> from anoncore.publishing import Certificate, new_key, release_files
        >>> from anoncore.requirements import KAnonymity
        >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
        >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
        >>> files = release_files(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data), "people", new_key())
        >>> certificate = Certificate.loads(files.pop("people-certificate.json"))
        >>> dossier = Dossier.of_certificate(certificate, files)
        >>> [(level.title, level.text, level.standing) for level in dossier.identifiability.levels]
        [('k-anonymity (k = 2)', '2', 'counted')]
        """
        if certificate.parts is not None or certificate.stored is not None:
            where = "a database" if certificate.stored is not None else "parts"
            raise DataError(
                f"There is no dossier from the certificate of a release in {where}; name its recipe instead."
            )
        answers, tell = answers or Answers(), progress or silent
        _require_columns(answers, [one.name for one in certificate.attributes])
        found = verify(certificate, files, progress=part_of(tell, 0.0, 0.6))
        found = Verification((*found.findings, *findings))
        judgement = None
        if policy is not None:
            judgement = judge_files(policy, certificate, found, lambda asked: verify(asked, files, False))
        tell(0.9, "Writing")
        recipient = "" if policy is None else policy.context.sentence
        not_checked = [claims.CLAIMED.format(sentence) for sentence in certificate.not_checked]
        return cls(
            made=_now(),
            software=__version__,
            basis="certificate",
            released=claims.released(certificate, found, answers, recipient),
            people=claims.people(certificate, found, answers),
            adversaries=claims.adversaries(certificate, found),
            identifiability=claims.identifiability(certificate, found),
            treatment=claims.treatment(certificate, answers),
            reached=claims.reached(found, judgement),
            decisions=treating.decisions(answers, f"{signature.rstrip('.')}.", not_checked),
        )

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 1 where a rule or the certificate fails, 3 where something is only claimed or
        was not measured, else 0.
        """
        policy, outcomes = self.reached.policy, {one.outcome for one in self.reached.statements}
        codes = {0 if policy is None else CODES[policy.status]}
        if self.basis == "certificate":
            codes.add(1 if "fails" in outcomes else 3 if "claimed" in outcomes else 0)
        return next((code for code in (1, 3) if code in codes), 0)

    @property
    def holds_if_unknown(self) -> bool:
        """Whether what was asked holds only over what is known: a column that is published as it is breaks it."""
        return any(one.outcome == "holds over what is known" for one in self.reached.statements)

    def to_html(self) -> str:
        """The dossier as one HTML text, to read and to print: no script, no request, every text escaped.

        Returns
        -------
        str
            The HTML document.

        Raises
        ------
        AnonymizationError
            Where Jinja2 is not installed (the extra `report`).
        """
        return dossier_page(self)

    def to_dict(self) -> dict[str, Any]:
        """The dossier as plain values, as JSON holds them.

        Returns
        -------
        dict of str to object
            What the schema describes.
        """
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """The dossier as JSON text, to keep and to compare.

        Returns
        -------
        str
            The JSON.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def schema(cls) -> dict[str, Any]:  # type: ignore[override]  # pydantic's own, which is deprecated
        """The JSON schema of a dossier.

        Returns
        -------
        dict of str to object
            A schema of the draft 2020-12.

        Examples
        --------
        >>> from anoncore import Dossier
        >>> Dossier.schema()["properties"]["format"]["const"]
        'anoncore-dossier'
        """
        described = cls.model_json_schema(mode="serialization")
        described.pop("description", None)
        return {"$schema": DRAFT, **described, "title": "Dossier of a release by anoncore"}

    def __repr__(self) -> str:
        return f"Dossier of a {self.basis}: {self.reached.verdict}"

    def __str__(self) -> str:
        return repr(self)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _require_columns(answers: Answers, names: Sequence[str]) -> None:
    """Require that answers are about columns that there are. Raises ParameterError for another one."""
    for column in answers.roles_decided_by:
        if column != "*" and column not in names:
            raise ParameterError(f"roles_decided_by: {no_such('column', column, names)}")

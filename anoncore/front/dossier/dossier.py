"""The dossier of a release, made of the release itself or of its certificate and what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Self

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.texts import no_such
from anoncore.base.version import __version__
from anoncore.front.dossier import certified_claims as claims
from anoncore.front.dossier import measured_release as measuring
from anoncore.front.dossier import measured_treatment as treating
from anoncore.front.dossier.dossier_document import DossierDocument
from anoncore.front.dossier.dossier_parts import Considered
from anoncore.front.dossier.measured_identifiability import identifiability
from anoncore.front.dossier.other_draws import OTHER_DRAWS, other_draws
from anoncore.front.policy.policy import Policy
from anoncore.front.policy.published_rules import Verifying, judge_files
from anoncore.front.policy.release_rules import judge_release
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.verification import verify
from anoncore.publishing.signing.signers import NOBODY
from anoncore.recipes.typed_answers import Answers
from anoncore.release.release import Release
from anoncore.search.sweeping import Point
from anoncore.table.microdata import Microdata


@checked_methods
class Dossier(DossierDocument):
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
        considered: Sequence[Point | Considered] = (),
        control: Microdata | None = None,
        draws: int = OTHER_DRAWS,
        progress: Progress | None = None,
        cache: Cache | None = None,
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
        considered : sequence of Point or Considered
            The releases that were considered instead, as `anoncore.search.sweep` measures them with the criteria
            `two-way-error` and `strongest-attribute`; or their names and these two numbers.
        control : Microdata, optional
            People who are not in the release, drawn as those were who are in it; see `Microdata.split`.
        draws : int
            Of a method that draws at random: how many further draws are measured, to say how far their numbers lie
            apart.
        progress : callable, optional
            Called with the share done and a text; it may raise CancelledError to stop.
        cache : callable, optional
            What keeps results of the release that were worked out elsewhere: `cache(name, function, *arguments)` gives
            `function(release, *arguments)`.

        Returns
        -------
        Dossier
            The dossier.

        Raises
        ------
        ParameterError
            For an answer about a column that the table lacks, and for what was considered and is neither.

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
        results = kept_results(release, cache)
        measured = measuring.MeasuredRelease(release, answers, control, part_of(tell, 0.0, 0.7), results)
        recipient = "" if policy is None else policy.context.sentence
        adversaries = measuring.adversaries(measured)
        tell(0.7, "Measuring")
        judgement = None
        if policy is not None:
            judgement = judge_release(
                policy,
                release,
                control=control,
                tables=measured.tables,
                cache=measured.results,
                progress=part_of(tell, 0.7, 0.9),
            )
        tell(0.9, "Writing")
        return cls(
            made=_now(),
            software=__version__,
            basis="release" if release.data.knows_rows else "published",
            released=measuring.released(measured, recipient),
            people=measuring.people(measured),
            adversaries=adversaries,
            identifiability=identifiability(measured, *other_draws(measured, draws)),
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
            For files that cannot be read, and for the certificate of a release in parts or in a database; see
            `of_verification`.
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
        _require_columns(answers or Answers(), [one.name for one in certificate.attributes])
        found = verify(certificate, files, progress=progress)
        found = Verification((*found.findings, *findings))
        return cls.of_verification(
            certificate, found, lambda asked: verify(asked, files, False), policy, answers, signature
        )

    @classmethod
    def of_verification(
        cls,
        certificate: Certificate,
        found: Verification,
        verifying: Verifying,
        policy: Policy | None = None,
        answers: Answers | None = None,
        signature: str = NOBODY,
    ) -> Self:
        """The dossier of a certified release that was checked already, wherever it lies: files, parts, or a database.

        Parameters
        ----------
        certificate : Certificate
            What was certified.
        found : Verification
            How it came out in what is published, such as `verify_folder` or `verify_stored` finds it.
        verifying : callable
            Checks another certificate by the same published tables, by which a policy is judged.
        policy : Policy, optional
            The rules that are put to the published tables.
        answers : Answers, optional
            What only people know; what is not given stays empty.
        signature : str
            Who signed the certificate, in words, such as `signed_by` finds it.

        Returns
        -------
        Dossier
            The dossier.

        Raises
        ------
        ParameterError
            For an answer about a column that the certificate does not name.

        Examples
        --------
        >>> from anoncore import Dossier
        >>> from anoncore.publishing import Certificate, verify_folder
        >>> certificate = Certificate.load("release/certificate.json")  # doctest: +SKIP
        >>> found = verify_folder("release", certificate)  # doctest: +SKIP
        >>> again = lambda asked: verify_folder("release", asked, hashes=False)
        >>> dossier = Dossier.of_verification(certificate, found, again)  # doctest: +SKIP
        """
        answers = answers or Answers()
        _require_columns(answers, [one.name for one in certificate.attributes])
        judgement = None if policy is None else judge_files(policy, certificate, found, verifying)
        recipient = "" if policy is None else policy.context.sentence
        not_checked = [claims.CLAIMED.format(sentence) for sentence in certificate.not_checked]
        return cls(
            made=_now(),
            software=__version__,
            basis="certificate",
            released=claims.released(certificate, found, answers, recipient),
            people=claims.people(certificate, answers),
            adversaries=claims.adversaries(certificate, found),
            identifiability=claims.identifiability(certificate, found),
            treatment=claims.treatment(certificate, answers),
            reached=claims.reached(found, judgement),
            decisions=treating.decisions(answers, f"{signature.rstrip('.')}.", not_checked),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _require_columns(answers: Answers, names: Sequence[str]) -> None:
    """Require that answers are about columns that there are. Raises ParameterError for another one."""
    for column in answers.roles_decided_by:
        if column != "*" and column not in names:
            raise ParameterError(f"roles_decided_by: {no_such('column', column, names)}")

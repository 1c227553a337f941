"""The first three sections of a dossier, measured of a release with its original table at hand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import pandas as pd

from anoncore import attacks
from anoncore.attacks.reidentification import DEFINITIONS
from anoncore.attacks.strongest import Strongest
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.progress import Progress
from anoncore.base.score import Score
from anoncore.base.shared_work import Cache
from anoncore.base.texts import is_missing, share_text, value_text
from anoncore.front.dossier.dossier_parts import (
    Adversaries,
    Attack,
    Column,
    Figure,
    Finder,
    NotTried,
    People,
    Released,
    TableOfRelease,
)
from anoncore.kernels.arrays import record
from anoncore.measures.criteria import BREACH_R
from anoncore.measures.verdict import Verdict, verdict
from anoncore.publishing.certification.certifying import content_hash
from anoncore.publishing.report.subject import attributes_told, parameter_text, parameters_of
from anoncore.recipes.typed_answers import Answers
from anoncore.release.release import Release, ReleaseMethod
from anoncore.table.microdata import Microdata

WITHHELD = "(withheld)"
"""What stands for a value that is not published."""
IN_QUOTES = re.compile(r"""(?<!\w)'([^']*)'(?!\w)|"([^"]*)\"""")
"""What a message quotes; messages write every value in quotes."""


@dataclass(frozen=True)
class AllowedTexts:
    """What may be quoted of a release: names of its columns and tables, and cells of its published tables.

    Attributes
    ----------
    names : frozenset of str
        Names of columns and tables.
    published : frozenset of str
        Texts of the published cells.
    unpublished : frozenset of str
        Texts of the cells of the original that are not published.
    """

    names: frozenset[str]
    published: frozenset[str]
    unpublished: frozenset[str]

    @classmethod
    def of(cls, release: Release, tables: Mapping[str, pd.DataFrame]) -> AllowedTexts:
        """What may be quoted of a release, whose published tables are given by name."""
        data = release.data
        published = {text for table in tables.values() for name in table.columns for text in _cells(table[name])}
        original = {text for name in data.frame.columns for text in _cells(data.frame[name])}
        columns = [*map(str, data.frame.columns), *data.roles, *data.left_out]
        names = {*columns, *tables, *(str(name) for table in tables.values() for name in table.columns)}
        return cls(frozenset(names), frozenset(published), frozenset(original - published - names))

    def sentence(self, text: str) -> str:
        """A measured sentence, in which whatever it quotes beside names and published cells is withheld."""

        def said(found: re.Match[str]) -> str:
            inside = found[1] if found[1] is not None else found[2]
            is_allowed = inside in self.names or inside in self.published
            return found[0] if is_allowed else WITHHELD

        return IN_QUOTES.sub(said, text)

    def parameters(self, method: ReleaseMethod | None) -> Iterator[tuple[str, str]]:
        """Title and value of every parameter of a method but its seed; withheld where it holds an unpublished value."""
        if method is None:
            return
        values = method.to_dict(complete=True)
        titles = {info.title or name: name for name, info in type(method).model_fields.items()}
        for title, text, _about in parameters_of(method):
            is_hidden = self._holds_unpublished(values.get(titles[title]))
            yield title, WITHHELD if is_hidden else text

    def method(self, method: ReleaseMethod) -> str:
        """A method with its levels in a line, such as a release that was considered; its title where values stand."""
        if self._holds_unpublished([value for name, value in method.to_dict(complete=True).items() if name != "name"]):
            return method.title
        return ", ".join([method.title, *self._settings(method)])

    def _settings(self, method: ReleaseMethod) -> Iterator[str]:
        """What is asked of a method, and what of it is set otherwise than by default."""
        if requirements := getattr(method, "requirements", ()):
            yield parameter_text(requirements)
        for name, info in type(method).model_fields.items():
            value = getattr(method, name)
            is_usual = not info.is_required() and value == info.get_default(call_default_factory=True)
            if name not in ("seed", "requirements") and not is_usual:
                yield f"{info.title or name} = {parameter_text(value)}"

    def _holds_unpublished(self, value: Any) -> bool:
        return not self.unpublished.isdisjoint(_texts(value))


def _cells(column: pd.Series) -> Iterator[str]:
    """The texts of the different cells of a column."""
    return (value_text(value) for value in column.drop_duplicates() if not is_missing(value))


def _texts(value: Any) -> Collection[str]:
    """Every text inside plain values."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for name, inside in value.items() for text in (str(name), *_texts(inside))]
    if isinstance(value, list | tuple):
        return [text for inside in value for text in _texts(inside)]
    return []


NOT_KNOWN = "The method that made the release is not known."
NO_CONTROL = "No people who are not in the release were at hand as a control group."
ADVICE = re.compile("; (give|use) .*")
"""How the part of a message begins that says what to call next, which is no matter of a dossier."""


@record
class MeasuredRelease:
    """A release and what is measured of it, each once: `results` keeps what measures give."""

    release: Release
    answers: Answers
    control: Microdata | None
    progress: Progress
    results: Cache

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The published tables by name."""
        return self.release.pandas_tables()

    @cached_property
    def allowed(self) -> AllowedTexts:
        """What may be quoted."""
        return AllowedTexts.of(self.release, self.tables)

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive attributes that are published."""
        return tuple(name for name in self.release.data.sensitive if name in self.release.attributes)

    def say(self, text: str) -> str:
        """A measured text in the words of the table, without a value that is not published."""
        return self.allowed.sentence(self.release.data.in_words(text))

    def figure(self, score: Score, attribute: str | None = None) -> Figure:
        """A score as a number of the dossier."""
        value = float(score)
        about: dict[str, Any] = {
            "name": score.name,
            "title": self.say(score.title),
            "attribute": attribute,
            "meaning": self.say(score.meaning),
        }
        if value != value:
            return Figure(**about, standing="not measured", reason="it is not defined for this release")
        beside = "" if score.baseline is None else _text(score, float(score.baseline))
        known = value if isfinite(value) else None
        return Figure(**about, value=known, text=_text(score, value), beside=beside, standing="measured")

    @cached_property
    def strongest(self) -> tuple[Strongest, ...]:
        """Every attack on every secret that is published."""
        return tuple(self._attacked(name) for name in self.secrets)

    def _attacked(self, attribute: str) -> Strongest:
        return attacks.strongest(
            self.release,
            attribute,
            BREACH_R,
            control=self.control,
            foreground=self._foreground(attribute),
            progress=self.progress,
        )

    def _foreground(self, attribute: str) -> Any:
        """The attack by foreground knowledge, which others need as well; None where it does not apply."""
        try:
            return self.results("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R)
        except CancelledError:
            raise
        except AnonymizationError:
            return None

    @cached_property
    def verdict(self) -> Verdict:
        """What was asked and holds or not, and what nobody asked for and fails badly."""
        attacked = () if self.release.is_synthetic else map(self._foreground, self.secrets)
        excesses = [float(attack.excess) for attack in attacked if attack is not None and attack.learned]
        return verdict(self.release, cache=self.results, foreground=max(excesses, default=None))


def _text(score: Score, value: float) -> str:
    if not isfinite(value):
        return "infinite"
    return share_text(value) if score.entry.form == "share" else score.entry.text(value)


def released(measured: MeasuredRelease, recipient: str) -> Released:
    """Section 1, of a release whose tables are at hand."""
    answers = measured.answers
    tables = [
        TableOfRelease(name=name, columns=[*map(str, table.columns)], rows=len(table))
        for name, table in measured.tables.items()
    ]
    return Released(
        title=answers.title,
        purpose=answers.purpose,
        recipients=answers.recipients,
        policy_recipient=recipient,
        duration=answers.duration,
        controls=[*answers.controls],
        tables=tables,
        files=[],
        sha256=content_hash(measured.release),
        standing="measured",
    )


def people(measured: MeasuredRelease) -> People:
    """Section 2."""
    release, data, answers = measured.release, measured.release.data, measured.answers
    columns = [
        Column(name=name, role=role, treatment=told, decided_by=answers.decided_by(name))
        for name, role, told in attributes_told(release)
    ]
    published = {*release.attributes}
    return People(
        rows=data.n_rows if data.knows_rows else None,
        people=data.n_people if data.people_word == "people" and data.knows_rows else None,
        counted=measured.allowed.sentence(data.unit_note),
        population=answers.population,
        sampling=answers.sampling,
        columns=columns,
        left_out=[one.name for one in columns if one.name not in published],
        as_it_is=[name for name in data.insensitive if name in published],
        gives_away=[measured.say(text) for text in measured.verdict.decided],
        standing="measured",
    )


def adversaries(measured: MeasuredRelease) -> Adversaries:
    """Section 3."""
    release = measured.release
    lines, not_tried = [], []
    for found in () if release.is_synthetic else measured.strongest:
        best = {id(one) for one in (found.identity, found.attribute, found.membership) if one is not None}
        for one in found.tried:
            lines.append(
                Attack(
                    attribute=found.attribute_name,
                    aim=one.aim,
                    name=one.name,
                    title=one.title,
                    share=one.share,
                    measured=release.data.in_words(one.measured),
                    control=one.control,
                    compared_with=release.data.in_words(one.compared_with),
                    gain=float(one.gain),
                    is_strongest=id(one) in best,
                    standing="measured",
                )
            )
        for name, reason in found.not_tried.items():
            told, attack = measured.say(ADVICE.sub(".", reason)), name.replace("_", " ")
            not_tried.append(NotTried(attribute=found.attribute_name, name=attack, reason=told))
    if release.is_synthetic or not measured.secrets:
        reason = "the rows of this table are nobody's" if release.is_synthetic else "no published column is a secret"
        not_tried.append(NotTried(attribute=None, name="every attack on secrets", reason=reason))
    algorithm = release.algorithm
    return Adversaries(
        finders=[*_finders(measured)],
        attacks=lines,
        not_tried=not_tried,
        known_method=NOT_KNOWN if algorithm is None else measured.say(algorithm.minimality_here.text).replace("`", "'"),
        earlier=[],
        notes=[*_risk_notes(measured)],
        control=NO_CONTROL
        if measured.control is None
        else f"{measured.control.n_rows:,} rows of people who are not in the release were the control group.",
    )


def _finders(measured: MeasuredRelease) -> Iterator[Finder]:
    """Who looks for people: the prosecutor, the journalist and the marketer."""
    definitions = DEFINITIONS
    try:
        risk = measured.results("attacks.reidentification", attacks.reidentification)
    except AnonymizationError as error:
        for name, knows in definitions.items():
            reason = measured.say(str(error))
            yield Finder(adversary=name, knows=measured.say(knows), standing="not measured", reason=reason)
        return
    for one in (risk.prosecutor, risk.journalist, risk.marketer):
        yield Finder(
            adversary=one.model,
            knows=measured.say(one.definition),
            largest=float(one.largest),
            mean=float(one.mean),
            guess=None if one.mean.baseline is None else float(one.mean.baseline),
            standing="measured",
        )


def _risk_notes(measured: MeasuredRelease) -> Iterator[str]:
    """What has to be known of the chances to be found."""
    try:
        risk = measured.results("attacks.reidentification", attacks.reidentification)
    except AnonymizationError:  # each adversary says why
        return
    yield from (measured.say(note) for note in risk.notes)


def names_of(data: Microdata) -> Sequence[str]:
    """Every column of a table, also those that are in no release."""
    return [*data.roles, *data.left_out]

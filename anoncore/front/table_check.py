"""What a table gives away as it is: its numbers, and whether what is required of it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from anoncore.attacks.strongest import Strongest
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, ReleaseError
from anoncore.base.showing import Lines, Result, Shown, clean, names_text, printable
from anoncore.base.texts import counted, listing, value_text
from anoncore.front.policy.judgement import Judgement
from anoncore.kernels.arrays import record
from anoncore.measures.verdict import Verdict, over_what_is_known
from anoncore.release.release import Release

SHOWN_COLUMNS = 8
"""Columns by which a group is named."""


@record
class CheckedNumber(Shown):
    """One number of a table with what it means, and the known values of the group in which it is reached."""

    name: str
    title: str
    attribute: str | None
    value: float
    text: str
    baseline: float | None
    sentence: str
    group: dict[str, Any] | None = None
    unit: str = field(default="", repr=False)

    @property
    def label(self) -> str:
        """What it is, and of which attribute."""
        return self.title if self.attribute is None else f"{self.title} of '{clean(self.attribute)}'"

    def _headline(self) -> str:
        return f"{self.label}: {self.text}"

    def _lines(self) -> Lines:
        return [("meaning", self.sentence)]


@record
class CheckedRequirement(Shown):
    """Whether a requirement holds on one attribute, in how many groups it does not, and the worst of them."""

    requirement: str
    attribute: str | None
    holds: bool
    level: float
    failing_groups: int
    failing_rows: int
    group: dict[str, Any]
    sentence: str

    def _headline(self) -> str:
        return f"{self.requirement} {'holds' if self.holds else 'fails'}"

    def _lines(self) -> Lines:
        return [("failing", f"{counted(self.failing_groups, 'group')} with {counted(self.failing_rows, 'row')}")]


@checked_methods
@record
class TableCheck(Result):
    """What a table gives away as it is: its numbers, and whether what was required of it holds.

    Attributes
    ----------
    release : Release
        The table as if it was published as it is. Every measure and attack takes it.
    numbers : tuple of CheckedNumber
        Every number with its sentence and, for a level, the group in which it is reached.
    requirements : tuple of CheckedRequirement
        What was required, on each attribute that it is about, whether it holds and which group is worst.
    verdict : Verdict
        What holds and what fails badly, also for readers who know columns that were named neither known nor secret.
    attacks : tuple of Strongest
        All attacks that apply, for each secret; empty where they were not asked for.
    notes : tuple of str
        What should be known of how it was counted.
    judgement : Judgement or None
        What the policy says of it; None where none was asked for.

    Examples
    --------
    Whoever is 60 is alone, and both who are 44 have gout:

    >>> import anoncore
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [21, 21, 44, 44, 60], "disease": ["flu", "cold", "gout", "gout", "flu"]})
    >>> checked = anoncore.check(people, known="age", secret="disease")
    >>> checked.k, checked.l, round(checked.t, 2), checked.unique
    (1, 1, 0.6, 1)
    >>> checked.number("distinct-l").group
    {'age': 44}
    >>> print(checked.frame().head(3).to_string(index=False))
              name  value  baseline   unit
       unique-rows    1.0       NaN   rows
                 k    1.0       5.0   rows
             k-all    1.0       NaN   rows
    """

    release: Release
    numbers: tuple[CheckedNumber, ...]
    requirements: tuple[CheckedRequirement, ...]
    verdict: Verdict
    attacks: tuple[Strongest, ...] = ()
    notes: tuple[str, ...] = ()
    judgement: Judgement | None = None

    @property
    def k(self) -> int:
        """People of the smallest group that shares all known values."""
        return int(self.number("k").value)

    @property
    def k_all(self) -> int:
        """The same for those who know all columns of a person but the secrets and the identifiers."""
        return int(self.number("k-all").value)

    @property
    def unique(self) -> int:
        """Rows of people whom nobody else equals in the known columns."""
        return int(self.number("unique-rows").value)

    @property
    def l(self) -> int | None:  # noqa: E743  # the field's own name for diversity
        """Fewest different values of a secret in any group, of the secret with fewest; None without a secret."""
        levels = [self.number("distinct-l", name).value for name in self._secrets]
        return int(min(levels)) if levels else None

    @property
    def t(self) -> float | None:
        """Largest distance of any group from the table, of the secret with the largest; None without a secret.

        Numbers and ordered values are compared in steps along their order, all others as equal or not.
        """
        data = self.release.data
        return max((self.number(f"t-{data.domain[name].ground}", name).value for name in self._secrets), default=None)

    @property
    def holds(self) -> bool:
        """Whether everything that was required holds over the known columns.

        `verdict` names the other columns that undo it for readers who know them, and `k_all` counts those as known.
        """
        return all(required.holds for required in self.requirements)

    @property
    def _secrets(self) -> tuple[str, ...]:
        return self.release.data.sensitive

    def number(self, name: str, attribute: str | None = None) -> CheckedNumber:
        """One of the numbers.

        Parameters
        ----------
        name : str
            Its name, such as `k`, `distinct-l` or `reidentified-largest`.
        attribute : str, optional
            The secret that it is about; by default the first.

        Returns
        -------
        CheckedNumber
            The number.

        Raises
        ------
        ReleaseError
            Where there is none of that name, as of groups of people in a synthetic table.
        """
        for number in self.numbers:
            if number.name == name and attribute in (None, number.attribute):
                return number
        of = "" if attribute is None else f" of '{attribute}'"
        known = listing(list(dict.fromkeys(number.name for number in self.numbers)), 40)
        why = ", whose rows are nobody's" if self.release.is_synthetic else ""
        raise ReleaseError(f"There is no number {name!r}{of} of this table{why}; there is {known}.")

    def sentences(self, table: str = "The table", original: str = "the original") -> tuple[str, ...]:
        """Everything in sentences, as `anoncore check` prints it; they tell the values of the worst groups.

        Parameters
        ----------
        table, original : str
            What the table, and the one that a synthetic table was made of, is called.

        Returns
        -------
        tuple of str
            The verdict first.
        """
        return tuple(self._sentences(clean(table), clean(original)))

    def _sentences(self, table: str, original: str) -> Iterator[str]:
        release, data = self.release, self.release.data
        if release.is_synthetic:
            yield f"{table}: {release.table_size}, compared with the {data.n_rows:,} rows of {original}"
            yield from (f"  {printable(note)}" for note in self.notes)
        else:
            yield printable(self.verdict.headline)
            yield f"{table}: {release.table_size}, judged as they are"
        for title, names in (
            ("Known to others", data.quasi_identifiers),
            ("Nobody must learn", data.sensitive),
            ("Left out, because they name people: do not publish", data.identifiers),
            ("Published, and taken for neither known nor secret", data.insensitive),
        ):
            if names:
                yield f"  {title}: {', '.join(clean(name) for name in names)}"
        before: dict[str, Any] | None = None
        for number in self.numbers:
            of = f" of '{clean(number.attribute)}'" if number.attribute is not None else ""
            where = ""
            if number.group is not None:
                again = number.group == before
                where = " In the same group." if again else f" In the group with {group_text(number.group)}."
                before = number.group
            yield f"{data.in_words(number.title)}{of}: {number.text}"
            yield f"  {data.in_words(printable(number.sentence))}{where}"
        for measured in self.attacks:
            first, *rest = map(data.in_words, measured.sentences)
            yield first
            yield from (f"  {line}" for line in rest)
        for required in self.requirements:
            sentence = over_what_is_known(required.sentence) if self.verdict.breaking else required.sentence
            yield f"Required: {printable(sentence)}"

    def _headline(self) -> str:
        known = names_text(self.release.data.quasi_identifiers)
        return f"TableCheck: {self.release.table_size}, of which others know {known}"

    def _lines(self) -> Lines:
        over = " over what is known" if self.verdict.breaking else ""
        asked = [(f"{required._headline()}{over if required.holds else ''}", "") for required in self.requirements]
        breaking = [(printable(self.verdict.breaking), "")] if self.verdict.breaking else []
        return [*asked, *breaking, *((number.label, number.text) for number in self.numbers)]

    def _numbers(self) -> Iterator[tuple[str, float, float | None, str]]:
        for number in self.numbers:
            name = number.name if number.attribute is None else f"{number.attribute}.{number.name}"
            yield name, number.value, number.baseline, number.unit


class UnmetRequirementError(AnonymizationError):
    """A table as it is does not keep what was required of it.

    Parameters
    ----------
    message : str
        What was required, what is reached and in which group, and what to do.
    check : TableCheck
        All that was counted.

    Examples
    --------
    >>> import anoncore
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [21, 21, 60], "disease": ["flu", "cold", "flu"]})
    >>> try:
    ...     anoncore.check(people, known="age", secret="disease", require="k=2")
    ... except anoncore.UnmetRequirementError as error:
    ...     print(error)
    k-anonymity (k = 2) fails in 1 of 2 groups (1 of 3 rows): the group with age = 60 (1 row) has size 1, and at least 2
    is asked. anoncore.anonymize makes a release of the table in which it holds.
    """

    def __init__(self, message: str, check: TableCheck) -> None:
        super().__init__(message)
        self.check = check

    def __reduce__(self) -> tuple[type[UnmetRequirementError], tuple[str, TableCheck]]:
        """What makes a copy, so that processes can pass it on."""
        return type(self), (str(self), self.check)


def group_text(values: dict[str, Any]) -> str:
    """The known values that a group shares, in words."""
    shown = [
        f"{clean(name)} = {'missing' if value is None else clean(value_text(value))}"
        for name, value in list(values.items())[:SHOWN_COLUMNS]
    ]
    rest = len(values) - len(shown)
    return ", ".join([*shown, *([f"and {rest} more columns"] if rest else [])])

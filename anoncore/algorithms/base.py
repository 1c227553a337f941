"""What an algorithm is: checked fields, one method that makes a release, and a final check of what it promises."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, Field, SerializeAsAny

from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.joined_groups import as_read, with_joined_groups
from anoncore.base.errors import AnonymizationError, DataError, InfeasibleError, ParameterError
from anoncore.base.model import Registry, TupleOf
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Codes
from anoncore.privacy.guarantees import PersonalGuarantee, broken
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted, Exact, Generalized, Recoding
from anoncore.release.release import Fragment, Release, ReleaseMethod
from anoncore.requirements import REQUIREMENTS, CheckSet, Comparison, KAnonymity, Requirement
from anoncore.requirements.worth import protects
from anoncore.table.microdata import Microdata


def _decode(values: Any) -> Any:
    if isinstance(values, Requirement):
        return (values,)
    if isinstance(values, list | tuple):
        return tuple(REQUIREMENTS.build(value) if isinstance(value, dict) else value for value in values)
    return values


Requirements = Annotated[
    TupleOf[SerializeAsAny[Requirement]],
    BeforeValidator(_decode),
    Field(title="Requirements", description="Conditions that every group must satisfy, all at once."),
]

Seed = Annotated[
    int | None,
    Field(ge=0, title="Seed", description="Makes the run repeatable; leave empty for a release that is published."),
]


ClassSize = Annotated[int, Field(ge=1, title="k", description="Fewest rows in a group.")]
MostSuppressed = Annotated[
    float, Field(ge=0, lt=1, title="Most suppressed", description="Share of the rows that may be suppressed.")
]


class Algorithm(ReleaseMethod):
    """A method that turns a table into a release, with its parameters as checked fields.

    All algorithms are used alike: `anonymize` makes a release and checks what it promises. A subclass makes the release
    in `_release` and says in `promises` what holds for all its releases.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import ALGORITHMS, Algorithm
    >>> algorithm = ALGORITHMS.build({"name": "mondrian", "requirements": [{"name": "k-anonymity", "k": 2}]})
    >>> isinstance(algorithm, Algorithm), algorithm.title, algorithm.family
    (True, 'Mondrian', 'generalization')
    >>> data = Microdata(pd.DataFrame({"age": [21, 22, 44, 46]}), roles={"age": "quasi-identifier"})
    >>> algorithm.anonymize(data).partition.sizes.tolist()
    [2, 2]
    """

    grouping_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that `proposed_groups` depends on."""
    extra: ClassVar[str] = ""
    """The optional extra of the package that it needs, such as `dp`; empty for one that runs everywhere."""
    counts_rows: ClassVar[str] = ""
    """Why the method can only count rows, where one person may have several; empty for one that counts people."""

    def anonymize(self, data: Microdata, progress: Progress | None = None) -> Release:
        """Make a release of the table that keeps every promise, which is checked on what is published.

        Parameters
        ----------
        data : Microdata
            The tagged table. It is not changed.
        progress : callable, optional
            Called with the share done, from 0 to 1, and what is being done. It may raise CancelledError to stop.

        Returns
        -------
        Release
            What may be published.

        Raises
        ------
        DataError
            Where the table lacks a role that the method needs.
        InfeasibleError
            Where no release of this table can keep the promises, or the method finds none that counts people.
        CancelledError
            Where `progress` raises it.
        AnonymizationError
            Where the finished release breaks a promise, which is a fault of the method.
        """
        report = progress if progress is not None else silent
        report(0.0, "Starting")
        self.require_countable(data)
        self.validate_data(data)
        asked = getattr(self, "requirements", ())
        searched = tuple(requirement for requirement in asked if requirement.counts_alone)
        method = self if len(searched) == len(asked) else self.replace(requirements=searched)
        release = method._release(data, report)
        release = release if method is self else replace(release, algorithm=self)
        report(0.95, "Checking the release")
        promises = self.promises(data)
        # Groups that a reader takes for one keep a monotone requirement together; any other is checked on what is read.
        joinable = data.people is not None or not all(promise.is_monotone(data) for promise in promises)
        release = as_read(release) if joinable else release
        failing = broken(release, promises)
        if failing and joinable:
            release = with_joined_groups(release, promises)
            failing = broken(release, promises)
        if failing:
            raise AnonymizationError(f"{self.title} broke its promise: {failing[0].sentence}")
        report(1.0, "Done")
        notes = tuple(note for note in (data.unit_note, data.preparation_note) if note)
        return replace(release, notes=(*release.notes, *notes)) if notes else release

    @classmethod
    def why_unavailable(cls) -> str:
        """Why the method cannot run here, with the command that helps; empty where it can."""
        return ""

    @abstractmethod
    def _release(self, data: Microdata, progress: Progress) -> Release:
        """Make the release."""

    @abstractmethod
    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements that every release of this algorithm satisfies."""

    def validate_data(self, data: Microdata) -> None:
        """Raise an error where the table cannot be anonymized in this way; fast enough to ask at every edit of a form.

        Parameters
        ----------
        data : Microdata
            The tagged table.

        Raises
        ------
        DataError
            Where the table lacks a role that the method needs.
        InfeasibleError
            Where no release of this table can keep the promises.
        """
        self.require_countable(data)
        data.require_quasi_identifiers()
        require_feasible(self.promises(data), data)

    def require_countable(self, data: Microdata) -> None:
        """Raise DataError where one person may have several rows and the method can only count rows.

        Parameters
        ----------
        data : Microdata
            The tagged table.

        Raises
        ------
        DataError
            Where the table has a unit and `counts_rows` says why the method cannot count people.
        """
        if data.people is not None and self.counts_rows:
            raise DataError(
                f"{self.title} cannot count people: {self.counts_rows}. '{data.unit}' says that {data.n_rows:,} rows "
                f"are those of {data.n_people:,} people; choose another method, such as Mondrian, or keep one row of "
                "each person."
            )

    def outline(self, data: Microdata) -> Release | None:
        """A release made quickly whose groups have the sizes and the sensitive values that those of the method have.

        Parameters
        ----------
        data : Microdata
            The tagged table.

        Returns
        -------
        Release or None
            The release, in which other people may be in a group; None where the method has no quicker way.

        Raises
        ------
        AnonymizationError
            Where the method raises it.
        """
        return None

    def personal_guarantees(self, release: Release) -> tuple[PersonalGuarantee, ...]:
        """What it promises about people rather than groups, measured in its release (see `privacy`)."""
        return ()

    def proposed_groups(self, data: Microdata) -> AttributeProposal | None:
        """The groups of attributes that the method chooses by itself, also where others are given by hand.

        Parameters
        ----------
        data : Microdata
            The tagged table.

        Returns
        -------
        AttributeProposal or None
            The groups and the association between attributes that they follow; None for a method that chooses none.

        Raises
        ------
        DataError
            Where the table does not allow any.
        """
        return None


class ByRequirements(Algorithm):
    """An algorithm that promises what it is asked for, in every group; also in one of suppressed rows."""

    requirements: Requirements = (KAnonymity(k=5),)

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements."""
        return tuple(self.requirements)


ALGORITHMS: Registry[Algorithm] = Registry("algorithm", Algorithm)  # type: ignore[type-abstract]
"""Every algorithm, by its name in recipes and on the command line, e.g. `mondrian`."""


def _built(value: Any) -> Any:
    return ALGORITHMS.build(value) if isinstance(value, dict) else value


AS_METHOD = BeforeValidator(_built)
"""For a field that is a method of its own: recipes write it as a table of its fields."""


def require_groups(method: Algorithm) -> None:
    """Raise DataError for a method inside another one whose requirements are not about groups with its parameters."""
    if not method.judged_by_groups:
        raise DataError(
            f"{method.title} asks nothing of groups with these parameters, so no other method can rely on it; let it "
            "count a suppressed cell as a value of its own, or choose another method."
        )


def require_feasible(requirements: Sequence[Requirement], data: Microdata) -> None:
    """Raise InfeasibleError for a requirement that even the whole table as one group fails.

    Where a requirement is monotone under merging, the whole table bounds what any partition can reach.
    """
    for condition in CheckSet([one for one in requirements if one.counts_alone], data).checks:
        level = condition.table_level(data.n_rows)
        requirement = condition.requirement
        if not requirement.is_monotone(data) or condition.holds(np.array([level]))[0]:
            continue
        value = f"{requirement.parameter} = {requirement.threshold:.12g}"
        reached = requirement.reached_text(level, f"{level:.6g}", condition.attribute)
        advice, nearest = _advice(requirement, level)
        raise InfeasibleError(
            f"{value} is not possible: the whole table as one group has {reached}, and no split improves that for "
            f"every group; {advice} ({requirement.title}).",
            nearest=nearest,
        )


def _advice(requirement: Requirement, level: float) -> tuple[str, float | None]:
    """What to choose instead, in words, and the nearest value that the whole table satisfies, where there is one."""
    name = requirement.parameter
    if requirement.comparison is not Comparison.BELOW:
        nearest = _rounded_down(level)
        if not _protects(requirement, nearest):
            return f"no {name} that protects anybody is possible, so choose another requirement or attribute", None
        return f"choose {name} at most {nearest:.12g}", nearest
    if np.isinf(level):
        return f"no {name} is large enough, as too few different values occur; choose a smaller l", None
    nearest = _rounded_down(level, steps_up=1)
    if not _protects(requirement, nearest):
        return f"no {name} that protects anybody is possible, so choose another requirement or attribute", None
    return f"choose {name} more than {level:.6g}", nearest


def _protects(requirement: Requirement, value: float) -> bool:
    """Whether the requirement keeps anything from an adversary at another value; not where it does not take it."""
    try:
        return protects(requirement.replace(**{requirement.parameter: value}))
    except ParameterError:
        return False


def _rounded_down(level: float, steps_up: int = 0) -> float:
    """The level rounded down to four digits, whole numbers as they are, and then raised by so many units of the last
    digit.
    """
    if level == int(level) and steps_up == 0:
        return int(level)
    digits = 3 - floor(log10(abs(level)))
    return round((floor(level * 10.0**digits) + steps_up) / 10.0**digits, max(digits, 0))


def generalized_release(
    algorithm: Algorithm | None,
    data: Microdata,
    partition: Partition,
    notes: tuple[str, ...] = (),
    recodings: Mapping[str, Recoding] | None = None,
    suppressed_group: int | None = None,
) -> Release:
    """A release of one fragment: quasi-identifiers by the tightest region of each group's rows, all other attributes
    exact, but for those of which `recodings` are given. Without an algorithm, nobody says how the groups were made.
    """
    known, given = set(data.quasi_identifiers), recodings or {}
    every = {
        name: given[name]
        if name in given
        else Generalized.of_rows(data.domain[name], partition, data.codes[name])
        if name in known
        else Exact(data.domain[name], partition, data.codes[name])
        for name in data.attributes
    }
    return Release(data, (Fragment("release", partition, every),), algorithm, notes, suppressed_group)


def changed_release(
    algorithm: Algorithm, data: Microdata, changed: Mapping[str, Codes], notes: tuple[str, ...]
) -> Release:
    """A release of one fragment, some attributes of which have other values, int32 (n_rows,) each; its classes are the
    rows that are alike in the quasi-identifiers.
    """
    partition = Partition.alike([changed.get(name, data.codes[name]) for name in data.quasi_identifiers])
    recodings = {
        name: Distorted(data.domain[name], partition, changed[name], data.codes[name])
        if name in changed
        else Exact(data.domain[name], partition, data.codes[name])
        for name in data.attributes
    }
    return Release(data, (Fragment("release", partition, recodings),), algorithm, notes)

"""What there is to compile, in the order in which newcomers need it: each task does the real work on a small table.

Which tasks are done on this machine for these sources, an empty file says for each beside the compiled code.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

import numpy as np

from anoncore.base.errors import AnonymizationError
from anoncore.kernels.compiled_code import folder_of_all

if TYPE_CHECKING:
    from anoncore.release.release import Release
    from anoncore.table.microdata import Microdata

FIRST_METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal")
"""The methods that a newcomer sees first; they come before all others, in this order."""
LEVELS: Mapping[str, float] = {"k": 10, "l": 3, "t": 0.3}
"""What these methods are asked to keep."""
QUICK_MEASURES = (
    "privacy.guarantees",
    "privacy.personal_guarantees",
    "privacy.profile",
    "privacy.emd",
    "utility.two_way_error",
    "utility.information_loss",
    "attacks.attribute_disclosure",
    "attacks.reidentification",
)
"""The numbers that stand beside every release."""
SLOW_MEASURES = ("attacks.foreground_knowledge", "utility.classification")
"""The numbers of the first methods that take longer."""
MORE_CHOICES: tuple[Mapping[str, Any], ...] = (
    {"refine": True, "search_steps": 1},
    {"memory_rows": 50, "sample_rows": 40},
)
"""Parameters that are set together for methods that have them: one searches on, one takes the table for larger than
memory.
"""
N_ROWS = 300
MOST_CHECKED = 200
"""Combinations of levels that Optimal recoding checks here; with its own limit a choice takes ten seconds."""
FEW_ROWS = 120
"""Rows for the choices, some of which search long where there are more."""
EVERYTHING = "everything"
"""The name of what is done when all tasks are, so that nobody needs their list to know."""


class Task(NamedTuple):
    """One piece of the work. Its name, without spaces, is that of the file that says that it is done."""

    name: str
    title: str
    run: Callable[[], None]


def tasks() -> tuple[Task, ...]:
    """All tasks, the most urgent first."""
    from anoncore.algorithms import ALGORITHMS
    from anoncore.measures.evaluation import MEASURES

    first = [name for name in FIRST_METHODS if name in ALGORITHMS]
    # What an extra brings is compiled by itself, if it is there at all.
    later = [name for name in ALGORITHMS if name not in first and not ALGORITHMS[name].extra]
    found = [Task("pages", "What pages ask before there is a release", _look)]
    for name in first:
        found.append(Task(f"make-{name}", ALGORITHMS[name].title, partial(_make, name)))
    for name in first:
        found.append(Task(f"judge-{name}", f"{ALGORITHMS[name].title}: its numbers", partial(_judge, name)))
    # What the first release needs comes right after the second method, which another process can make meanwhile.
    found.insert(3, found.pop(len(first) + 1))
    slow = [
        Task(f"{_slug(one)}-{name}", f"{ALGORITHMS[name].title}: {_spoken(one)}", partial(_measure, name, one))
        for name in first
        for one in SLOW_MEASURES
    ]
    # What the first method needs of them takes most of a minute, and then the others hardly anything. Meanwhile another
    # process makes all other methods.
    found += slow[: len(SLOW_MEASURES)]
    found += [Task(f"make-{name}", ALGORITHMS[name].title, partial(_make, name)) for name in later]
    found += slow[len(SLOW_MEASURES) :]
    for measure in MEASURES:
        found.append(Task(_slug(measure), _spoken(measure), partial(_measure_all, measure)))
    found.append(Task("least-loss", "The least loss that is possible", _bound))
    for name in (*first, *later):
        found.append(
            Task(f"people-{name}", f"{ALGORITHMS[name].title}: people with several rows", partial(_people, name))
        )
    for name in (*first, *later):
        found.append(Task(f"choices-{name}", f"{ALGORITHMS[name].title}: its other choices", partial(_choices, name)))
    return tuple(found)


def run_task(task: Task) -> str:
    """Do a task and remember that it is done; what went wrong, or nothing.

    A task that fails is not tried again: what it would have compiled is compiled when somebody needs it.
    """
    problem = ""
    try:
        task.run()
    except AnonymizationError:
        # A method that cannot do it on so small a table has nothing more to compile.
        pass
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    set_done(task.name)
    left_tasks()
    return problem


def left_tasks() -> tuple[Task, ...]:
    """The tasks that were not done on this machine; where none is left, that is remembered."""
    left = tuple(task for task in tasks() if not is_done(task.name))
    if not left:
        set_done(EVERYTHING)
    return left


def _slug(measure: str) -> str:
    return measure.replace(".", "-").replace("_", "-")


def _spoken(measure: str) -> str:
    return measure.rpartition(".")[2].replace("_", " ")


@cache
def _table(has_people: bool = False, n_rows: int = N_ROWS) -> Microdata:
    """A small table with numbers, categories with and without a hierarchy, and secrets; people may have three rows."""
    from anoncore import datasets
    from anoncore.table.hierarchy import Hierarchy
    from anoncore.table.microdata import Microdata

    entry = datasets.table("census")
    hierarchies = {name: Hierarchy.from_nested(nested) for name, nested in entry.taxonomies.items()}
    frame, unit = entry.load(n_rows=n_rows), None
    if has_people:
        frame, unit = frame.assign(person=np.arange(n_rows) // 3), "person"
    return Microdata(frame, entry.roles, entry.kinds, entry.orders, hierarchies, unit=unit)


@cache
def _release(name: str, has_people: bool = False) -> Release:
    """The release of a method that is asked for the levels of the first board, as far as it can keep them."""
    from anoncore.search.keeping import keeping, possible_instead

    data = _table(has_people)
    wanted = keeping(name, {}, LEVELS, (), data)
    return (possible_instead(wanted, data) or wanted).anonymize(data)


def _look() -> None:
    """What people look at who have loaded a table and made nothing of it yet: levels, what is possible, lessons."""
    from anoncore.algorithms import ALGORITHMS, RandomPartition
    from anoncore.attacks import reidentification
    from anoncore.table.level_effects import level_effects
    from anoncore.table.microdata import Microdata

    data = _table()
    ALGORITHMS[FIRST_METHODS[0]]().validate_data(data)
    level_effects(data, data.quasi_identifiers[0], k=2)
    # The release of some people, held against a list of all.
    some = Microdata(data.frame.head(N_ROWS // 2), data.roles)
    reidentification(RandomPartition().anonymize(some), data)


def _make(name: str) -> None:
    from anoncore.algorithms import ALGORITHMS

    try:
        _release(name)
    finally:
        kind = ALGORITHMS[name]
        if all(not info.is_required() for info in kind.model_fields.values()):
            kind().anonymize(_table())


def _people(name: str) -> None:
    """A method where people have several rows, the numbers that stand beside its release, and its other choices."""
    judge(_release(name, True))
    _choices(name, True)


def _choices(name: str, has_people: bool = False) -> None:
    """A method with each other choice that one of its fields has, as far as it takes it on this table."""
    usual = _release(name, has_people).algorithm
    assert usual is not None, "a release that was made here names its method"
    fields = type(usual).model_fields
    other: list[dict[str, Any]] = [
        {field: choice}
        for field, info in fields.items()
        for choice in get_args(info.annotation if get_origin(info.annotation) is Literal else None)
        if choice != getattr(usual, field)
    ]
    limits = {"most_checked": MOST_CHECKED} if "most_checked" in fields else {}
    other += [{name: choice for name, choice in asked.items() if name in fields} for asked in MORE_CHOICES]
    for asked in other:
        if asked:
            with suppress(AnonymizationError):
                type(usual)(**{**dict(usual), **limits, **asked}).anonymize(_table(has_people, FEW_ROWS))


def _judge(name: str) -> None:
    judge(_release(name))


def _measure(name: str, measure: str) -> None:
    _evaluate(measure, _release(name))


def judge(release: Release) -> None:
    """Measure a release by the numbers that stand beside every release, so that all they need is compiled."""
    from anoncore.measures import verdict

    for measure in QUICK_MEASURES:
        _evaluate(measure, release)
    verdict(release)


def _measure_all(measure: str) -> None:
    """One measure of the first methods, which differ in the form of what they publish."""
    for name in FIRST_METHODS:
        _evaluate(measure, _release(name))


def _bound() -> None:
    """The least loss of a small table, with and without prices."""
    from anoncore.utility import least_loss

    least_loss(_table(), k=3, seconds=0.5)


def _evaluate(measure: str, release: Release) -> None:
    """Measure a release; where its form has no such number, nothing is to be compiled for it."""
    from anoncore.measures.evaluation import MEASURES
    from anoncore.requirements import KAnonymity

    function = MEASURES[measure]
    secret = next(iter(release.data.sensitive), None)
    usual: dict[str, Any] = {"attribute": secret, "target": secret, "group": 0, "row": 0}
    usual["requirements"] = release.promises or (KAnonymity(k=2),)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if secret is None and any(one.name in ("attribute", "target") and one.default is one.empty for one in parameters):
        return
    given = {one.name: usual[one.name] for one in parameters if one.default is one.empty or one.name == "requirements"}
    try:
        function(release, **given)
    except AnonymizationError:
        return


def is_done(name: str) -> bool:
    """Whether the task of that name was done."""
    return _mark(name).is_file()


def set_done(name: str) -> None:
    """Remember that the task was done."""
    _folder().mkdir(exist_ok=True)
    _mark(name).touch()


def _mark(name: str) -> Path:
    return _folder() / name


@cache
def _folder() -> Path:
    """One folder for each version of Python and of the compiler, which share nothing."""
    return folder_of_all() / f"done-{sys.version_info.major}.{sys.version_info.minor}-{version('numba')}"

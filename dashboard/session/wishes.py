"""What a visitor asks of the board: promises said once, and the methods that are to keep them. Every change is a step
that can be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from anoncore import Microdata, Policy
from anoncore.algorithms import ALGORITHMS, Algorithm, Suppression
from anoncore.kernels.arrays import Codes
from anoncore.measures.criteria import CRITERIA
from anoncore.requirements import REQUIREMENTS, Requirement
from anoncore.search.keeping import LEVELS, asked, requirements_at
from dashboard.charts.palette import STYLES
from dashboard.markdown import distinct
from dashboard.session.loaded_table import Tags
from dashboard.session.opened import Opened

MOST_COLUMNS = len(STYLES)
"""So that every column has a colour of its own."""
MOST_STEPS = 100
TOGETHER = 1.5
FIRST_METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal")
METHODS_WITHOUT_SECRET = ("mondrian", "incognito", "optimal-recoding", "local-recoding", "vertical-fragmentation")
METHODS_WITHOUT_L = ("mondrian", "stack-and-deal", "incognito", "vertical-fragmentation")
"""For a secret of which one value is so frequent that no belief can be kept below a half."""
METHODS_OF_ONE_SECRET = frozenset(["anatomy"])
METHODS_OF_ANY_TABLE = ("local-recoding", "optimal-recoding")
"""What takes the place of methods that are for other tables, such as those in which every row is another person."""
COLUMN_FIELDS = ("columns", "sensitive_column_size", "attribute_columns")
"""Parameters that a method's own error may offer so that a promise can be kept."""
FIRST_K, FIRST_L, FIRST_T = 10, 3, 0.3
ASKED_OF_ALL = frozenset(["requirements", "k", "l", "t", "other_t", "ground", "grounds", "max_suppression"])
"""Parameters of methods that are said on the board, the same for all."""
LEAST_L = 2
MOST_R = 10
LARGEST_LEVEL = 1_000_000
AXES = ("k", "l", "c", "t")
"""What is asked of everybody by a level, in the order in which it is told."""
MOST_PREDICTED = 20
"""Values of an attribute that is predicted, at most."""
ROWS_LOOKED_AT = 20_000
"""Rows that are looked at, evenly taken from the table."""
SAME_IN_OTHER_WORDS = 0.95
"""Share of the variation of an attribute that another one explains from which on it says the same in other words."""
LEAST_TOLD = 0.02
"""The same below which nothing tells an attribute."""
SURE_DEVIATIONS = 4.0
"""Standard deviations above what attributes that have nothing to do with each other show."""
_best: WeakKeyDictionary[Microdata, str | None] = WeakKeyDictionary()
COLUMN_ID = re.compile(r"c\d{1,4}", re.ASCII)


@dataclass(frozen=True)
class Column:
    """One release on the board: a method and the parameters that belong to it alone.

    `color` is the index of its colour, the same on every page. `opened` are published tables of a release that was made
    by somebody else, and then `method` is empty.
    """

    id: str
    method: str
    color: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    opened: Opened | None = None

    @property
    def title(self) -> str:
        """The name of the method, or what published tables were called when they were opened."""
        return ALGORITHMS[self.method].title if self.opened is None else self.opened.title

    def own(self, adapted: Algorithm | None = None) -> str:
        """In a few words, what differs from the usual in the parameters of the method itself, else what it does.

        `adapted` is what ran instead, where only other parameters could keep what is asked. Of a release that was made
        elsewhere it says where it comes from.
        """
        if self.opened is not None:
            return self.opened.told
        kind = ALGORITHMS[self.method]
        fields = dict(self.fields)
        if adapted is not None:
            fields |= {name: getattr(adapted, name) for name in COLUMN_FIELDS if name in kind.model_fields}
        usual = {name: info.get_default(call_default_factory=True) for name, info in kind.model_fields.items()}
        told = in_words({name: value for name, value in fields.items() if value != usual[name]})
        if not told:
            return kind.family
        return f"adapted so that it can keep l: {told}" if adapted is not None else told


def told_apart(columns: Sequence[Column]) -> dict[str, str]:
    """What sentences call columns, by id: by the title alone, and where several have the same, with the parameters in
    which these differ; with a number where they differ in nothing.
    """
    names = []
    for column in columns:
        same = [_all_fields(one) for one in columns if one.title == column.title]
        own = _all_fields(column)
        apart = {name: value for name, value in own.items() if any(one.get(name) != value for one in same)}
        names.append(f"{column.title} ({in_words(apart)})" if apart else column.title)
    return dict(zip((column.id for column in columns), distinct(names), strict=True))


def _all_fields(column: Column) -> dict[str, Any]:
    """The parameters of a column's method, those that were not chosen as they are by default."""
    if column.opened is not None:
        return {}
    fields = ALGORITHMS[column.method].model_fields.items()
    return {name: column.fields.get(name, info.get_default(call_default_factory=True)) for name, info in fields}


def in_words(parameters: Mapping[str, Any]) -> str:
    """Parameters of a method as a list of words, such as "refine yes, split loss"."""
    return ", ".join(f"{name.replace('_', ' ')} {_value_in_words(value)}" for name, value in parameters.items())


def _value_in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return " | ".join(_value_in_words(one) for one in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_value_in_words(one)}" for name, one in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Wishes:
    """All that is asked: levels of k, l, c and t (those that are left out are not asked for), further requirements, the
    share of the people that may be left out, the columns, and the adversary.

    A belief above 1/`r` gives somebody away. `secret` is the sensitive attribute that rows about one attribute are
    about, `target` the attribute that is predicted; None: what `secret_of` and `target_of` choose. `hidden`
    names rows that are folded away, `numbers` criteria that have rows besides. `policy` are the rules of an office by
    which every release is judged.
    """

    levels: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    more: tuple[Requirement, ...] = ()
    left_out: float = 0.0
    columns: tuple[Column, ...] = ()
    r: int = 2
    secret: str | None = None
    target: str | None = None
    hidden: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    policy: Policy | None = None

    def with_level(self, axis: str, value: float | None) -> Wishes:
        """The wishes with another level of k, l, c or t; None asks for none."""
        levels = {name: kept for name, kept in self.levels.items() if name != axis}
        if value is not None:
            levels[axis] = value
        return replace(self, levels=MappingProxyType({name: levels[name] for name in AXES if name in levels}))

    def with_left_out(self, share: float) -> Wishes:
        """The wishes with another share of the people that may be left out."""
        return replace(self, left_out=share)

    def with_column(
        self,
        method: str,
        fields: Mapping[str, Any] | None = None,
        opened: Opened | None = None,
    ) -> Wishes:
        """The wishes with one more column, in the first colour that is free."""
        taken = {column.color % MOST_COLUMNS for column in self.columns}
        color = next(index for index in range(MOST_COLUMNS) if index not in taken)
        used = [int(column.id[1:]) for column in self.columns]
        column = Column(f"c{max(used, default=0) + 1}", method, color, dict(fields or {}), opened)
        return replace(self, columns=(*self.columns, column))

    def with_fields(self, column_id: str, method: str, fields: Mapping[str, Any]) -> Wishes:
        """The wishes with another method or other parameters in one column, whose release the board makes."""
        return replace(
            self,
            columns=tuple(
                replace(column, method=method, fields=dict(fields), opened=None) if column.id == column_id else column
                for column in self.columns
            ),
        )

    def without_column(self, column_id: str) -> Wishes:
        """The wishes without one column."""
        return replace(self, columns=tuple(column for column in self.columns if column.id != column_id))

    def column(self, column_id: str) -> Column | None:
        """The column of that id, if it is still there."""
        return next((column for column in self.columns if column.id == column_id), None)

    def secret_of(self, data: Microdata) -> str | None:
        """The sensitive attribute that is looked at."""
        return self.secret if self.secret in data.sensitive else next(iter(data.sensitive), None)

    def target_of(self, data: Microdata) -> str | None:
        """The attribute that is predicted: the one asked for, else the one that is no secret and best predicted."""
        return self.target if self.target in data.attributes else best_predicted(data)

    def asked_of(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements that are asked of every release of the table."""
        return asked(self.levels, self.more, data)


def most_frequent(data: Microdata) -> tuple[str, float]:
    """The sensitive attribute with the most frequent value, and the share of the rows that have it.

    No group hides a value better than the whole table does, so no l above one divided by that share can be kept.
    """
    shares = {name: view.counts for name in data.sensitive for view in (data.sensitive_view(name),)}
    return max(((name, float(counts.max() / counts.sum())) for name, counts in shares.items()), key=lambda one: one[1])


def first_wishes(data: Microdata, opened: Opened | None = None) -> Wishes:
    """What the board starts with: promises that most tables can keep, and methods that differ in kind; where a release
    is opened at once, this one instead of them.
    """
    found = Wishes().with_level("k", FIRST_K)
    methods: tuple[str, ...] = METHODS_WITHOUT_SECRET
    if data.sensitive:
        l = next((level for level in (FIRST_L, LEAST_L) if level <= 1 / most_frequent(data)[1]), None)
        found = found.with_level("l", l).with_level("t", FIRST_T)
        methods = METHODS_WITHOUT_L if l is None else FIRST_METHODS
    if opened is not None:
        return found.with_column("", opened=opened)
    fitting = (name for name in dict.fromkeys((*methods, *METHODS_OF_ANY_TABLE)) if _fits(name, data))
    for method in islice(fitting, len(methods)):
        found = found.with_column(method)
    return found


def _fits(method: str, data: Microdata) -> bool:
    """Whether one of the first methods is for such a table. That it can keep the levels is found out when it runs."""
    if data.people is not None and ALGORITHMS[method].counts_rows:
        return False
    return method not in METHODS_OF_ONE_SECRET or len(data.sensitive) == 1


def to_plain(wishes: Wishes, opened: Sequence[Opened] = ()) -> dict[str, Any]:
    """The wishes as plain values for a file; a column of published tables names their place among those `opened`."""
    return {
        "levels": dict(wishes.levels),
        "more": [one.to_dict() for one in wishes.more],
        "left_out": wishes.left_out,
        "columns": [
            {"id": one.id, "color": one.color, "opened": opened.index(one.opened)}
            if one.opened is not None
            else {"id": one.id, "color": one.color, "method": ALGORITHMS[one.method](**one.fields).to_dict()}
            for one in wishes.columns
        ],
        "r": wishes.r,
        "secret": wishes.secret,
        "target": wishes.target,
        "hidden": list(wishes.hidden),
        "numbers": list(wishes.numbers),
        "policy": None if wishes.policy is None else wishes.policy.to_dict(),
    }


def from_plain(
    values: Mapping[str, Any], opened: Sequence[Opened] = (), runs: Sequence[Algorithm | None] = ()
) -> Wishes:
    """The wishes that `to_plain` wrote. Earlier versions had columns that showed one of these `runs` as it was; they
    are columns of its method now. Raises ValueError, TypeError or KeyError for values that it never writes, and
    ParameterError for parameters that a method does not have.
    """
    found = Wishes(
        more=tuple(REQUIREMENTS.build(one) for one in values["more"]),
        left_out=_share(values["left_out"]),
        columns=tuple(_column(one, opened, runs) for one in values["columns"]),
        r=_whole(values["r"], 2, MOST_R),
        secret=None if values["secret"] is None else str(values["secret"]),
        target=None if values["target"] is None else str(values["target"]),
        hidden=tuple(str(name) for name in values["hidden"]),
        numbers=tuple(name for name in CRITERIA if name in values.get("numbers", ())),
        policy=None if values.get("policy") is None else Policy(**values["policy"]),
    )
    if len({one.id for one in found.columns}) < len(found.columns) or len(found.columns) > MOST_COLUMNS:
        raise ValueError
    for axis, level in values["levels"].items():
        if axis not in AXES or isinstance(level, bool) or not 0 <= level <= LARGEST_LEVEL:
            raise ValueError
        found = found.with_level(axis, level)
    return found


def _column(values: Mapping[str, Any], opened: Sequence[Opened], runs: Sequence[Algorithm | None]) -> Column:
    if values.get("opened") is not None:
        tables = opened[_whole(values["opened"], 0, len(opened) - 1)]
        return Column(_column_id(values), "", _whole(values["color"], 0, MOST_COLUMNS), opened=tables)
    algorithm = ALGORITHMS.build(values["method"])
    method, fields = algorithm.name, {name: getattr(algorithm, name) for name in values["method"] if name != "name"}
    run = None if values.get("run") is None else runs[_whole(values["run"], 0, len(runs) - 1)]
    if run is not None:
        method, fields = own_parameters(run)
    return Column(_column_id(values), method, _whole(values["color"], 0, MOST_COLUMNS), fields)


def promised(promises: Sequence[Requirement], data: Microdata) -> Wishes:
    """Wishes that ask of all columns what a method promised: by the levels of k, l and t where one means the same."""
    wishes = Wishes()
    for promise in promises:
        axis = next((axis for axis, kind in LEVELS.items() if isinstance(promise, kind)), None)
        value = None if axis is None else float(getattr(promise, axis))
        of_level = () if axis is None or value is None else requirements_at(axis, value, data)
        if axis is None or value is None or promise not in of_level or any(each not in promises for each in of_level):
            wishes = replace(wishes, more=(*wishes.more, promise))
        else:
            wishes = wishes.with_level(axis, int(value) if axis == "k" else value)
    return wishes


def own_parameters(algorithm: Algorithm) -> tuple[str, dict[str, Any]]:
    """The method of an algorithm, and what differs from the usual in the parameters that belong to it alone."""
    inner = algorithm.method if isinstance(algorithm, Suppression) else algorithm
    usual = {name: info.get_default(call_default_factory=True) for name, info in type(inner).model_fields.items()}
    changed = {name: value for name in usual if (value := getattr(inner, name)) != usual[name]}
    return inner.name, {name: value for name, value in changed.items() if name not in ASKED_OF_ALL}


def _column_id(values: Mapping[str, Any]) -> str:
    found = values["id"]
    if not COLUMN_ID.fullmatch(found):
        raise ValueError
    return str(found)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError
    return float(value)


def _whole(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError
    return value


@dataclass(frozen=True, eq=False)
class Step:
    """How the attributes of the table were read at a time, and what was asked of the board: None before it began."""

    tags: Tags
    wishes: Wishes | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and self.tags is other.tags and self.wishes == other.wishes

    def __hash__(self) -> int:
        return hash(self.tags)


@dataclass(eq=False)
class History:
    """What was said and asked of one table, step by step; `now` is the present step, `past` and `future` are those
    around it.

    Every step has a `number`, which no other step ever gets, also after it was taken back; `made` is the last number
    that was given.

    Steps of one control that follow each other within `TOGETHER` seconds are one step, as of a slider that is dragged
    or moved by keys.
    """

    now: Step
    number: int = 0
    made: int = 0
    past: list[tuple[int, Step]] = field(default_factory=list)
    future: list[tuple[int, Step]] = field(default_factory=list)
    control: str = ""
    at: float = 0.0

    def step(self, then: Step, control: str = "") -> None:
        """Take a step, by a control where it may be one of several together; what was undone before is gone."""
        if then == self.now:
            return
        now, before = monotonic(), self.control
        is_more = bool(control) and control == before and not self.future and now - self.at < TOGETHER
        self.control, self.at = control, now
        if is_more:
            self.now = then
            return
        self.past.append((self.number, self.now))
        del self.past[:-MOST_STEPS]
        self.made += 1
        self.number, self.now = self.made, then
        self.future.clear()

    def undo(self) -> None:
        """Go a step back, where there is one."""
        self.control = ""
        if self.past:
            self.future.append((self.number, self.now))
            self.number, self.now = self.past.pop()

    def redo(self) -> None:
        """Go a step forward again, where one was undone."""
        self.control = ""
        if self.future:
            self.past.append((self.number, self.now))
            self.number, self.now = self.future.pop()

    def go(self, number: int) -> bool:
        """Go back or forward to the step of that number; whether there is one elsewhere than here."""
        for steps, move in ((self.past, self.undo), (self.future, self.redo)):
            if any(held == number for held, _ in steps):
                while self.number != number:
                    move()
                return True
        return False


def best_predicted(data: Microdata) -> str | None:
    """The attribute that is no secret and of which another one tells most, without saying the same in other words; of
    those that others know, where nothing tells much of any. None where all have too many values to be predicted.

    How much one tells of the other is Goodman and Kruskal's tau, the share by which knowing the one lowers the
    probability that a guess in proportion to the values' shares is wrong.
    """
    if data not in _best:
        _best[data] = _best_predicted(data)
    return _best[data]


def _best_predicted(data: Microdata) -> str | None:
    step = -(-data.n_rows // ROWS_LOOKED_AT)
    names = [name for name in data.attributes if name not in data.sensitive]
    # Each value that occurs has a code here and all codes occur, so that pairs are counted fast.
    codes: dict[str, Codes] = {
        name: np.unique(data.codes[name][::step], return_inverse=True)[1].astype(np.int32) for name in names
    }
    fitting: dict[str, float] = {}
    known: dict[str, float] = {}
    for target in names:
        if not 2 <= len(data.domain[target]) <= MOST_PREDICTED:
            continue
        taus = [(tau(codes[other], codes[target]), codes[other]) for other in names if other != target]
        fitting[target] = max(
            (share for share, given in taus if _by_chance(given, codes[target]) < share < SAME_IN_OTHER_WORDS),
            default=0.0,
        )
        if target in data.quasi_identifiers:
            known[target] = max((share for share, _ in taus), default=0.0)
    best = max(fitting, key=fitting.__getitem__, default=None)
    if best is not None and fitting[best] >= LEAST_TOLD:
        return best
    return max(known, key=known.__getitem__, default=None)


def _by_chance(given: Codes, target: Codes) -> float:
    """The tau that two attributes which have nothing to do with each other hardly exceed; all codes occur."""
    more, others = int(given.max()), int(target.max())
    # Rows times other values times tau is about chi-squared with so many degrees of freedom.
    return SURE_DEVIATIONS * float(np.sqrt(2 * more * others)) / max(len(target) * others, 1)


def tau(given: Codes, target: Codes) -> float:
    """Goodman and Kruskal's tau of two attributes: 0 where the first tells nothing of the second, 1 where all.

    It is corrected for the number of values of the first, as many values explain few rows by chance.
    """
    width = int(target.max()) + 1
    cells = (int(given.max()) + 1) * width
    counts = np.bincount(given.astype(np.int64) * width + target, minlength=cells).reshape(-1, width)
    of_given = counts.sum(axis=1)
    share = np.bincount(target) / len(target)
    rest = 1 - float((share**2).sum())
    explained = float(((counts.astype(np.float64) ** 2).sum(axis=1) / np.maximum(of_given, 1)).sum()) / len(target)
    n, n_given = len(target), int((of_given > 0).sum())
    if rest <= 0 or n <= n_given:
        return 0.0
    return max(1 - (1 - explained) / rest * (n - 1) / (n - n_given), 0.0)

"""One scan of the parts of a release: its groups, what each of them reaches, and digests of the rows."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.progress import Progress, silent
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Codes, Int64
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.judging import Question
from anoncore.publishing.certification.part_digests import PartDigester
from anoncore.publishing.certification.published_release import Level, PublishedRelease, with_role
from anoncore.publishing.certification.published_rows import PartFile, Rows, TableRows, array_of
from anoncore.publishing.certification.scan_groups import (
    ClassSplit,
    GroupKeys,
    Triples,
    UnitGroups,
    coded_cells,
    counted,
    joined_counts,
    levels_of_counts,
    shared_keys,
    unit_partition,
)
from anoncore.release.reading.published_table import Column, cell_texts
from anoncore.requirements.requirement import Check
from anoncore.table.microdata import Microdata, Role

TABLE = "release"
"""What the table of a release in parts is called, as that of a release in memory."""
WAITING = 0.5
"""Seconds after which progress is told again."""


AT_ONCE = 8
"""Sets of columns that one reading of the parts answers for."""
Split = tuple[tuple[str, ...], int]
"""Columns by which the rows of a group are told apart further, and the k that their classes are compared with."""
Shared = Mapping[tuple[int, int], Int64]
"""For each piece, by the number of its part and its own in it, those of its groups of which other pieces have rows."""


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """An attribute's published values alone as requirements count them, and the code of each text."""

    profile: TableProfile
    codes: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Scan:
    """What the parts show: rows, the size of every group, levels, and how often each value of an attribute stands.

    `sizes` int64 (n_groups,); `values` has the profile of each attribute that was asked about, alone; `columns` the
    digests of the parts' columns by the name of the part, where they were asked for. `splits` says what each of the
    sets of columns that were asked about makes of the groups: the size of the smallest class, and the rows in classes
    of fewer than its k.
    """

    n_rows: int
    sizes: Int64
    levels: tuple[tuple[Question, Level], ...]
    values: Mapping[str, PublishedValues]
    columns: Mapping[str, dict[str, str]]
    shared: Shared
    splits: Mapping[Split, tuple[int, int]]

    @property
    def group_sizes(self) -> dict[str, int]:
        """How many groups have each size, sizes as text."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return {str(size): count for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)}

    def of(self, question: Question) -> list[Level]:
        """What the groups reach of a question, a level per group for each of its checks."""
        return [level for asked, level in self.levels if asked == question]


def scan_rows(
    files: Sequence[Rows],
    attributes: Mapping[str, Attribute],
    questions: Sequence[Question],
    optional: Sequence[Question] = (),
    digested: bool = False,
    progress: Progress | None = None,
    splits: Sequence[Split] = (),
    known: Sequence[str] | None = None,
    shared: Shared | None = None,
) -> Scan:
    """Read the rows of a table once, in pieces, and say what its groups reach; `digested` parts get digests of columns.

    Groups are those that a reader sees: rows of any parts that agree in the columns `known`, by default the
    quasi-identifiers. What a requirement needs to know of the whole table is counted first, from the sensitive columns
    alone. Where pieces share groups other than at their edges, all are read a second time, unless an earlier scan of
    the same groups gave `shared`. `optional` questions are left out where their attribute has more than MOST_VALUES
    different values; for the others that is a DataError. In a table in memory there may be any number of them.
    """
    tell = progress or silent
    most = None if files and isinstance(files[0], TableRows) else MOST_VALUES
    if known is None:
        known = with_role(attributes, files[0].names if files else ())
    asked = _attributes_of(questions)
    values: dict[str, PublishedValues] = {}
    for name in dict.fromkeys([*asked, *_attributes_of(optional)]):
        counted_ones = _counted_values(files, attributes[name], most, tell)
        if counted_ones is not None:
            values[name] = counted_ones
        elif name in asked:
            raise DataError(f"'{name}' has more than {most:,} different values, which cannot be counted.")
    answered = [*questions, *(one for one in optional if one.attribute is None or one.attribute in values)]
    scan = _Scan(files, known, list(dict.fromkeys(answered)), values, digested, list(dict.fromkeys(splits)), shared)
    scan.run(tell)
    return scan.result()


def _attributes_of(questions: Sequence[Question]) -> list[str]:
    return list(dict.fromkeys(one.attribute for one in questions if one.attribute is not None))


def published_values(attribute: Attribute, counts: Mapping[str, int]) -> PublishedValues:
    """An attribute's published values as requirements count them: its domain in the certified order, with counts."""
    texts = tuple(sorted(counts))
    cells = Column.coded(np.arange(len(texts)), texts)
    data: Microdata = PublishedRelease((), {attribute.name: attribute}, None).microdata({attribute.name: cells})
    rows = np.bincount(
        data.codes[attribute.name],
        weights=[counts[text] for text in texts],
        minlength=len(data.domain[attribute.name]),
    )
    profile = TableProfile(
        sum(counts.values()),
        {attribute.name: Role.SENSITIVE},
        data.domain,
        {attribute.name: rows.astype(np.int64)},
        data.sensitive_values,
        data.hierarchies,
    )
    codes = profile.sensitive_view(attribute.name).recode[data.codes[attribute.name]]
    return PublishedValues(profile, dict(zip(texts, codes.tolist(), strict=True)))


def _counted_values(
    files: Sequence[Rows], attribute: Attribute, most: int | None, tell: Progress
) -> PublishedValues | None:
    """The values of a column in all parts; None where there are too many of them."""
    counts: Counter[str] = Counter()
    for number, file in enumerate(files):
        tell(0.1 * number / len(files), f"Counting the values of '{attribute.name}'")
        for unit in file.units([attribute.name]):
            texts, codes = _texts_and_codes(unit, attribute.name)
            for text, rows in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
                if rows:
                    counts[text] += rows
            if most is not None and len(counts) > most:
                return None
    return published_values(attribute, counts)


def _texts_and_codes(unit: pa.Table, name: str) -> tuple[list[str], Codes]:
    """The distinct texts of a column, the last of which is that of a missing cell, and the number of every cell's."""
    coded = coded_cells(array_of(unit, name))
    texts = [*cell_texts(coded.dictionary), ""]
    return texts, coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)


class _Scan:
    """A scan of parts in several threads, each of which reads a part at a time."""

    def __init__(
        self,
        files: Sequence[Rows],
        known: Sequence[str],
        questions: Sequence[Question],
        values: Mapping[str, PublishedValues],
        digested: bool,
        splits: Sequence[Split],
        shared: Shared | None,
    ) -> None:
        self._files, self._values, self._digested, self._shared = files, values, digested, shared
        self._questions = questions
        self._splits = {split: ClassSplit(*split) for split in splits}
        names = files[0].names if files else []
        self._known = list(known)
        self._secret = list(values)
        further = [name for columns, _ in splits for name in columns]
        self._names = list(names) if digested else list(dict.fromkeys([*self._known, *values, *further]))
        self._keys = GroupKeys(len(self._known))
        self.checks = [(question, check) for question in questions for check in checks_of(question, values)]
        self._units: list[UnitGroups] = []
        self._columns: dict[str, dict[str, str]] = {}
        self._n_rows, self._stopped = 0, False
        self._lock = threading.Lock()

    def run(self, tell: Progress) -> None:
        """Read every part once."""
        total = sum(file.n_rows for file in self._files) or 1
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            running: set[Future[None]] = {pool.submit(self._read, number) for number in range(len(self._files))}
            try:
                while running:
                    finished, running = wait(running, timeout=WAITING)
                    for one in finished:
                        one.result()
                    tell(0.1 + 0.85 * self._n_rows / total, f"{self._n_rows:,} of {total:,} rows checked")
            finally:
                self._stopped = True
                for one in running:
                    one.cancel()

    def _read(self, part: int) -> None:
        file = self._files[part]
        digester = PartDigester(file.schema) if self._digested and isinstance(file, PartFile) else None
        for number, unit in enumerate(file.units(self._names)):
            if self._stopped:
                return
            if unit.num_rows:
                groups = self._groups((part, number), unit)
                with self._lock:
                    self._units.append(groups)
                    self._n_rows += unit.num_rows
            if digester is not None:
                digester.add(unit)
        if digester is not None:
            columns = digester.close()
            with self._lock:
                self._columns[file.name] = columns

    def _groups(self, place: tuple[int, int], unit: pa.Table) -> UnitGroups:
        known = [coded_cells(array_of(unit, name)) for name in self._known]
        keys, partition = unit_partition(self._keys, known, unit.num_rows)
        codes = {name: self._codes(name, unit) for name in self._secret}
        levels = [
            check.levels(partition, None if check.values is None else codes[check.values.attribute])
            for _, check in self.checks
        ]
        # Where rows are sorted by groups, one that goes on in the next piece is that of the first or of the last row.
        edges = np.unique(partition.group[[0, -1]]).astype(np.int64)
        mergeable = edges if self._shared is None else self._shared[place]
        counts = [counted(partition, codes[name], mergeable) for name in self._secret]
        goes_on = np.zeros(partition.n_groups, dtype=bool)
        goes_on[mergeable] = True
        further = {name: coded_cells(array_of(unit, name)) for columns, _ in self._splits for name in columns}
        splits = [split.piece(partition, keys, goes_on, further) for split in self._splits.values()]
        return UnitGroups(place, keys, partition.sizes.astype(np.int64), levels, mergeable, counts, splits)

    def _codes(self, name: str, unit: pa.Table) -> Codes:
        """The code of every cell as requirements count it."""
        texts, codes = _texts_and_codes(unit, name)
        # What is in no row, such as an unused entry of a dictionary, has no code and needs none.
        return np.array([self._values[name].codes.get(text, 0) for text in texts], dtype=np.int32)[codes]

    def result(self) -> Scan:
        """What all pieces show together, with the groups that several of them have as one."""
        units = sorted(self._units, key=lambda unit: unit.place)
        _, groups, numbers = shared_keys([unit.keys for unit in units])
        shared = {unit.place: own for unit, own in zip(units, groups, strict=True)}
        are_mergeable = all(np.isin(own, unit.mergeable).all() for own, unit in zip(groups, units, strict=True))
        if (self._secret or self._splits) and not are_mergeable:
            again = _Scan(self._files, self._known, self._questions, self._values, False, [*self._splits], shared)
            again.run(silent)
            return replace(again.result(), columns=self._columns)
        n_shared = 1 + max((int(own.max()) for own in numbers if len(own)), default=-1)
        sizes = np.zeros(n_shared, dtype=np.int64)
        counts: list[list[Triples]] = [[] for _ in self._secret]
        alone = []
        for unit, own, number in zip(units, groups, numbers, strict=True):
            mask = np.ones(len(unit.sizes), dtype=bool)
            mask[own] = False
            alone.append(mask)
            if not len(own):
                continue
            np.add.at(sizes, number, unit.sizes[own])
            rank = np.full(len(mask), -1, dtype=np.int64)
            rank[own] = number
            for place, (group, code, rows) in enumerate(unit.counts):
                kept = rank[group] >= 0
                counts[place].append((rank[group[kept]], code[kept], rows[kept]))
        joined = {name: joined_counts(own) for name, own in zip(self._secret, counts, strict=True) if own}
        found: list[tuple[Question, Level]] = []
        for place, (question, check) in enumerate(self.checks):
            levels = [unit.levels[place][mask] for unit, mask in zip(units, alone, strict=True)]
            counted_ones = None if check.values is None else joined.get(check.values.attribute)
            together = np.concatenate([*levels, levels_of_counts(check, counted_ones, sizes)])
            found.append((question, Level(check, together, tuple(self._known))))
        every = [unit.sizes[mask] for unit, mask in zip(units, alone, strict=True)]
        splits = {
            key: split.together([unit.splits[place] for unit in units], groups)
            for place, (key, split) in enumerate(self._splits.items())
        }
        return Scan(
            self._n_rows,
            np.concatenate([*every, sizes]),
            tuple(found),
            self._values,
            self._columns,
            shared,
            splits,
        )


class PartClasses:
    """The classes of some parts, as `privacy.tag_leaks` asks for them.

    Parts are read anew for each question, and only classes that several pieces have rows of are put together in memory.
    `known` are the columns by which readers tell classes apart, `k` the rows that a class should have, and `shared` is
    what an earlier scan of the same classes found.
    """

    def __init__(self, files: Sequence[Rows], known: Sequence[str], k: int, shared: Shared | None = None) -> None:
        self.k, self._files, self._known, self._shared = k, files, list(known), shared

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """For each set of columns the size of the smallest class and the rows in classes of fewer than k."""
        waiting = iter(sets)
        while asked := [(columns, self.k) for columns in islice(waiting, AT_ONCE)]:
            scan = scan_rows(self._files, {}, (), splits=asked, known=self._known, shared=self._shared)
            self._shared = scan.shared
            yield from (scan.splits[split] for split in asked)


def checks_of(question: Question, values: Mapping[str, PublishedValues]) -> tuple[Check, ...]:
    """The checks of a question, which know what they need of the whole table."""
    name, requirement = question.attribute, question.requirement
    if name is None:
        return requirement.checks(_NO_VALUES)
    return requirement.replace(attribute=name).checks(values[name].profile)


_NO_VALUES = TableProfile(1, {"row": Role.INSENSITIVE}, {}, {}, {})
"""A table of which nothing but the number of rows is asked."""

"""One scan of the rows of a published table: its groups, what each of them reaches, and digests of its parts.

The cells by which readers tell rows apart become one key of each row. Rows that are read in one piece are grouped in
memory, and those that are read in several are counted by DuckDB, which spills what does not fit there.
"""

from __future__ import annotations

import mmap
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.pipeline import in_threads
from anoncore.base.progress import Progress, silent
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import quoted
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Codes, Floats, Int64, Words
from anoncore.kernels.checking import levels_of_counts
from anoncore.kernels.grouping import numbered_keys, runs_from, starts_of
from anoncore.kernels.hashing import text_hashes
from anoncore.publishing.certification.digests import Content, PartDigester
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.published_release import PublishedRelease, with_role
from anoncore.publishing.certification.published_rows import PartFile, Rows, array_of
from anoncore.publishing.certification.questions import Level, Question
from anoncore.publishing.certification.written_cells import arrow_texts
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import Column, PublishedTable, cell_texts, is_text_type, text_bytes
from anoncore.requirements.requirement import Check
from anoncore.table.microdata import Microdata, Role

TABLE = "release"
"""What the table of a release in parts is called, as that of a release in memory."""
AT_ONCE = 8
"""Sets of columns that one reading of the parts answers for."""
MEMORY = 256_000_000
"""Bytes that DuckDB keeps in memory of rows that are read in several pieces."""
BATCH_ROWS, BATCH_CELLS = 1 << 18, 1 << 18
READ_CELLS, WINDOW_CELLS = 1 << 22, 1 << 23
"""Cells that are read from files at a time, and those in a window of a file, whose pages count as memory meanwhile."""
ROWS = ""
"""What the number of rows is called beside values, whose names are those of columns."""
Split = tuple[tuple[str, ...], int]
"""Columns by which the rows of a group are told apart further, and the k that their classes are compared with."""
Lanes = npt.NDArray[np.uint64]
Runs = tuple[Lanes, Int64]
"""Keys (n_runs, 2) of rows that stand together and have the same one, and how many rows these are (n_runs,)."""
Keyed = tuple[Sequence[Runs], Mapping[str, Codes]]
"""Rows by keys, of the known cells first and then of each set of further columns, and by the numbers of their values of
each attribute that is asked about (n_rows,)."""
Groups = tuple[Int64, Codes, Int64]
"""Some whole groups one after the other: where the codes of each begin and the last ones end (n_groups + 1,), codes of
a sensitive attribute (n,), and how many rows of the group each stands for (n,)."""
Computed = tuple[str | None, int, bytes]
"""What levels are computed of: the attribute, the level function and what it compares groups with."""


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """An attribute's published values alone as requirements count them, and the code of each text."""

    profile: TableProfile
    codes: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Scan:
    """What the rows show: their number, the size of every group, levels, and how often each value of an attribute is.

    `sizes` int64 (n_groups,); `values` has the profile of each attribute that was asked about, alone; `contents`
    those of the parts by their names, where they were asked for. `splits` says what each of the
    sets of columns that were asked about makes of the groups: the size of the smallest class, and the rows in classes
    of fewer than its k.
    """

    n_rows: int
    sizes: Int64
    levels: Mapping[Question, list[Level]]
    values: Mapping[str, PublishedValues]
    contents: Mapping[str, Content]
    splits: Mapping[Split, tuple[int, int]]

    @property
    def group_sizes(self) -> dict[str, int]:
        """How many groups have each size, sizes as text."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return {str(size): count for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)}

    def of(self, question: Question) -> list[Level]:
        """What the groups reach of a question, a level per group for each of its checks."""
        return self.levels.get(question, [])


def scan_rows(
    files: Sequence[Rows],
    attributes: Mapping[str, Attribute],
    questions: Sequence[Question],
    optional: Sequence[Question] = (),
    digested: bool = False,
    progress: Progress | None = None,
    splits: Sequence[Split] = (),
    known: Sequence[str] | None = None,
    memory: int = MEMORY,
) -> Scan:
    """Read the rows of a table once, in pieces, and say what its groups reach; `digested` parts get digests of columns.

    Groups are those that a reader sees: rows of any parts that agree in the columns `known`, by default the
    quasi-identifiers. `optional` questions are left out where their attribute has more than MOST_VALUES different
    values; for the others that is a DataError. In a table in memory there may be any number of them. Groups of
    rows that are read in several pieces take about `memory` bytes.
    """
    own = files[0].names if files else ()
    known = with_role(attributes, own) if known is None else known
    splits = list(dict.fromkeys(splits))
    most = None if files and isinstance(files[0], PublishedTable) else MOST_VALUES
    keys = [GroupKeys(names) for names in (known, *(names for names, _ in splits))]
    required = {one.attribute for one in questions}
    numbered = {one.attribute: _Values() for one in (*questions, *optional) if one.attribute is not None}
    names = dict.fromkeys(chain(own if digested else (), numbered, *(one.names for one in keys)))
    contents: dict[str, Content] = {}

    def keyed(unit: pa.Table) -> Keyed:
        values = {name: one.number(array_of(unit, name), most) for name, one in numbered.items()}
        return [one.of_rows(unit) for one in keys], values

    with ExitStack() as stack:
        units = _units(files, [*names], contents if digested else None, progress or silent)
        pieces = map(keyed, units)
        first, second = next(pieces, None), next(pieces, None)
        if first is None:
            raise DataError("There are no rows.")
        groups = _InMemory(*first) if second is None else _InDatabase(chain([first, second], pieces), stack, memory)
        values = {}
        for name, counted in numbered.items():
            if counted.rows is not None:
                values[name] = published_values(attributes[name], counted.rows)
            elif name in required:
                raise DataError(f"{quoted(name)} has more than {most:,} different values, which cannot be counted.")
        sizes = groups.sizes()
        answered = [*questions, *(one for one in optional if one.attribute is None or one.attribute in values)]
        levels = _levels(groups, sizes, dict.fromkeys(answered), values, numbered, tuple(known))
        classes = {split: groups.classes(place, split[1]) for place, split in enumerate(splits)}
    return Scan(int(sizes.sum()), sizes, levels, values, contents, classes)


def published_values(attribute: Attribute, counts: Mapping[str, int]) -> PublishedValues:
    """An attribute's published values as requirements count them: its domain in the certified order, with counts."""
    texts = tuple(sorted(counts))
    cells = Column.coded(np.arange(len(texts)), texts)
    name = attribute.name
    data: Microdata = PublishedRelease((), {name: attribute}, None).microdata({name: cells})
    weights = [counts[text] for text in texts]
    rows = {name: np.bincount(data.codes[name], weights, len(data.domain[name])).astype(np.int64)}
    roles = {name: Role.SENSITIVE}
    profile = TableProfile(sum(weights), roles, data.domain, rows, data.sensitive_values, data.hierarchies)
    codes = profile.sensitive_view(name).recode[data.codes[name]]
    return PublishedValues(profile, dict(zip(texts, codes.tolist(), strict=True)))


def _units(
    files: Sequence[Rows], names: Sequence[str], digests: dict[str, Content] | None, tell: Progress
) -> Iterator[pa.Table]:
    """The rows of all parts some at a time; `digests` gets those of the parts' columns."""
    total, done = sum(file.n_rows for file in files) or 1, 0
    for file in files:
        digester = PartDigester(file.schema) if digests is not None and isinstance(file, PartFile) else None
        for unit in file.units(names):
            if digester is not None:
                digester.add(unit)
            if unit.num_rows:
                yield unit
            done += unit.num_rows
            tell(0.95 * done / total, f"{done:,} of {total:,} rows checked")
        if digests is not None and digester is not None:
            digests[file.name] = digester.close()


@dataclass
class _Values:
    """The different texts of a column by the numbers that they get as they come, and the rows of each; no rows are
    counted any more (None) once there are too many texts.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    rows: Counter[str] | None = field(default_factory=Counter)

    def number(self, column: pa.Array, most: int | None) -> Codes:
        """The number of the text of every cell; a missing one has an empty text."""
        coded = coded_cells(column)
        texts = [*cell_texts(coded.dictionary), ""]
        codes = coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
        own = np.zeros(len(texts), dtype=np.int32)
        if self.rows is not None:
            # What is in no row, such as an unused entry of a dictionary, is no value.
            for place, rows in enumerate(np.bincount(codes, minlength=len(texts)).tolist()):
                if rows:
                    own[place] = self.numbers.setdefault(texts[place], len(self.numbers))
                    self.rows[texts[place]] += rows
            if most is not None and len(self.numbers) > most:
                self.rows = None
        return own[codes]


class _InMemory:
    """The groups of rows that were read in one piece, always in the same order."""

    def __init__(self, keys: Sequence[Runs], values: Mapping[str, Codes]) -> None:
        self._keys, self._values = keys, values
        known, rows = keys[0]
        self._partition = Partition(np.repeat(numbered_keys(known)[0].astype(np.int32), rows))

    def sizes(self) -> Int64:
        return self._partition.sizes.astype(np.int64)

    def of(self, name: str) -> Iterable[Groups]:
        """All groups with the numbers of their values of an attribute, many at a time."""
        codes = self._values[name][self._partition.order]
        return [(self._partition.starts, codes, np.ones(len(codes), dtype=np.int64))]

    def classes(self, place: int, k: int) -> tuple[int, int]:
        """The size of the smallest class that one set of further columns makes, and the rows in classes below k."""
        # Two keys are drawn independently, so that their sum is one for both.
        known, further = (np.repeat(*self._keys[at], axis=0) for at in (0, 1 + place))
        sizes = np.bincount(numbered_keys(known + further)[0])
        return int(sizes.min()), int(sizes[sizes < k].sum())


def _counted_cells(runs: Sequence[Runs], values: Mapping[str, Codes]) -> tuple[dict[str, Codes | Int64], Lanes]:
    """The different combinations of keys and values, in the order in which they first come: how many rows have each
    (ROWS), the values by their names, and the keys beside each other, uint64 (n_cells, 2 * n_keys).
    """
    keys = [np.repeat(*one, axis=0) for one in runs]
    # Factors that nobody knows make one key of all that a row has.
    together: Lanes = np.sum(keys, axis=0)
    for codes, factor in zip(values.values(), _odd_words(len(values)), strict=True):
        together += codes.astype(np.uint64)[:, None] * factor
    number, first = numbered_keys(together)
    cells: dict[str, Codes | Int64] = {ROWS: np.bincount(number)}
    cells |= {name: codes[first] for name, codes in values.items()}
    return cells, np.concatenate([one[first] for one in keys], axis=1)


class _InDatabase:
    """The same of rows that were read in several pieces, whose groups DuckDB finds.

    It sorts groups alone; which values these have is in files, so that little is sorted where groups are large.
    """

    def __init__(self, units: Iterable[Keyed], stack: ExitStack, memory: int) -> None:
        # DuckDB takes long to import, and most releases are read in one piece.
        from anoncore.base.faults import reading
        from anoncore.sources.large_table import connected_duckdb

        stack.enter_context(reading(TABLE))
        folder = stack.enter_context(temporary_directory())
        connection = connected_duckdb(memory_limit=f"{memory}B", temp_directory=str(folder / "spill"))
        self._database = stack.enter_context(closing(connection))
        self._files: dict[str, Path] = {}
        n_cells = 0
        with ExitStack() as files:
            written: dict[str, Any] = {}
            for runs, values in units:
                cells, lanes = _counted_cells(runs, values)
                for place, (name, numbers) in enumerate(cells.items()):
                    self._files[name] = folder / f"cells-{place}"
                    if name not in written:
                        written[name] = files.enter_context(self._files[name].open("wb"))
                    written[name].write(numbers.astype(np.int32).data)
                # Cells of one group that follow each other are one line of the database, where all groups are sorted.
                begin = np.append(0, 1 + np.flatnonzero((lanes[1:] != lanes[:-1]).any(axis=1)))
                lines = {f"{'ab'[lane % 2]}{lane // 2}": lanes[begin, lane] for lane in range(lanes.shape[1])}
                lines |= {"n": np.add.reduceat(cells[ROWS], begin), "place": n_cells + begin}
                lines["cells"] = np.diff(np.append(begin, len(lanes)))
                n_cells += len(lanes)
                self._database.register("counted", pa.table(lines))
                self._database.execute("CREATE TABLE IF NOT EXISTS runs AS SELECT * FROM counted LIMIT 0")
                self._database.execute("INSERT INTO runs SELECT * FROM counted")

    def sizes(self) -> Int64:
        query = "SELECT sum(n)::BIGINT AS n FROM runs GROUP BY a0, b0 ORDER BY a0, b0"
        sizes: Int64 = self._database.sql(query).fetchnumpy()["n"]
        return sizes

    def of(self, name: str) -> Iterator[Groups]:
        codes, counts = (np.memmap(self._files[one], np.int32, "r") for one in (name, ROWS))
        query = "SELECT a0, b0, place, cells FROM runs ORDER BY a0, b0"
        rest: list[npt.NDArray[Any]] = []
        for batch in chain(self._database.sql(query).to_arrow_reader(BATCH_ROWS), [None]):
            new = [] if batch is None else [column.to_numpy() for column in batch.columns]
            lines = [np.concatenate(both) for both in zip(rest, new, strict=True)] if rest and new else rest or new
            a, b, places, sizes = lines
            begins = np.append(0, np.flatnonzero((a[1:] != a[:-1]) | (b[1:] != b[:-1])) + 1)
            # The last group may go on in the next batch.
            begins = np.append(begins, len(a)) if batch is None else begins
            starts = starts_of(sizes)[begins]
            for first, last in _pieces(starts, READ_CELLS):
                own = slice(begins[first], begins[last])
                values, rows = _read((codes, counts), places[own], sizes[own])
                read = starts[first : last + 1] - starts[first]
                for begin, end in _pieces(read, BATCH_CELLS):
                    cells = slice(read[begin], read[end])
                    yield read[begin : end + 1] - read[begin], values[cells], rows[cells].astype(np.int64)
            rest = [column[begins[-1] :] for column in lines]

    def classes(self, place: int, k: int) -> tuple[int, int]:
        apart = f"a0, b0, a{place + 1}, b{place + 1}"
        query = (
            f"SELECT min(n), coalesce(sum(n) FILTER (n < {k}), 0)::BIGINT FROM "
            f"(SELECT sum(n)::BIGINT AS n FROM runs GROUP BY {apart})"
        )
        smallest, below = self._database.execute(query).fetchall()[0]
        return int(smallest), int(below)


def _pieces(starts: Int64, most: int) -> Iterator[tuple[int, int]]:
    """Cut groups that follow each other into pieces of at most so many cells: the first group of each piece, and the
    one behind its last. A group that has more cells is a piece of its own. `starts` int64 (n_groups + 1,) are the first
    cells of the groups, and the end of the last one.
    """
    first = 0
    while first < len(starts) - 1:
        last = max(int(np.searchsorted(starts, starts[first] + most, "right")) - 1, first + 1)
        yield first, last
        first = last


def _read(files: Sequence[np.memmap[Any, Any]], places: Int64, sizes: Int64) -> list[Codes]:
    """Read runs of cells from each file, given where they begin and how long they are: one run after the other, int32
    (sum of sizes,).

    Runs are scattered over the whole file, and every page that is touched counts as memory of this process. So they are
    read in the order of the file, a window of it at a time, whose pages are given back before the next one.
    """
    order, starts = np.argsort(places), starts_of(sizes)
    cells = [np.empty(starts[-1], np.int32) for _ in files]
    window = places[order] // WINDOW_CELLS
    for runs in np.split(order, np.flatnonzero(np.diff(window)) + 1):
        source, target = runs_from(places[runs], sizes[runs]), runs_from(starts[runs], sizes[runs])
        for file, read in zip(files, cells, strict=True):
            read[target] = file[source]
            _let_go(file)
    return cells


def _let_go(file: np.memmap[Any, Any]) -> None:
    """Let no page of a file count as memory of this process any more; what is read again comes from the system's."""
    if hasattr(mmap, "MADV_DONTNEED"):
        file._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _levels(
    groups: _InMemory | _InDatabase,
    sizes: Int64,
    questions: Iterable[Question],
    values: Mapping[str, PublishedValues],
    numbered: Mapping[str, _Values],
    known: tuple[str, ...],
) -> dict[Question, list[Level]]:
    checks = [(question, check) for question in questions for check in checks_of(question, values)]
    every = np.arange(len(sizes) + 1), np.zeros(len(sizes), dtype=np.int32), sizes
    found = {_computed(check): _level(check, every) for _, check in checks if check.values is None}
    for name in dict.fromkeys(check.values.attribute for _, check in checks if check.values is not None):
        codes = np.array([values[name].codes[text] for text in numbered[name].numbers], dtype=np.int32)
        own = {_computed(check): check for _, check in checks if check.attribute == name}

        def levels_of(some: Groups, codes: Codes = codes, own: Mapping[Computed, Check] = own) -> list[Floats]:
            starts, numbers, rows = some
            return [_level(check, (starts, codes[numbers], rows)) for check in own.values()]

        arrays, begin = [np.empty(len(sizes)) for _ in own], 0
        with closing(in_threads(levels_of, groups.of(name))) as pieces:
            for piece in pieces:
                for array, reached in zip(arrays, piece, strict=True):
                    array[begin : begin + len(reached)] = reached
                begin += len(piece[0])
        found |= dict(zip(own, arrays, strict=True))
    levels: dict[Question, list[Level]] = {}
    for question, check in checks:
        levels.setdefault(question, []).append(Level(check, found[_computed(check)], known))
    return levels


def _computed(check: Check) -> Computed:
    """What is computed for a check: questions that differ in what is enough alone are about the same levels."""
    return check.attribute, check.requirement.level.address, check.reference.tobytes()


def _level(check: Check, groups: Groups) -> Floats:
    unique, size = (-1, 1) if check.values is None else (check.values.unique, check.values.size)
    return levels_of_counts(*groups, size, check.requirement.level.address, unique, check.reference)


class PartClasses:
    """The classes of some parts, as `privacy.tag_leaks` asks for them; the parts are read anew for some sets at a time.

    `known` are the columns by which readers tell classes apart, and `k` the rows that a class should have.
    """

    def __init__(self, files: Sequence[Rows], known: Sequence[str], k: int) -> None:
        self.k, self._files, self._known = k, files, known

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """For each set of columns the size of the smallest class and the rows in classes of fewer than k."""
        waiting = iter(sets)
        while asked := [(columns, self.k) for columns in islice(waiting, AT_ONCE)]:
            scan = scan_rows(self._files, {}, (), splits=asked, known=self._known)
            yield from (scan.splits[split] for split in asked)


def checks_of(question: Question, values: Mapping[str, PublishedValues]) -> tuple[Check, ...]:
    """The checks of a question, which know what they need of the whole table."""
    if question.attribute is None:
        # Nothing but the number of rows is asked.
        return question.requirement.checks(TableProfile(1, {"row": Role.INSENSITIVE}, {}, {}, {}))
    asked = question.requirement.replace(attribute=question.attribute)
    return asked.checks(values[question.attribute].profile)


class GroupKeys:
    """Gives every combination of published cells of some columns a key of 128 bits, the same wherever it is found.

    A key is made of keyed hashes (SipHash) of the cells. The hashes' own key is drawn anew, so that nobody can publish
    different groups that get one key, but by a chance of one in 2^128.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._hash_key = np.frombuffer(secrets.token_bytes(16), dtype=np.uint64)
        self._nothing = hashed_cells(pa.array([""], pa.string()), self._hash_key)
        self._factors = dict(zip(names, _odd_words(len(names)), strict=True))

    def of_rows(self, unit: pa.Table) -> Runs:
        """The keys of the rows of a unit in their order."""
        columns = {name: coded_cells(array_of(unit, name)) for name in self._factors}
        # Where rows are sorted by groups, few differ from the one before.
        first = _runs(list(columns.values()), unit.num_rows)
        lanes = np.zeros((len(first), 2), dtype=np.uint64)
        for name, column in columns.items():
            # Every distinct text is hashed once, and rows without a cell have the hash of an empty text.
            hashes = np.concatenate([hashed_cells(column.dictionary, self._hash_key), self._nothing])
            codes = column.indices.take(pa.array(first)).fill_null(len(hashes) - 1).to_numpy(zero_copy_only=False)
            lanes += (hashes * self._factors[name])[codes]
        return lanes, np.diff(np.append(first, unit.num_rows))


def _odd_words(n: int) -> Lanes:
    """Random odd numbers, uint64 (n, 2)."""
    return np.frombuffer(secrets.token_bytes(16 * n), dtype=np.uint64).reshape(-1, 2) | np.uint64(1)


def hashed_cells(values: pa.Array, key: Words) -> Words:
    """The keyed hash of each of the distinct values of a column as it is written, uint64 (n_values, 2).

    Values that are one text to `cell_texts`, such as 1.5 and 1.50, stay apart, as they are to a reader of the file.
    """
    cells = values if is_text_type(values.type) else pa.array(arrow_texts(values), pa.large_string())
    return text_hashes(*text_bytes(cells.fill_null("")), key)


def _runs(columns: Sequence[pa.Array], n_rows: int) -> Int64:
    """The rows at which a cell differs from that of the row before, and the first row."""
    changed = np.zeros(n_rows, dtype=bool)
    changed[:1] = True
    for column in columns:
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        changed[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(changed)


def coded_cells(column: pa.Array) -> pa.DictionaryArray:
    """The cells of a column as codes and the distinct values behind them."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()

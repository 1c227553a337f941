"""Hashes of what is published: of tables by content, whatever the order of rows, the numbers of groups and the file
format, and of the rows of a part column by column, taken while it is read and whatever its row groups are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.pipeline import in_threads
from anoncore.base.texts import listing, quoted
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import numbered_by_appearance, starts_of
from anoncore.publishing.certification.entries import Part, Stored, Table
from anoncore.publishing.certification.published_rows import array_of
from anoncore.release.reading.published_table import Column, PublishedTable, is_text_type, joined_bytes, text_bytes
from anoncore.sources.parquet import value_type
from anoncore.table.coding import content_ranks

AT_ONCE = 1 << 14
DIGEST = hashlib.sha256().digest_size
Piece = tuple[int, Iterable[bytes | npt.NDArray[Any]]]
"""Something that is hashed with its length before it: how many bytes it has, and its pieces one after the other."""
Texts: TypeAlias = Sequence[str] | pa.Array


class Content(NamedTuple):
    """The content of a table as it is compared."""

    rows: int
    sha256: str
    column_sha256: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class TableContent:
    """The content of a table in memory, hashed when it is asked for; `is_ordered` with the order of its rows."""

    table: PublishedTable
    group: str | None
    is_ordered: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @cached_property
    def sha256(self) -> str:
        """The hash of all rows."""
        return (ordered_hash if self.is_ordered else joined_hash)([self.table], self.group)

    @cached_property
    def column_sha256(self) -> dict[str, str]:
        """The hash of every column."""
        return column_hashes(self.table, self.group)


Hashed = Content | TableContent | Table | Part | Stored
"""What says of the content of a table how many rows it has, their hash, and that of every column."""


def content_difference(name: str, certified: Hashed, found: Hashed, changed: Callable[[str], str], moved: str) -> str:
    """Why a table is not the certified one, wherever it lies; empty where it is.

    `changed` makes the sentence from the names of the columns whose hashes differ; `moved` is the sentence where only
    the hash of the rows does.
    """
    if found.rows != certified.rows:
        return f"{quoted(name)} has {found.rows:,} rows, but {certified.rows:,} were certified."
    if found.sha256 == certified.sha256:
        return ""
    other = [one for one, digest in found.column_sha256.items() if digest != certified.column_sha256.get(one)]
    return changed(listing(other)) if other else moved


def column_hashes(table: PublishedTable, group: str | None) -> dict[str, str]:
    """SHA-256 of the distinct texts of every column and how often each occurs, but for the numbers of groups."""
    return {name: column.sha256 for name, column in table.columns.items() if name != group}


def joined_hash(tables: Sequence[PublishedTable], group: str | None = None) -> str:
    """SHA-256 of the rows of tables, in whatever order; with a group column, of which rows of all belong to one group.

    The groups' own names play no part: they are drawn anew for every file.
    """
    parts: list[Piece] = []
    keys = []
    for table in tables:
        columns = _own_columns(table, group)
        keys.append(table.keys(columns))
        head = _head(table.name, columns, [_texts(column) for column in columns.values()])
        parts.append(_different_rows(head, [column.codes for column in columns.values()], keys[-1]))
    if group is None:
        return _sha256(*parts, *map(_ranks, keys))
    rows = []
    for key, of_row in zip(keys, _group_numbers(tables, group), strict=True):
        n_keys = int(key.max(initial=-1)) + 1
        in_groups = np.sort(of_row * n_keys + key) % n_keys
        rows.append((of_row, [*in_groups.astype("<i8").view("<i4").reshape(-1, 2).T]))
    return _sha256(*parts, *_groups(rows))


def ordered_hash(tables: Sequence[PublishedTable], group: str | None = None) -> str:
    """SHA-256 of several tables with the order of their rows; that of groups and their names play no part."""
    parts: list[Piece] = []
    rows: list[list[Codes]] = []
    for table in tables:
        columns = _own_columns(table, group)
        text = _head(table.name, columns, [_texts(column) for column in columns.values()])
        parts.append((len(text), [text]))
        rows.append([column.codes for column in columns.values()])
    if group is None:
        return _sha256(*parts, *((4 * len(codes) * len(codes[0]), _interleaved(codes)) for codes in rows))
    grouped = []
    for of_row, codes in zip(_group_numbers(tables, group), rows, strict=True):
        order = np.argsort(of_row, kind="stable")
        grouped.append((of_row, [column[order] for column in codes]))
    return _sha256(*parts, *_groups(grouped))


def cells_hash(name: str, columns: Mapping[str, tuple[Codes, Texts]]) -> str:
    """What `joined_hash` gives for a table of these columns: codes of the rows into sorted texts."""
    codes = [codes for codes, _ in columns.values()]
    key = content_ranks(codes, [len(texts) for _, texts in columns.values()])
    return _sha256(
        _different_rows(_head(name, columns, [_texts(texts) for _, texts in columns.values()]), codes, key), _ranks(key)
    )


def _own_columns(table: PublishedTable, group: str | None) -> dict[str, Column]:
    """The columns of a table but that which joins it."""
    return {name: column for name, column in table.columns.items() if name != group}


def _head(name: str, columns: Iterable[str], texts: Iterable[bytes]) -> bytes:
    """The names of a table and its columns, and the texts of each of these, as JSON."""
    return b"[%s,%s,[%s]]" % (_text(name), _text([*columns]), b",".join(texts))


def _different_rows(head: bytes, columns: Sequence[Codes], key: Int64) -> Piece:
    """The different rows of a table in their order; `key` (n_rows,) is the rank of each row among them."""
    first = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.int64)
    first[key[::-1]] = np.arange(len(key), dtype=np.int64)[::-1]
    codes = (codes[first].astype("<i4", copy=False) for codes in columns)
    return len(head) + 4 * len(columns) * len(first), chain([head], codes)


def _ranks(key: Int64) -> Piece:
    """The ranks of all rows in their order, without sorting them."""
    ranks = np.repeat(np.arange(int(key.max(initial=-1)) + 1, dtype="<i8"), np.bincount(key))
    return ranks.nbytes, [ranks]


def _interleaved(columns: Sequence[Codes]) -> Iterator[npt.NDArray[Any]]:
    """The rows of some columns, (n_some_rows, n_columns), so few at a time that they stay in fast memory."""
    for begin in range(0, max(len(columns[0]), 1), AT_ONCE):
        yield np.column_stack([codes[begin : begin + AT_ONCE] for codes in columns]).astype("<i4", copy=False)


def _group_numbers(tables: Sequence[PublishedTable], group: str) -> list[Int64]:
    """The number of each row's group, int64 (n_rows,) for each table; groups of one name have one number."""
    columns = [table.columns[group] for table in tables]
    if all(column.texts == columns[0].texts for column in columns):
        return [column.codes.astype(np.int64) for column in columns]
    names = dict.fromkeys(text for column in columns for text in column.texts)
    number_of = {text: number for number, text in enumerate(names)}
    return [np.array([number_of[text] for text in one.texts], dtype=np.int64)[one.codes] for one in columns]


def _groups(tables: Sequence[tuple[Int64, Sequence[Codes]]]) -> Iterator[Piece]:
    """A digest of every group in the order of these: of the number of its rows in each table, and of the rows.

    Each table comes with the group of every row (n_rows,), and with the columns of its rows sorted by groups.
    """
    n_groups = 1 + max(int(of_row.max(initial=-1)) for of_row, _ in tables)
    sizes = [np.bincount(of_row, minlength=n_groups) for of_row, _ in tables]
    words = np.sum([2 + len(columns) * own for own, (_, columns) in zip(sizes, tables, strict=True)], axis=0)
    bounds = starts_of(words)
    content, begin = np.zeros(bounds[-1], dtype="<i4"), bounds[:-1]
    for own, (of_row, columns) in zip(sizes, tables, strict=True):
        content[begin] = own  # a number of rows has eight bytes, of which the last four are 0
        width = len(columns)
        first = np.repeat(begin + 2 - width * starts_of(own)[:-1], own) + width * np.arange(len(of_row))
        for place, column in enumerate(columns):
            content[first + place] = column
        begin = begin + 2 + width * own
    held, ends = content.tobytes(), (4 * bounds).tolist()
    digests = b"".join([hashlib.sha256(held[first:last]).digest() for first, last in pairwise(ends)])
    if digests:
        # Each after its length, of which the first one stands before the whole piece.
        lines = np.empty((n_groups, 8 + DIGEST), dtype=np.uint8)
        lines[:, :8] = np.frombuffer(DIGEST.to_bytes(8, "little"), dtype=np.uint8)
        lines[:, 8:] = np.sort(np.frombuffer(digests, dtype=f"S{DIGEST}")).view(np.uint8).reshape(-1, DIGEST)
        yield DIGEST, [lines.reshape(-1)[8:]]


def _texts(texts: Texts | Column) -> bytes:
    """Some texts as JSON; those in Arrow are whole numbers, which are written as they are."""
    if isinstance(texts, Column):
        return b"[%s]" % joined_bytes(texts.quoted, ",")
    return b'["%s"]' % joined_bytes(texts, '","') if isinstance(texts, pa.Array) else _text(texts)


def _text(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def _sha256(*parts: Piece) -> str:
    digest = hashlib.sha256()
    for n_bytes, pieces in parts:
        digest.update(n_bytes.to_bytes(8, "little"))
        for piece in pieces:
            digest.update(piece if isinstance(piece, bytes) else np.ascontiguousarray(piece).reshape(-1).data)
    return digest.hexdigest()


BLOCK_ROWS = 1 << 20
"""Texts of so many rows are sorted and coded together, so that a digest does not depend on how a file is written."""


class PartDigester:
    """Takes the rows of a part in their order, some at a time, and gives their content."""

    def __init__(self, schema: pa.Schema) -> None:
        self._columns = {field.name: hashlib.sha256(_kind(field.type).encode()) for field in schema}
        self._waiting: pa.Table | None = None
        self.n_rows = 0

    def add(self, rows: pa.Table) -> None:
        """Add rows that follow those before."""
        self.n_rows += rows.num_rows
        joined = rows if self._waiting is None else pa.concat_tables([self._waiting, rows]).unify_dictionaries()
        whole = joined.num_rows - joined.num_rows % BLOCK_ROWS
        for begin in range(0, whole, BLOCK_ROWS):
            self._take(joined.slice(begin, BLOCK_ROWS))
        self._waiting = joined.slice(whole) if whole < joined.num_rows else None

    def close(self) -> Content:
        """The content, once all rows were added."""
        if self._waiting is not None:
            self._take(self._waiting)
            self._waiting = None
        columns = {name: digest.hexdigest() for name, digest in self._columns.items()}
        return Content(self.n_rows, rows_digest([*columns], self.n_rows, columns), columns)

    def _take(self, block: pa.Table) -> None:
        """Hash a block, its columns in threads."""

        def hash_column(name: str) -> None:
            for content in _contents(array_of(block, name)):
                self._columns[name].update(len(content).to_bytes(8, "little"))
                self._columns[name].update(content)

        for _ in in_threads(hash_column, self._columns):
            pass


def _kind(kind: pa.DataType) -> str:
    """What a column is called in its digest: texts are the same in all types that hold texts."""
    return "text" if is_text_type(value_type(kind)) else str(value_type(kind))


def _contents(column: pa.Array) -> Iterator[bytes]:
    """The bytes of a block: numbers as they are and where none is, all else as sorted texts and codes."""
    plain = _numbers(column)
    if plain is not None:
        yield np.packbits(np.asarray(column.is_valid())).tobytes()
        yield np.ascontiguousarray(plain).tobytes()
        return
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    numbers, used = numbered_by_appearance(codes, len(coded.dictionary))
    values = coded.dictionary.take(pa.array(used))
    # All else than texts gets texts that tell every two values apart.
    texts = values if is_text_type(values.type) else pa.array([*map(repr, values.to_pylist())], pa.large_string())
    texts = texts.cast(pa.large_string())
    order = np.asarray(pc.sort_indices(texts))
    rank = np.full(len(used) + 1, -1, dtype="<i4")
    rank[order] = np.arange(len(used), dtype=np.int32)
    content, starts = text_bytes(texts.take(pa.array(order)))
    yield np.diff(starts).astype("<i8").tobytes()
    yield content[starts[0] : starts[-1]].tobytes()
    # A number of -1 finds the last rank, which is that of a missing cell.
    yield rank.take(numbers, mode="wrap").tobytes()


def _numbers(column: pa.Array) -> npt.NDArray[Any] | None:
    """Numbers, dates and moments as the numbers they are stored as, 0 where there is none; None for all else."""
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        zero = pa.scalar(0, column.type)
        return np.asarray(column.fill_null(zero))
    return None


def rows_digest(names: Sequence[str], n_rows: int, columns: Mapping[str, str]) -> str:
    """The digest of a part's rows: of its columns in their order."""
    return hashlib.sha256(_text([list(names), n_rows, [columns[name] for name in names]])).hexdigest()


def joined_digest(digests: Sequence[str]) -> str:
    """The digest of all parts together, in whatever order they are."""
    return hashlib.sha256(_text(sorted(digests))).hexdigest()

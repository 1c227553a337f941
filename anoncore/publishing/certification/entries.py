"""What stands in a certificate: checked fields that are written as JSON."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from anoncore.base.texts import quoted
from anoncore.privacy.guarantees import HIDDEN_ATTACK, HIDDEN_NOISE
from anoncore.publishing.export import FileFormat
from anoncore.table.hierarchy import ROOT

LARGEST = 2**63
"""No number of rows, people or bytes is as large."""
Form = Literal["exact", "changed", "set", "region"]
Package = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,30}$")]
"""The name of a program or a library, in small letters as package indexes have it."""
Version = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z.+!_-]{1,40}$")]


class Entry(BaseModel):
    """A part of a certificate."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Method(Entry):
    """How the release was made: the registered name, where the method is defined, its parameters without any seed."""

    name: str
    title: str
    source: str
    parameters: dict[str, Any]
    seed: str
    group_word: str


class InputTable(Entry):
    """The table that the release was made of: rows, and a keyed hash of its content without identifiers."""

    rows: int = Field(ge=1, lt=LARGEST)
    hmac_sha256: str
    about: str


class Unit(Entry):
    """Whose rows these are: the column by which different people were counted; only pseudonyms of it are published."""

    column: str
    people: int = Field(ge=1, lt=LARGEST)
    about: str

    def hidden_reason(self, published: Collection[str]) -> str:
        """Why no table can show how many people a group has."""
        is_shown = self.column in published
        why = "and no file shows that a pseudonym is one person" if is_shown else "which is not published"
        return f"people were counted by {quoted(self.column)}, {why}"


class Attribute(Entry):
    """An attribute of the table: its role, how its values relate and in which form it is published (None: not at all).

    `values` has the published values of a sensitive attribute of categories in their order, `hierarchy` the lines of
    its hierarchy for these values, `protected` those that need protection, where not all do. `part_of` names the
    attribute of which a column has a part, such as the lower bounds of its ranges.
    """

    name: str
    role: Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
    kind: Literal["numeric", "ordinal", "nominal"] | None = None
    type: Literal["number", "date", "text"] | None = None
    form: Form | None = None
    values: list[str] | None = None
    hierarchy: list[Annotated[list[str], Field(min_length=2)]] | None = None
    protected: list[str] | None = None
    part_of: str | None = None


class Written(Entry):
    """A table as files of one format have it, cell by cell: hashes of its rows in their order and of its columns."""

    sha256: str
    column_sha256: dict[str, str]


class Table(Entry):
    """A published table: its columns, rows and groups, and hashes of its content that no row order changes.

    `written` has an entry for every format that can hold the table. It is missing in certificates of earlier versions.
    """

    name: str
    columns: list[str] = Field(min_length=1)
    rows: int = Field(ge=1, lt=LARGEST)
    groups: int = Field(ge=1, lt=LARGEST)
    group_sizes: dict[str, int]
    sha256: str
    column_sha256: dict[str, str]
    written: dict[FileFormat, Written] | None = None


class Statement(Entry):
    """What holds: `rechecked` says whether the files alone show it; where they do not, `reason` says why."""

    rechecked: bool
    reason: str = ""


class Asked(Statement):
    """A requirement: by whose definition, for which attribute, and the level that the worst published group reaches.

    Where the files do not show the level it is left out.
    """

    requirement: dict[str, Any]
    label: str
    source: str
    attribute: str | None
    comparison: str
    asked: float
    reached: float | None


class Personal(Statement):
    """A promise about every person that holds; without an attribute it is about rows that agree where none has `*`, or,
    as its reason then says, about all that a person's rows hold.
    """

    attribute: str | None
    asked: float
    source: str
    sentence: str

    @property
    def is_shown_by_none(self) -> bool:
        """Whether it is of a kind of which no tables show anything."""
        return self.reason in (HIDDEN_NOISE, HIDDEN_ATTACK)

    @property
    def check(self) -> str:
        """What is checked, in a few words."""
        if self.is_shown_by_none:
            return "promise about everybody"
        if self.attribute is None:
            return f"number of rows that agree where neither has '{ROOT}'"
        return f"promise about {quoted(self.attribute)}"


class Joins(Statement):
    """The check of all joins of fragments on the attribute that they share."""

    common: str
    k: int = Field(ge=1, lt=LARGEST)
    l: int = Field(ge=1, lt=LARGEST)
    delta: float | None
    source: str


class ClassesShown(Entry):
    """What the classes are where readers tell rows apart by insensitive columns: as the files show it."""

    columns: list[str] = Field(min_length=1)
    k: int = Field(ge=1, lt=LARGEST)
    smallest: int = Field(ge=1, lt=LARGEST)
    n_below: int = Field(ge=0, lt=LARGEST)

    @property
    def split(self) -> tuple[tuple[str, ...], int]:
        """The columns, and the k that the classes are compared with, as a scan takes them."""
        return tuple(self.columns), self.k


class DecidedColumn(Entry):
    """An insensitive column that breaks what is promised, and whether it is published by decision.

    `tells` are the columns that it tells or that tell it, `share` the share of rows of which the closest one does so,
    rounded down to a hundredth. The last two decisions are those of certificates of earlier versions.
    """

    column: str
    decision: Literal[
        "published by decision", "published, and nobody decided so", "published as it is", "tagged insensitive"
    ]
    tells: list[str]
    share: float | None = Field(ge=0, le=1)
    classes: ClassesShown | None
    sentence: str


def _without_folder(name: str) -> str:
    """The name of a file beside the certificate; ValueError for a name that leads to another folder."""
    if name in ("", ".", "..") or any(mark in name for mark in "/\\\0"):
        raise ValueError(f"{name!a} is no name of a file beside the certificate")
    return name


class Part(Entry):
    """A part of a table: the file that has it, and digests of its rows in their order, however the file is written."""

    file: Annotated[str, AfterValidator(_without_folder)]
    rows: int = Field(ge=1, lt=LARGEST)
    sha256: str
    column_sha256: dict[str, str]


class Stored(Entry):
    """A published table as a database holds it: its name there, and digests of its rows sorted by all columns.

    A database keeps no order of rows, so that none is certified. `types` are those of the columns.
    """

    table: str
    name: str
    rows: int = Field(ge=1, lt=LARGEST)
    types: dict[str, str]
    sha256: str
    column_sha256: dict[str, str]


class File(Entry):
    """A written file, which lies beside its certificate."""

    name: Annotated[str, AfterValidator(_without_folder)]
    bytes: int = Field(ge=0, lt=LARGEST)
    sha256: str

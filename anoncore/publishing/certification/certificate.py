"""Certificates: what holds of a release, how and of what it was made, and nothing that its files do not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    field_serializer,
    model_serializer,
    model_validator,
)

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError
from anoncore.base.plain_json import plain_json
from anoncore.base.showing import printable
from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification import entries
from anoncore.publishing.certification.claimed_entries import ABOUT, Earlier, PreparedColumns, TriedAttacks
from anoncore.publishing.export import FileFormat
from anoncore.publishing.signing.signature import Signature

COMPLAINT = "This is no certificate of a release ({})."
UNSIGNED = "The certificate is not signed: it says what the files are and what they show, not who made them."
CERTIFICATE = "-certificate.json"
"""How the name of a certificate ends that lies beside files."""
CERTIFICATE_FILE = "_certificate.json"
"""The certificate of a release in parts lies in their folder; readers of Parquet folders pass over such names."""
FORMAT = "anoncore-joined-certificate"
TableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,60}$")]
"""The name of a table, of which names of files are made."""


@checked_methods
class CertificateText(entries.Entry):
    """What a certificate of any kind is: checked fields that are read from JSON."""

    @classmethod
    def loads(cls, text: str | bytes) -> Self:
        """The certificate that `dumps` wrote.

        Parameters
        ----------
        text : str or bytes
            The JSON text.

        Returns
        -------
        Certificate or JoinedCertificate
            The certificate, with every field checked.

        Raises
        ------
        DataError
            For a text that is no such certificate.
        """
        plain_json(text, COMPLAINT)
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            reason = f"{f'{where}: ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
            raise DataError(COMPLAINT.format(printable(reason))) from None

    def dumps(self) -> str:
        """The certificate as JSON text; fields that a release does not use and that came later are left out."""
        return json.dumps(self.model_dump(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @model_serializer(mode="wrap")
    def _used(self, serialized: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The fields but those that came later and are not used, which earlier versions would not know."""
        fields = type(self).model_fields
        values = serialized(self).items()
        return {name: value for name, value in values if value is not None or fields[name].is_required()}


@checked_methods
class Certificate(CertificateText):
    """What a release is and what holds of it.

    One that was made here holds nothing that the files do not show, except the keyed hash of the input. Whoever writes
    another one can put text into it, such as in the parameters of the method: read it before it is handed on.

    Attributes
    ----------
    format : str
        Says that the JSON is a certificate.
    version : int
        Version of the format; certificates of version 1 are read too, and judged as those of today.
    made : str
        When it was made, in UTC.
    software : dict of str to str
        Versions of anoncore and of what it runs on.
    method : Method or None
        The algorithm and its parameters, without a seed.
    input : InputTable
        Rows of the original table, and the keyed hash of its content without identifiers.
    attributes : list of Attribute
        Role and published form of every column of the original table.
    tables : list of Table
        Columns, rows, groups and hashes of each published table.
    linked_by : str or None
        The column that joins the tables.
    sha256 : str
        Hash of all tables together, whatever the order of rows and the file format.
    requirements : list of Asked
        What was asked for, and the level that the worst published group reaches.
    people : list of Personal
        What is promised of every person.
    joins : Joins or None
        The check of the joins of fragments with groups of their own.
    files : list of File
        Names, sizes and hashes of the written files.
    not_checked : list of str
        What the files alone do not show, in sentences.
    written : dict of str to str, or None
        Hash of all joined tables together, cell by cell and row by row as files of each format have them.
    unit : Unit or None
        The column by which different people were counted, where one person may have several rows.
    after : list of Earlier, or None
        Earlier releases of the same people or some of them, by their hashes.
    attacks : list of TriedAttacks, or None
        The attacks that whoever made the release tried on it, and what they got; None where none were tried.
    decided : list of DecidedColumn or None
        Insensitive columns that break what is promised, and whether they are published by decision; None without any.
        Certificates of earlier versions call it `untagged`.
    over_all : ClassesShown or None
        The classes for readers who know every published column of a person but the secrets; None where no insensitive
        column breaks what is promised, and where the files do not show them.
    breaking : str or None
        These columns and what they do, in half a sentence; what holds, holds over what is known. None without any.
    not_asked : list of str or None
        What nobody asked for and fails badly, in sentences; None where nothing does.
    numbers : {"bounds", "midpoints"} or None
        How ranges of numbers are published; None where they are text.
    parts : list of Part or None
        The parts of a release that was made piece by piece: files with some of the rows each; None where every table is
        whole. The hashes of such a release are made of those of its parts.
    stored : list of Stored or None
        The published tables as a database holds them; None for a release in files.
    prepared : PreparedColumns or None
        Columns of dates that were shifted, and of pseudonyms; a claim. None without any.
    signatures : list of Signature or None
        Who signed the certificate, see `sign`; None where nobody did.

    Examples
    --------
    >>> from anoncore.publishing import Certificate, certify, new_key
    >>> certificate = certify(release, new_key())
    >>> Certificate.loads(certificate.dumps()) == certificate
    True
    >>> certificate.requirements[0].label, certificate.requirements[0].reached
    ('k-anonymity (k = 3)', 3.0)
    """

    format: Literal["anoncore-release-certificate"] = "anoncore-release-certificate"
    version: int = Field(default=2, ge=1, le=2)
    made: str
    software: dict[entries.Package, entries.Version]
    method: entries.Method | None
    input: entries.InputTable
    attributes: list[entries.Attribute]
    tables: list[entries.Table] = Field(min_length=1)
    linked_by: str | None
    sha256: str
    requirements: list[entries.Asked]
    people: list[entries.Personal]
    joins: entries.Joins | None
    files: list[entries.File]
    not_checked: list[str]
    written: dict[FileFormat, str] | None = None
    unit: entries.Unit | None = None
    after: list[Earlier] | None = None
    attacks: list[TriedAttacks] | None = None
    decided: list[entries.DecidedColumn] | None = None
    over_all: entries.ClassesShown | None = None
    breaking: str | None = None
    not_asked: list[str] | None = None
    numbers: Literal["bounds", "midpoints"] | None = None
    parts: Annotated[list[entries.Part], Field(min_length=1)] | None = None
    stored: list[entries.Stored] | None = None
    prepared: PreparedColumns | None = None
    signatures: list[Signature] | None = None

    @property
    def columns(self) -> list[str]:
        """The columns of all published tables."""
        return [name for table in self.tables for name in table.columns]

    @property
    def pseudonyms(self) -> list[str]:
        """The columns that are said to hold pseudonyms."""
        return [] if self.prepared is None else self.prepared.pseudonyms

    @model_validator(mode="before")
    @classmethod
    def _earlier_names(cls, values: Any) -> Any:
        """Read what earlier versions wrote by the names that it has now."""
        if isinstance(values, dict) and "untagged" in values and "decided" not in values:
            return {("decided" if name == "untagged" else name): value for name, value in values.items()}
        return values

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        """Require that statements and tables name only attributes that the certificate has."""
        known = {one.name for one in self.attributes if one.form is not None} | {one.part_of for one in self.attributes}
        named = {one.attribute for one in (*self.requirements, *self.people, *(self.attacks or ()))} - {None}
        named |= {*(self.prepared.columns if self.prepared is not None else ())} | {*self.columns} - {self.linked_by}
        named |= set() if self.joins is None else {self.joins.common}
        for table in self.tables:
            columns = [name for name in table.columns if name != self.linked_by]
            if len({*table.columns}) < len(table.columns):
                raise ValueError(f"table {quoted(table.name)} has a column twice")
            if set(table.column_sha256) != {*columns} or (self.linked_by or columns[0]) not in table.columns:
                raise ValueError(f"the columns of table {quoted(table.name)} do not fit")
        if len({one.name for one in self.tables}) < len(self.tables):
            raise ValueError("two tables have one name")
        names = [one.name for one in self.attributes]
        if len({*names}) < len(names):
            raise ValueError("an attribute stands twice")
        identifiers = [one.name for one in self.attributes if one.role == "identifier" and one.name in self.columns]
        if identifiers:
            raise ValueError(f"{listing(identifiers)} is called an identifier, and is published")
        if self.linked_by is not None and (len(self.tables) < 2 or self.linked_by in names):
            raise ValueError(f"linked_by: {quoted(self.linked_by)} is to join tables, and is no column that does")
        held = {one.name for one in (*self.files, *(self.stored or ()))}
        if self.parts is not None and {one.file for one in self.parts} - held:
            raise ValueError("a part is in none of the files")
        if self.stored is not None and [one.table for one in self.stored] != [one.name for one in self.tables]:
            raise ValueError("the tables of the database are not those of the release")
        if self.joins is not None and any(self.joins.common not in table.columns for table in self.tables):
            raise ValueError(f"a table lacks {quoted(self.joins.common)}")
        if not named <= known:
            raise ValueError(f"nothing is said about {listing(sorted(map(str, named - known)))}")
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The certificate in a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Certificate
            The certificate, with every field checked.

        Raises
        ------
        DataError
            For a file that cannot be read or is no certificate.
        """
        return cls.loads(file_text(Path(path)))

    @field_serializer("attributes")
    def _attributes(self, attributes: list[entries.Attribute]) -> list[dict[str, Any]]:
        """The attributes without what came later, where none of them uses it."""
        unused = {"part_of"} if all(one.part_of is None for one in attributes) else set()
        return [one.model_dump(exclude=unused) for one in attributes]


@checked_methods
class JoinedCertificate(CertificateText):
    """What holds of several tables of the same people, alone and joined.

    Attributes
    ----------
    format : str
        Says that the JSON is a certificate of several tables.
    version : int
        Version of the format.
    by : str
        The column that says whose row it is.
    is_linked : bool
        Whether every table publishes the column, as pseudonyms that are the same in all of them. Only then the files
        show how people are joined; otherwise what is said of the join is a claim.
    people : int
        Different people in all tables together.
    k : int
        People of the smallest class of people who show the same rows in every table.
    tables : dict of str to Certificate
        The certificate of each table. What it promises is promised of the joined tables, too.
    not_checked : list of str
        What the files alone do not show of the join, in sentences.
    signatures : list of Signature or None
        Who signed the certificate, see `sign`; None where nobody did.

    Examples
    --------
    >>> from anoncore.publishing import JoinedCertificate, joined_files, new_key
    >>> patients = Microdata(pd.DataFrame({"id": list("abcd"), "age": [20, 21, 40, 41]}), {"age": "quasi-identifier"})
    >>> visits = Microdata(pd.DataFrame({"id": list("abcd"), "year": [1, 2, 11, 12]}), {"year": "quasi-identifier"})
    >>> method = Mondrian(requirements=[KAnonymity(k=2)])
    >>> releases = {"patients": method.anonymize(patients), "visits": method.anonymize(visits)}
    >>> files = joined_files(releases, "hospital", new_key(), by="id")
    >>> certificate = JoinedCertificate.loads(files["hospital-certificate.json"])
    >>> certificate.people, certificate.k, list(certificate.tables), certificate.is_linked
    (4, 2, ['patients', 'visits'], False)
    """

    format: Literal["anoncore-joined-certificate"] = "anoncore-joined-certificate"
    version: int = Field(default=1, ge=1, le=1)
    by: Annotated[str, StringConstraints(min_length=1)]
    is_linked: bool
    people: int = Field(ge=1, lt=entries.LARGEST)
    k: int = Field(ge=1, lt=entries.LARGEST)
    tables: dict[TableName, Certificate] = Field(min_length=2)
    not_checked: list[str]
    signatures: list[Signature] | None = None

    @model_validator(mode="after")
    def _tables_fit(self) -> Self:
        """Require that every table is in files of its own, and has the column that joins it where it is published."""
        files: list[str] = []
        for name, one in self.tables.items():
            if len(one.tables) > 1 or one.parts is not None or one.stored is not None or not one.files:
                raise ValueError(f"table {quoted(name)} is not one whole table in a file")
            if self.is_linked and self.by not in one.columns:
                raise ValueError(
                    f"table {quoted(name)} has no column {quoted(self.by)}, by which it is said to be joined"
                )
            role = next((attribute.role for attribute in one.attributes if attribute.name == self.by), None)
            if self.is_linked and role in ("quasi-identifier", "sensitive"):
                raise ValueError(f"{quoted(self.by)} is said to join the tables, and is {role} in {quoted(name)}")
            files += [file.name for file in one.files]
        if len({*files}) < len(files):
            raise ValueError("two tables are in one file")
        return self

    @staticmethod
    def is_one(text: str | bytes) -> bool:
        """Whether a JSON text says that it is the certificate of several tables.

        Parameters
        ----------
        text : str or bytes
            The text.

        Returns
        -------
        bool
            Whether its `format` says so.

        Raises
        ------
        DataError
            For a text that is no JSON, or that can be read in two ways.
        """
        found = plain_json(text, COMPLAINT)
        return isinstance(found, dict) and found.get("format") == FORMAT


def file_text(path: Path) -> bytes:
    """The content of a certificate's file. Raises DataError for one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"The certificate {quoted(path.name)} cannot be read: {reason}.") from None


def earlier_of(release: Certificate | Earlier) -> Earlier:
    """The entry of an earlier release by what stands in its certificate, or one that was made of it."""
    if isinstance(release, Earlier):
        return release
    promised = [one.label for one in release.requirements]
    return Earlier(sha256=release.sha256, made=release.made, promised=promised, about=ABOUT)

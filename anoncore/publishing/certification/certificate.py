"""Certificates: what holds of a release, how and of what it was made, and nothing that its files do not show."""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import ValidationError, model_validator

import anoncore
from anoncore import privacy
from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.texts import listing, quoted
from anoncore.privacy.check import COMPARISON_WORDS
from anoncore.publishing.certification.attribute_entries import attribute_entries
from anoncore.publishing.certification.digests import column_hash, joined_hash, table_hash
from anoncore.publishing.certification.entries import (
    Asked,
    Attribute,
    Entry,
    File,
    InputTable,
    Joins,
    Method,
    Personal,
    Statement,
    Table,
)
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, group_sizes
from anoncore.publishing.certification.published_table import PublishedTable, cell_name
from anoncore.publishing.certification.rechecking import (
    HIDDEN_PEOPLE,
    Recheck,
    hidden_reason,
    recheck_joins,
    recheck_people,
    recheck_requirement,
)
from anoncore.recipes.recipe import without_seeds
from anoncore.release.release import Release, ReleaseMethod
from anoncore.requirements import Requirement
from anoncore.table.microdata import Microdata

SEED = "left out: with the seed of a release a reader could undo its random choices"
NO_SEED = "the method makes no random choices"
INPUT = (
    "HMAC-SHA-256 of the table's content without identifiers, in whatever order of rows. Its key stays with whoever "
    "made the release: with a plain hash a reader could test guesses of the original table."
)
ALIKE = "the files write different values or groups alike"
UNSIGNED = "The certificate is not signed: it says what the files are and what they show, not who made them."


class Certificate(Entry):
    """What a release is and what holds of it. All of it can be seen in the files, except the keyed hash of the input.

    Attributes
    ----------
    format : str
        Says that the JSON is a certificate.
    version : int
        Version of the format.
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

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.publishing import certify, new_key, verify, write_tables
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> file = io.BytesIO()
    >>> write_tables(release.tables(), file, "csv")
    >>> files = {"people.csv": file.getvalue()}
    >>> certificate = certify(release, new_key(), files)
    >>> Certificate = type(certificate)
    >>> Certificate.loads(certificate.dumps()) == certificate
    True
    >>> certificate.requirements[0].label, certificate.requirements[0].reached
    ('k-anonymity (k = 3)', 3.0)
    """

    format: Literal["anoncore-release-certificate"] = "anoncore-release-certificate"
    version: Literal[1] = 1
    made: str
    software: dict[str, str]
    method: Method | None
    input: InputTable
    attributes: list[Attribute]
    tables: list[Table]
    linked_by: str | None
    sha256: str
    requirements: list[Asked]
    people: list[Personal]
    joins: Joins | None
    files: list[File]
    not_checked: list[str]

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        """Require that statements and tables name only attributes that the certificate has."""
        known = {one.name for one in self.attributes if one.form is not None}
        named = {one.attribute for one in self.requirements} | {one.attribute for one in self.people}
        named.discard(None)
        if self.joins is not None:
            named.add(self.joins.common)
        for table in self.tables:
            columns = [name for name in table.columns if name != self.linked_by]
            named |= {*columns}
            if set(table.column_sha256) != {*columns} or (self.linked_by or columns[0]) not in table.columns:
                raise ValueError(f"the columns of table '{table.name}' do not fit")
        if self.joins is not None and any(self.joins.common not in table.columns for table in self.tables):
            raise ValueError(f"a table lacks '{self.joins.common}'")
        if not named <= known:
            raise ValueError(f"nothing is said about {listing(sorted(map(str, named - known)))}")
        return self

    @classmethod
    def loads(cls, text: str | bytes) -> Self:
        """The certificate that `dumps` wrote.

        Parameters
        ----------
        text : str or bytes
            The JSON text.

        Returns
        -------
        Certificate
            The certificate, with every field checked.

        Raises
        ------
        DataError
            For a text that is no certificate.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            reason = f"{f'{where}: ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
            raise DataError(f"This is no certificate of a release ({reason}).") from None

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
        try:
            return cls.loads(Path(path).read_bytes())
        except OSError as error:
            reason = (error.strerror or "it cannot be opened").lower()
            raise DataError(f"The certificate {quoted(Path(path).name)} cannot be read: {reason}.") from None

    def dumps(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.model_dump(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def new_key() -> str:
    """A fresh random key for the hash of the original table.

    Returns
    -------
    str
        32 random bytes in hexadecimal. Keep it, and publish it never: with it a reader could test guesses of the table.

    Examples
    --------
    >>> from anoncore.publishing import new_key
    >>> len(new_key())
    64
    """
    return secrets.token_hex(32)


def input_hash(data: Microdata, key: str) -> str:
    """The keyed hash of a table's content without its identifiers, whatever the order of its rows.

    Parameters
    ----------
    data : Microdata
        The original table.
    key : str
        The key, such as `new_key` gives one.

    Returns
    -------
    str
        HMAC-SHA-256 in hexadecimal.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.publishing import input_hash
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> turned = Microdata(people[::-1], roles=data.roles)
    >>> input_hash(data, "key") == input_hash(turned, "key"), input_hash(data, "key") == input_hash(data, "other key")
    (True, False)
    """
    content = table_hash(PublishedTable.of("input", data.frame[list(data.attributes)]))
    return hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest()


def certify(
    release: Release,
    key: str,
    files: Mapping[str, bytes] | None = None,
    requirements: Sequence[Requirement] = (),
    tables: Mapping[str, pd.DataFrame] | None = None,
) -> Certificate:
    """State what holds of a release, what its algorithm promises and what else is asked for, with hashes of its files.

    Parameters
    ----------
    release : Release
        The release.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    files : mapping of str to bytes, optional
        The written files by name, whose hashes are taken.
    requirements : sequence of Requirement
        Further conditions that the release has to keep.
    tables : mapping of str to DataFrame, optional
        The published tables, where `Release.tables` was called already.

    Returns
    -------
    Certificate
        What holds, by whose definition.

    Raises
    ------
    ReleaseError
        Where something that was promised or asked for does not hold.
    DataError
        For a column name that files cannot keep apart.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.publishing import certify, new_key, verify, write_tables
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> file = io.BytesIO()
    >>> write_tables(release.tables(), file, "csv")
    >>> files = {"people.csv": file.getvalue()}
    >>> certificate = certify(release, new_key(), files)
    >>> certificate.requirements[0].label, certificate.tables[0].group_sizes
    ('k-anonymity (k = 3)', {'3': 2})
    """
    unclear = [name for name in release.attributes if cell_name(name) != name]
    if unclear:
        raise DataError(
            f"Columns named {listing(unclear)} cannot be told from ones that a spreadsheet guards with an apostrophe; "
            "rename them."
        )
    by_table = {name: PublishedTable.of(name, frame) for name, frame in (tables or release.tables()).items()}
    shown = tuple(by_table.values())
    attributes = attribute_entries(release, shown)
    group = _group_column(release, shown)
    published = PublishedRelease(shown, by_name(attributes), group)
    asked = [_asked(published, one) for one in privacy.guarantees(release, requirements)]
    method = None if release.algorithm is None else _method(release.algorithm)
    people = [_personal(published, method, one) for one in privacy.personal_guarantees(release)]
    joins = _joins(release, published)
    return Certificate(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        software={
            "anoncore": anoncore.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pandas": pd.__version__,
        },
        method=method,
        input=InputTable(rows=release.data.n_rows, hmac_sha256=input_hash(release.data, key), about=INPUT),
        attributes=attributes,
        tables=[_table(published, table) for table in shown],
        linked_by=group,
        sha256=joined_hash(shown, group),
        requirements=asked,
        people=people,
        joins=joins,
        files=[_file(name, content) for name, content in (files or {}).items()],
        not_checked=_not_checked(asked, people, joins),
    )


def _file(name: str, content: bytes) -> File:
    return File(name=name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _group_column(release: Release, tables: Sequence[PublishedTable]) -> str | None:
    """The column that joins the tables: the one that is no attribute."""
    if len(tables) < 2 or not release.is_shared:
        return None
    return next(name for name in tables[0].columns if name not in release.data.roles)


def _method(algorithm: ReleaseMethod) -> Method:
    parameters = without_seeds(algorithm.to_dict())
    name = parameters.pop("name")
    seeded = "seed" in type(algorithm).model_fields
    return Method(
        name=name,
        title=algorithm.title,
        source=algorithm.source,
        parameters=json.loads(json.dumps(parameters)),
        seed=SEED if seeded else NO_SEED,
        group_word=algorithm.group_word,
    )


def _table(published: PublishedRelease, table: PublishedTable) -> Table:
    sizes = group_sizes(published, table)
    return Table(
        name=table.name,
        columns=list(table.columns),
        rows=table.n_rows,
        groups=sum(sizes.values()),
        group_sizes=sizes,
        sha256=table_hash(table, published.group),
        column_sha256={name: column_hash(one) for name, one in table.columns.items() if name != published.group},
    )


def _asked(published: PublishedRelease, guarantee: privacy.Guarantee) -> Asked:
    if not guarantee.holds:
        raise ReleaseError(f"There is no certificate for what does not hold: {guarantee.sentence}")
    requirement = guarantee.requirement
    entry = Asked(
        requirement=json.loads(json.dumps(requirement.to_dict())),
        label=requirement.label(),
        source=requirement.source,
        attribute=guarantee.attribute,
        comparison=COMPARISON_WORDS[requirement.comparison],
        asked=requirement.threshold,
        reached=None,
        rechecked=False,
        reason=hidden_reason(published, requirement, guarantee.attribute),
    )
    if entry.reason:
        return entry
    recheck = recheck_requirement(published, entry)
    changes: dict[str, Any] = {"rechecked": True, "reached": recheck.reached} if recheck.holds else {"reason": ALIKE}
    return entry.model_copy(update=changes)


def _personal(published: PublishedRelease, method: Method | None, guarantee: privacy.PersonalGuarantee) -> Personal:
    if not guarantee.holds:
        raise ReleaseError(f"There is no certificate for what does not hold: {guarantee.sentence}")
    entry = Personal(
        attribute=guarantee.attribute,
        asked=guarantee.asked,
        source="" if method is None else method.source,
        sentence=f"What is promised of everybody's '{guarantee.attribute}' holds with {guarantee.asked:g} asked.",
        rechecked=False,
    )
    recheck = recheck_people(published, method, entry)
    if recheck is None:
        return entry.model_copy(update={"reason": HIDDEN_PEOPLE})
    return entry.model_copy(
        update={"rechecked": True, "sentence": recheck.sentence} if recheck.holds else {"reason": ALIKE}
    )


def _joins(release: Release, published: PublishedRelease) -> Joins | None:
    if release.is_shared:
        return None
    try:
        check = privacy.joins(release)
    except ReleaseError:  # the fragments share nothing to be joined on
        return None
    if not check.holds:
        raise ReleaseError(f"There is no certificate for fragments that are not safe to join: {check.sentences[0]}")
    source = "Zakerzadeh, Aggarwal and Barker, definition 4.1 and theorems 4.1 and 5.1; 4.5 for delta"
    entry = Joins(common=check.common, k=check.k, l=check.l, delta=check.delta, source=source, rechecked=False)
    recheck: Recheck = recheck_joins(published, entry)
    return entry.model_copy(update={"rechecked": True} if recheck.holds else {"reason": ALIKE})


def _not_checked(asked: Iterable[Asked], people: Iterable[Personal], joins: Joins | None) -> list[str]:
    entries: list[tuple[str, Statement]] = [
        *((statement.label, statement) for statement in asked),
        *((f"The promise about '{promise.attribute}'", promise) for promise in people),
    ]
    if joins is not None:
        entries.append((f"Joins on '{joins.common}'", joins))
    sentences = [
        f"{what} held when the release was made, but the files alone do not show it: {statement.reason}."
        for what, statement in entries
        if not statement.rechecked
    ]
    return [*sentences, UNSIGNED]

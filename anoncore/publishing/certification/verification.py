"""A certificate, re-checked from the published files alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import listing
from anoncore.publishing.certification.certificate import ALIKE, Certificate, input_hash
from anoncore.publishing.certification.digests import column_hash, joined_hash, table_hash
from anoncore.publishing.certification.entries import Asked, Joins, Personal, Table
from anoncore.publishing.certification.files import read_published
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, group_sizes
from anoncore.publishing.certification.published_table import PublishedTable
from anoncore.publishing.certification.rechecking import Recheck, recheck_joins, recheck_people, recheck_requirement
from anoncore.table.microdata import Microdata


def verify(
    certificate: Certificate,
    files: Mapping[str, bytes],
    hashes: bool = True,
    data: Microdata | None = None,
    key: str | None = None,
) -> Verification:
    """Re-check a certificate from the published files alone, in any of the formats that are written.

    Groups, levels and joins are worked out anew from the tables. With the original table and the key of its hash, the
    input is compared as well.

    Parameters
    ----------
    certificate : Certificate
        What the files should be and show.
    files : mapping of str to bytes
        The published files by name.
    hashes : bool
        Whether the contents must also be those that were certified.
    data : Microdata, optional
        The original table.
    key : str, optional
        The key with which the original table was hashed.

    Returns
    -------
    Verification
        Every check and how it came out.

    Raises
    ------
    DataError
        For a file that cannot be read as a table.

    Examples
    --------
    A file in which someone changed a value is not the one that was certified:

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
    >>> verify(certificate, files).holds
    True
    >>> verify(certificate, {"people.csv": files["people.csv"].replace(b"flu", b"gout")}).holds
    False
    """
    tables = [table for name, content in files.items() for table in read_published(name, content)]
    matched, problems = _matched(certificate, tables)
    findings = [*problems]
    if not problems:
        shown = tuple(matched[entry.name] for entry in certificate.tables)
        published = PublishedRelease(shown, by_name(certificate.attributes), certificate.linked_by)
        if hashes:
            findings += _contents(certificate, shown, files)
            findings += _groups(certificate, published)
        findings += _statements(certificate, published)
    findings += _input(certificate, data, key)
    return Verification(tuple(findings))


def _matched(certificate: Certificate, tables: list[PublishedTable]) -> tuple[dict[str, PublishedTable], list[Finding]]:
    """The certified tables among those of the files, by their columns and, where these are alike, by name and order."""
    matched: dict[str, PublishedTable] = {}
    problems = []
    left = list(tables)
    for entry in certificate.tables:
        fitting = [table for table in left if list(table.columns) == entry.columns]
        fitting.sort(key=lambda table: table.name != entry.name)
        if fitting:
            left.remove(fitting[0])
            matched[entry.name] = replace(fitting[0], name=entry.name)
        else:
            sentence = f"No file has the table '{entry.name}' with the columns {listing(entry.columns, 30)}."
            problems.append(Finding(f"table '{entry.name}'", "fails", sentence))
    for table in left:
        sentence = (
            f"The files hold a table '{table.name}' with {listing(list(table.columns), 30)}, which is not certified."
        )
        problems.append(Finding(f"table '{table.name}'", "fails", sentence))
    return matched, problems


def _contents(
    certificate: Certificate, shown: tuple[PublishedTable, ...], files: Mapping[str, bytes]
) -> Iterator[Finding]:
    same = True
    for entry, table in zip(certificate.tables, shown, strict=True):
        reason = _difference(entry, table, certificate.linked_by)
        same = same and not reason
        good = f"'{entry.name}' has the {entry.rows:,} rows that were certified."
        yield Finding(f"content of '{entry.name}'", "fails" if reason else "holds", reason or good)
    if same and certificate.linked_by is not None:
        linked = joined_hash(shown, certificate.linked_by) == certificate.sha256
        sentence = (
            "The tables are joined as certified."
            if linked
            else ("Each table is as certified, but rows were joined otherwise: groups of the tables were exchanged.")
        )
        yield Finding("links between tables", "holds" if linked else "fails", sentence)
    for file in certificate.files:
        content = files.get(file.name)
        if content is None:
            continue
        if hashlib.sha256(content).hexdigest() == file.sha256:
            yield Finding(f"file '{file.name}'", "holds", f"'{file.name}' is the file that was written, byte by byte.")
        elif same:
            sentence = f"'{file.name}' is another file than the one written; its tables are the same."
            yield Finding(f"file '{file.name}'", "not checked", sentence)
        else:
            yield Finding(f"file '{file.name}'", "fails", f"'{file.name}' is not the file that was written.")


def _difference(entry: Table, table: PublishedTable, group: str | None) -> str:
    """Why a table is not the certified one; empty if it is."""
    if table.n_rows != entry.rows:
        return f"'{entry.name}' has {table.n_rows:,} rows, but {entry.rows:,} were certified."
    if table_hash(table, group) == entry.sha256:
        return ""
    changed = [
        name for name, one in table.columns.items() if name != group and column_hash(one) != entry.column_sha256[name]
    ]
    if changed:
        return f"'{entry.name}' is not as certified: values of {listing(changed)} were changed."
    return f"'{entry.name}' is not as certified: every column has its values, but some stand in other rows or groups."


def _groups(certificate: Certificate, published: PublishedRelease) -> Iterator[Finding]:
    """Compare the numbers of groups by size that the certificate names with those of the tables."""
    for entry, table in zip(certificate.tables, published.tables, strict=True):
        try:
            sizes = group_sizes(published, table)
        except AnonymizationError as error:
            yield Finding(f"groups of '{entry.name}'", "fails", str(error))
            continue
        same = sizes == entry.group_sizes and entry.groups == sum(sizes.values())
        number = sum(sizes.values())
        sentence = (
            f"'{entry.name}' has {number:,} groups, of the sizes that were certified."
            if same
            else f"'{entry.name}' has {number:,} groups, and their sizes are not those that the certificate names."
        )
        yield Finding(f"groups of '{entry.name}'", "holds" if same else "fails", sentence)


def _statements(certificate: Certificate, published: PublishedRelease) -> Iterator[Finding]:
    for asked in certificate.requirements:
        recheck = recheck_requirement(published, asked) if asked.rechecked else None
        yield _finding(asked.label, asked, recheck, asked.reached)
    for promise in certificate.people:
        # Where the tables do not show that it holds, they may still show that it fails.
        recheck = None if promise.reason == ALIKE else recheck_people(published, certificate.method, promise)
        yield _finding(f"promise about '{promise.attribute}'", promise, recheck)
    if certificate.joins is not None:
        joins = certificate.joins
        yield _finding(
            f"joins on '{joins.common}'", joins, recheck_joins(published, joins) if joins.rechecked else None
        )


def _finding(
    check: str, entry: Asked | Personal | Joins, recheck: Recheck | None, certified: float | None = None
) -> Finding:
    if recheck is None:
        reason = entry.reason or "the tables no longer show it"
        return Finding(check, "not checked", f"{check} is not checked: {reason}.")
    if recheck.holds and certified is not None and recheck.reached is not None:
        tolerance = 1e-9 * max(1.0, abs(certified))
        if abs(recheck.reached - certified) > tolerance:
            sentence = f"{recheck.sentence} The certificate says {certified:.6g}."
            return Finding(check, "fails", sentence)
    return Finding(check, "holds" if recheck.holds else "fails", recheck.sentence)


def _input(certificate: Certificate, data: Microdata | None, key: str | None) -> Iterator[Finding]:
    if data is None or key is None:
        yield Finding(
            "input", "not checked", "The original table is not checked: that takes the table and the key of its hash."
        )
        return
    same = input_hash(data, key) == certificate.input.hmac_sha256
    sentence = (
        "The release was made of this table."
        if same
        else "This table and key are not those of the certificate: a value, a row, a column or the key differs."
    )
    yield Finding("input", "holds" if same else "fails", sentence)

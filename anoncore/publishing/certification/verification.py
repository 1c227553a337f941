"""A certificate, re-checked from the published files alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.progress import Progress, silent
from anoncore.base.texts import FORMULA, listing
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.publishing.certification.certificate import ALIKE, Certificate, input_hash
from anoncore.publishing.certification.decided_columns import classes_shown, decided_findings
from anoncore.publishing.certification.digests import column_hashes, joined_hash, ordered_hash, table_hash
from anoncore.publishing.certification.entries import Asked, Attribute, Joins, Personal, Table
from anoncore.publishing.certification.files import read_published
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, group_sizes
from anoncore.publishing.certification.rechecking import (
    HIDDEN_SUPPRESSION,
    UNSHOWABLE,
    Recheck,
    people_check,
    recheck_joins,
    recheck_people,
    recheck_requirement,
    recheck_rows,
)
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.certification.written_cells import WrittenTable, cell_content, group_cell, label_as, shown_cell
from anoncore.publishing.export import ENDINGS, FileFormat, member_names, sheet_titles
from anoncore.release.reading.published_table import NUMBER, PublishedTable
from anoncore.table.microdata import Microdata

ORDER = "An order of rows can tell which of them belong to whom."


@checked
def verify(
    certificate: Certificate,
    files: Mapping[str, bytes],
    hashes: bool = True,
    data: Microdata | None = None,
    key: str | None = None,
    progress: Progress | None = None,
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
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Verification
        Every check and how it came out.

    Raises
    ------
    DataError
        For a file that cannot be read as a table, and for the certificate of a release in parts.

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
    if certificate.stored is not None:
        raise DataError("This certificate is that of a release in a database: check it with verify_stored.")
    if certificate.parts is not None:
        raise DataError("This certificate is that of a release in parts: check it with verify_folder.")
    tell = progress if progress is not None else silent
    tell(0.0, "Reading the tables")
    shown, findings = _shown(certificate, files)
    if shown:
        findings += _shown_findings(certificate, shown, files if hashes else None, tell)
    findings.append(input_finding(certificate, data, key))
    tell(1.0, "Done")
    return Verification(tuple(findings))


def table_findings(
    certificate: Certificate, tables: Sequence[PublishedTable], hashes: bool = True, progress: Progress = silent
) -> list[Finding]:
    """What the certified tables, in their order, show of a certificate, wherever they were read from."""
    shown = [
        _Shown(entry, replace(table, name=entry.name), None)
        for entry, table in zip(certificate.tables, tables, strict=True)
    ]
    return list(_shown_findings(certificate, shown, {} if hashes else None, progress))


def _shown_findings(
    certificate: Certificate, shown: Sequence[_Shown], files: Mapping[str, bytes] | None, tell: Progress
) -> Iterator[Finding]:
    """What tables show; their contents are compared with those of `files` unless there are none to compare with."""
    published = PublishedRelease(
        tuple(one.table for one in shown), by_name(certificate.attributes), certificate.linked_by
    )
    if files is not None:
        tell(0.4, "Comparing the contents with those certified")
        yield from _contents(certificate, shown, files)
        yield from _groups(certificate, published)
    tell(0.7, "Checking again what holds")
    yield from _statements(certificate, published)
    yield from _names(certificate, shown)
    yield from decided_findings(certificate, partial(classes_shown, published))


def input_finding(certificate: Certificate, data: Microdata | None, key: str | None) -> Finding:
    """Whether the original table and the key of its hash are those of the certificate."""
    if data is None or key is None:
        return Finding(
            "input", "not checked", "The original table is not checked: that takes the table and the key of its hash."
        )
    # The certificate names the columns that were hashed; the table may have been tagged otherwise since.
    hashed = [one.name for one in certificate.attributes if one.role != "identifier" and one.part_of is None]
    there = set(hashed) <= set(data.given.columns)
    same = there and input_hash(data, key, hashed) == certificate.input.hmac_sha256
    sentence = (
        "The release was made of this table."
        if same
        else "This table and key are not those of the certificate: a value, a row, a column or the key differs."
    )
    return Finding("input", "holds" if same else "fails", sentence)


def content_findings(certificate: Certificate, files: Mapping[str, bytes]) -> list[Finding]:
    """Whether files hold the certified tables and nothing else, read strictly even where the certificate names them."""
    if not files:
        return []
    unnamed = certificate.model_copy(update={"files": []})
    shown, findings = _shown(unnamed, files)
    return findings + ([*_contents(unnamed, shown, files), *_names(unnamed, shown)] if shown else [])


@dataclass(frozen=True, eq=False)
class _Shown:
    """A certified table as the files show it; `written` is missing where its file is the one written, byte by byte."""

    entry: Table
    table: PublishedTable
    written: WrittenTable | None


def _shown(certificate: Certificate, files: Mapping[str, bytes]) -> tuple[list[_Shown], list[Finding]]:
    """The certified tables among those of the files, in their order, and what else the files hold.

    There are no tables where one of them is missing or one too many is there.
    """
    known = {file.sha256 for file in certificate.files}
    tables: list[tuple[PublishedTable, WrittenTable | None]] = []
    findings = []
    for name, content in files.items():
        if hashlib.sha256(content).hexdigest() in known:
            tables += [(table, None) for table in read_published(name, content)]
            continue
        reading = read_strictly(name, content)
        tables += [(table.published, table) for table in reading.tables]
        findings += [Finding(f"file '{name}'", "fails", fault) for fault in reading.faults]
    shown: list[_Shown] = []
    missing: list[Table] = []
    for entry in certificate.tables:
        fitting = [one for one in tables if _columns(one) == entry.columns]
        fitting.sort(key=lambda one: entry.name not in (one[0].name, _own_name(certificate, entry, one[1])))
        if fitting:
            tables.remove(fitting[0])
            shown.append(_Shown(entry, replace(fitting[0][0], name=entry.name), fitting[0][1]))
        else:
            missing.append(entry)
    problems = [_missing(entry) for entry in missing] + [_too_many(*one, missing) for one in tables]
    return ([] if problems else shown), findings + problems


def _columns(table: tuple[PublishedTable, WrittenTable | None]) -> list[str]:
    """The names of a table's columns in order, one of them twice where the file has it twice."""
    return list(table[0].columns if table[1] is None else table[1].names)


def _own_name(certificate: Certificate, entry: Table, written: WrittenTable | None) -> str:
    """The certified name where the sheet or the member of a zip is named as this table's is; else nothing."""
    return entry.name if written is not None and written.title == _title(certificate, entry, written.format) else ""


def _title(certificate: Certificate, entry: Table, format: FileFormat) -> str:
    """The name that the sheet of a table gets, or its member of a zip."""
    names = [table.name for table in certificate.tables]
    place = names.index(entry.name)
    return sheet_titles(names)[place] if format == "excel" else member_names(names)[place] + ENDINGS[format]


def _missing(entry: Table) -> Finding:
    sentence = f"No file has the table '{entry.name}' with the columns {listing(entry.columns, 30)}."
    return Finding(f"table '{entry.name}'", "fails", sentence)


def _too_many(table: PublishedTable, written: WrittenTable | None, missing: Sequence[Table]) -> Finding:
    """Why a table of the files is none of the certified ones that are missing."""
    names = _columns((table, written))
    where = f"table '{table.name}'" if written is None else written.where
    entry = max(missing, key=lambda one: len({*one.columns} & {*names}), default=None)
    if entry is None or not {*entry.columns} & {*names}:
        sentence = f"The files hold a table '{table.name}' with {listing(names, 30)}, which is not certified."
    elif len({*names}) < len(names):
        twice = listing([name for name, number in Counter(names).items() if number > 1], 30)
        sentence = f"{where} has more than one column called {twice}."
    elif {*names} > {*entry.columns}:
        more = listing([name for name in names if name not in entry.columns], 30)
        sentence = f"{where} has {more} besides the certified columns of '{entry.name}'."
    elif {*names} == {*entry.columns}:
        sentence = f"{where} has the columns of '{entry.name}' in another order than they were certified in."
    else:
        less = listing([name for name in entry.columns if name not in names], 30)
        sentence = f"{where} lacks {less} of the certified columns of '{entry.name}'."
    return Finding(f"table '{table.name}'", "fails", sentence)


def _names(certificate: Certificate, shown: Sequence[_Shown]) -> Iterator[Finding]:
    """Where sheets, members of a zip, columns or groups have other names than they are written with."""
    for one in shown:
        written, check = one.written, f"names in '{one.entry.name}'"
        if written is None:
            continue
        title = _title(certificate, one.entry, written.format)
        if written.is_named and written.title != title:
            yield Finding(check, "fails", f"{written.where} should have the name '{title}'.")
        for label, name in zip(written.labels, written.names, strict=True):
            expected = label_as(name, written.format)
            if label != expected:
                sentence = f"{written.where}: the column '{name}' is called {label!r} and not {expected!r}."
                yield Finding(check, "fails", sentence)
        if certificate.linked_by is not None:
            yield from _group_numbers(one.entry, written, certificate.linked_by)


def _group_numbers(entry: Table, written: WrittenTable, group: str) -> Iterator[Finding]:
    """Whether groups have numbers from 0 on and nothing else for a name, and stand in their order."""
    column = written.exact(entry.name).columns[group]
    number_of = {group_cell(number, written.format): number for number in range(len(column.texts))}
    other = next((cell for cell in column.texts if cell not in number_of), None)
    check = f"numbers of groups in '{entry.name}'"
    if other is not None:
        last = len(column.texts) - 1
        sentence = (
            f"{written.where}: '{group}' holds {shown_cell(other)}, but its groups are numbered from 0 to {last:,}."
        )
        yield Finding(check, "fails", sentence)
        return
    numbers = np.array([number_of[cell] for cell in column.texts])[column.codes]
    if (np.diff(numbers) < 0).any():
        row = int(np.argmax(np.diff(numbers) < 0)) + 2
        yield Finding(check, "fails", f"{written.where}: rows are not sorted by '{group}': see row {row}. {ORDER}")


def _contents(certificate: Certificate, shown: Sequence[_Shown], files: Mapping[str, bytes]) -> Iterator[Finding]:
    same = True
    for one in shown:
        reason = _difference(one.entry, one.table, certificate.linked_by)
        reason = reason or _written_difference(one, by_name(certificate.attributes), certificate.linked_by)
        same = same and not reason
        good = f"'{one.entry.name}' has the {one.entry.rows:,} rows that were certified."
        yield Finding(f"content of '{one.entry.name}'", "fails" if reason else "holds", reason or good)
        if one.written is not None and one.entry.written is None and not reason:
            sentence = (
                f"How the cells of '{one.entry.name}' are written and in which order their rows stand is not checked: "
                "this certificate of an earlier version does not say it."
            )
            yield Finding(f"cells of '{one.entry.name}'", "not checked", sentence)
    if same and certificate.linked_by is not None:
        same = _is_joined(certificate, shown, certificate.linked_by)
        sentence = (
            "The tables are joined as certified."
            if same
            else ("Each table is as certified, but rows were joined otherwise: groups of the tables were exchanged.")
        )
        yield Finding("links between tables", "holds" if same else "fails", sentence)
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


def _is_joined(certificate: Certificate, shown: Sequence[_Shown], group: str) -> bool:
    """Whether rows of the tables belong to the same groups as certified."""
    if joined_hash([one.table for one in shown], group) != certificate.sha256:
        return False
    formats = {one.written.format if one.written is not None else None for one in shown}
    if certificate.written is None or None in formats or len(formats) > 1:
        return True
    (format,) = formats
    exact = [one.written.exact(one.entry.name) for one in shown if one.written is not None]
    return format is None or certificate.written.get(format) == ordered_hash(exact, group)


def _difference(entry: Table, table: PublishedTable, group: str | None) -> str:
    """Why a table is not the certified one; empty if it is."""
    if table.n_rows != entry.rows:
        return f"'{entry.name}' has {table.n_rows:,} rows, but {entry.rows:,} were certified."
    if table_hash(table, group) == entry.sha256:
        return ""
    hashes = column_hashes(table, group)
    changed = [name for name in hashes if hashes[name] != entry.column_sha256[name]]
    if changed:
        return f"'{entry.name}' is not as certified: values of {listing(changed)} were changed."
    return f"'{entry.name}' is not as certified: every column has its values, but some stand in other rows or groups."


def _spelling(written: WrittenTable, name: str, attribute: Attribute) -> str:
    """Where a column has a text or a number in a form in which none is written; empty where all could be.

    Certificates of earlier versions do not say how values are written. Whatever is written, a text that a spreadsheet
    would run is guarded, and a number has the fewest digits that tell it from others.
    """
    is_number = attribute.type == "number" and attribute.form in ("exact", "changed")
    for cell in written.exact("").columns[name].texts:
        text = cell_content(cell, written.format)
        if text is None:
            continue
        number = NUMBER.fullmatch(text)
        # A spreadsheet runs no number, and a column of categories may hold negative ones.
        if FORMULA.match(text) and text[0] != "'" and not is_number and number is None:
            return (
                f"{written.where}: {text[:40]!r} in column '{name}' has no apostrophe, so a spreadsheet would run it."
            )
        if is_number and number is not None and (number[1] or number[2]) and text != repr(float(text)):
            return f"{written.where}: the number {text[:40]} in column '{name}' is not written as numbers are."
    return ""


def _written_difference(one: _Shown, attributes: Mapping[str, Attribute], group: str | None) -> str:
    """Where the values of a table are those certified, but written otherwise; empty where they are not."""
    if one.written is None:
        return ""
    if one.entry.written is None:
        names = [name for name in one.written.names if name != group]
        return next((fault for name in names if (fault := _spelling(one.written, name, attributes[name]))), "")
    expected = one.entry.written.get(one.written.format)
    if expected is None:
        return f"{one.written.where}: this table cannot be written in such a file without changes."
    exact = one.written.exact(one.entry.name)
    if ordered_hash([exact], group) == expected.sha256:
        return ""
    hashes = column_hashes(exact, group)
    changed = [name for name in hashes if hashes[name] != expected.column_sha256.get(name)]
    if changed:
        return (
            f"{one.written.where}: values of {listing(changed)} are written otherwise than they were certified: a "
            "number with other digits or of another type, a text without its guard, or an empty text for none."
        )
    return f"{one.written.where}: rows stand in another order than they were certified in. {ORDER}"


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
        if certificate.unit is not None and not asked.rechecked:
            recheck = recheck_rows(published, asked)
        yield statement_finding(asked.label, asked, recheck, asked.reached)
    for promise in certificate.people:
        # Where the tables do not show that it holds, they may still show that it fails.
        # But numbers in place of suppressed cells show neither, and no table shows an epsilon.
        hidden = promise.reason in (ALIKE, HIDDEN_SUPPRESSION, UNSHOWABLE)
        recheck = None if hidden else recheck_people(published, certificate.method, promise)
        yield statement_finding(people_check(promise), promise, recheck)
    if certificate.joins is not None:
        joins = certificate.joins
        yield statement_finding(
            f"joins on '{joins.common}'", joins, recheck_joins(published, joins) if joins.rechecked else None
        )


def statement_finding(
    check: str, entry: Asked | Personal | Joins, recheck: Recheck | None, certified: float | None = None
) -> Finding:
    """What a recheck of a statement says, beside the level that the certificate names (`certified`)."""
    if recheck is None:
        reason = entry.reason or "the tables no longer show it"
        return Finding(check, "not checked", f"{check} is not checked: {reason}.")
    if recheck.holds and certified is not None and recheck.reached is not None:
        # The tables order values and groups in their own way, which adds the terms of a level in another order.
        asked = abs(entry.asked) if isinstance(entry, Asked) else 0.0
        if abs(recheck.reached - certified) > ACCUMULATED * max(abs(certified), asked):
            sentence = f"{recheck.sentence} The certificate says {certified:.6g}."
            return Finding(check, "fails", sentence)
    return Finding(check, "holds" if recheck.holds else "fails", recheck.sentence)

"""Whether files hold the certified tables, written as they were certified, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from anoncore.base.progress import Progress, silent
from anoncore.base.texts import FORMULA, listing, quoted
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.counting import Tables
from anoncore.publishing.certification.digests import (
    Content,
    TableContent,
    content_difference,
    joined_hash,
    ordered_hash,
)
from anoncore.publishing.certification.entries import Attribute, Table
from anoncore.publishing.certification.finding import Finding, claimed, either, fails
from anoncore.publishing.certification.published_release import by_name, with_role
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.certification.written_cells import GROUP_CELL, MARK, WrittenTable, label_as, shown_cell
from anoncore.publishing.export import ENDINGS, FileFormat, member_names, sheet_titles
from anoncore.release.reading.published_table import NUMBER, Column, PublishedTable, ranked, reading_ranks

ORDER = "An order of rows can tell which of them belong to whom."


class ReadRelease(NamedTuple):
    """A release as it is read wherever it lies.

    `findings` are about the place and the content, `as_written` about how names and cells are written there. `tables`
    has the rows of the certified tables in their order; there are none where these are not all that is there.
    """

    findings: Sequence[Finding]
    tables: Tables
    as_written: Sequence[Finding] = ()


def content_finding(entry: Table, reason: str) -> Finding:
    """Whether a table is the certified one; `reason` says why it is not."""
    good = f"{quoted(entry.name)} has the {entry.rows:,} rows that were certified."
    return either(f"content of {quoted(entry.name)}", not reason, good, reason)


def join_finding(is_joined: bool) -> Finding:
    """Whether rows of tables belong to the same groups as certified."""
    bad = "Each table is as certified, but rows were joined otherwise: groups of the tables were exchanged."
    return either("links between tables", is_joined, "The tables are joined as certified.", bad)


def read_files(
    certificate: Certificate, files: Mapping[str, bytes], hashes: bool = True, tell: Progress = silent
) -> ReadRelease:
    """The certified tables in files, and whether these hold them as they were written and nothing else."""
    shown, findings = _shown_tables(certificate, files)
    if shown and hashes:
        tell(0.5, "Comparing the contents with those certified")
        findings += _difference_findings(certificate, shown, files)
    as_written = [*_name_findings(certificate, shown), *spelling_findings(certificate, shown)]
    return ReadRelease(findings, [[one.table] for one in shown], as_written)


def _shown_tables(certificate: Certificate, files: Mapping[str, bytes]) -> tuple[list[WrittenTable], list[Finding]]:
    """The certified tables in their order, none where one is missing or one too many, and what else the files hold."""
    tables: list[WrittenTable] = []
    findings = []
    for name, content in files.items():
        read, faults = read_strictly(name, content)
        tables += read
        findings += [fails(f"file {quoted(name)}", fault) for fault in faults]
    shown: list[WrittenTable] = []
    missing: list[Table] = []
    for entry in certificate.tables:
        fitting = [one for one in tables if [*one.names] == entry.columns]
        fitting.sort(key=lambda one: one.title not in (entry.name, _title(certificate, entry.name, one.format)))
        if fitting:
            tables.remove(fitting[0])
            shown.append(replace(fitting[0], name=entry.name))
        else:
            missing.append(entry)
            sentence = f"No file has the table {quoted(entry.name)} with the columns {listing(entry.columns, 30)}."
            findings.append(fails(f"table {quoted(entry.name)}", sentence))
    problems = [_too_many(one, missing) for one in tables]
    return ([] if missing or problems else shown), findings + problems


def _title(certificate: Certificate, name: str, format: FileFormat) -> str:
    """The name that the sheet of a table gets, or its member of a zip."""
    names = [table.name for table in certificate.tables]
    place = names.index(name)
    return sheet_titles(names)[place] if format == "excel" else member_names(names)[place] + ENDINGS[format]


def _too_many(table: WrittenTable, missing: Sequence[Table]) -> Finding:
    """Why a table of the files is none of the certified ones that are missing."""
    names, where = table.names, table.where
    entry = max(missing, key=lambda one: len({*one.columns} & {*names}), default=None)
    if entry is None or not {*entry.columns} & {*names}:
        sentence = f"The files hold a table {quoted(table.title)} with {listing(names, 30)}, which is not certified."
    elif len({*names}) < len(names):
        twice = listing([name for name, number in Counter(names).items() if number > 1], 30)
        sentence = f"{where} has more than one column called {twice}."
    elif {*names} > {*entry.columns}:
        more = listing([name for name in names if name not in entry.columns], 30)
        sentence = f"{where} has {more} besides the certified columns of {quoted(entry.name)}."
    elif {*names} == {*entry.columns}:
        sentence = f"{where} has the columns of {quoted(entry.name)} in another order than they were certified in."
    else:
        less = listing([name for name in entry.columns if name not in names], 30)
        sentence = f"{where} lacks {less} of the certified columns of {quoted(entry.name)}."
    return fails(f"table {quoted(table.title)}", sentence)


def _name_findings(certificate: Certificate, shown: Sequence[WrittenTable]) -> Iterator[Finding]:
    """Where sheets, members of a zip, columns or groups have other names than they are written with."""
    for one in shown:
        check, title = f"names in {quoted(one.name)}", _title(certificate, one.name, one.format)
        if one.is_named and one.title != title:
            yield fails(check, f"{one.where} should have the name {quoted(title)}.")
        for label, name in zip(one.labels, one.names, strict=True):
            expected = label_as(name, one.format)
            if label != expected:
                yield fails(check, f"{one.where}: the column {quoted(name)} is called {label!r} and not {expected!r}.")
        if certificate.linked_by is not None and (fault := _group_fault(one, certificate.linked_by)):
            yield fails(f"numbers of groups in {quoted(one.name)}", f"{one.where}: {fault}")
        if len(shown) > 1 and (row := _row_out_of_order(one.table, certificate.linked_by)):
            inside = "" if certificate.linked_by is None else f" of the same {quoted(certificate.linked_by)}"
            sentence = f"rows{inside} are not sorted by what their cells read, numbers by size: see row {row:,}."
            yield claimed(f"order of rows in {quoted(one.name)}", f"{one.where}: {sentence} {ORDER}")


def _group_fault(shown: WrittenTable, group: str) -> str:
    """Where groups are not numbered from 0 on and nothing else, in their order; empty where they are."""
    column, begin = shown.exact.columns[group], GROUP_CELL[shown.format]
    last = len(column.texts) - 1
    # The numbers in the order of their texts, which is that of the cells.
    numbers = ranked([str(number) for number in range(last + 1)])[1]
    expected = tuple(f"{begin}{number}" for number in numbers.tolist())
    if column.texts != expected:
        known = {*expected}
        other = next(cell for cell in column.texts if cell not in known)
        return f"{quoted(group)} holds {shown_cell(other)}, but its groups are numbered from 0 to {last:,}."
    falls = np.diff(numbers[column.codes]) < 0
    return (
        f"rows are not sorted by {quoted(group)}: see row {int(np.argmax(falls)) + 2}. {ORDER}" if falls.any() else ""
    )


def _row_out_of_order(table: PublishedTable, group: str | None) -> int:
    """The number in its file of the first row that should stand before the one above it, in its group if there are any;
    0 where there is none.
    """
    above = np.arange(table.n_rows - 1)
    above = above if group is None else above[np.diff(table.columns[group].codes) == 0]
    for name, column in table.columns.items():
        if name != group:
            pairs = column.codes[above], column.codes[above + 1]
            # Where the columns before tell most rows apart, few texts have to be looked at.
            used = np.flatnonzero(np.bincount(np.concatenate(pairs), minlength=len(column.texts)))
            rank = np.zeros(len(column.texts), np.int32)
            rank[used] = reading_ranks([column.texts[code] for code in used.tolist()])
            step = rank[pairs[1]] - rank[pairs[0]]
            if (step < 0).any():
                return int(above[np.argmax(step < 0)]) + 3
            above = above[step == 0]
    return 0


def _difference_findings(
    certificate: Certificate, shown: Sequence[WrittenTable], files: Mapping[str, bytes]
) -> Iterator[Finding]:
    """Whether every table, the joins of them and the files are those that were certified."""
    same, group = True, certificate.linked_by
    for entry, one in zip(certificate.tables, shown, strict=True):
        reason = _difference(entry, one, group)
        same = same and not reason
        yield content_finding(entry, reason)
        if entry.written is None and not reason:
            sentence = (
                f"How the cells of {quoted(entry.name)} are written and in which order their rows stand tells nothing: "
                "this certificate of an earlier version does not say it, so that nothing can be compared."
            )
            yield claimed(f"cells of {quoted(entry.name)}", sentence)
    if same and group is not None:
        formats = {one.format for one in shown}
        same = joined_hash([one.table for one in shown], group) == certificate.sha256
        if same and certificate.written is not None and len(formats) == 1:
            same = certificate.written.get(formats.pop()) == ordered_hash([one.exact for one in shown], group)
        yield join_finding(same)
    for file in certificate.files:
        content = files.get(file.name)
        if content is not None and PartFile(file.name, content).entry != file:
            good = f"{quoted(file.name)} is another file than the one written, and its tables are the same."
            yield either(
                f"file {quoted(file.name)}", same, good, f"{quoted(file.name)} is not the file that was written."
            )


def _difference(entry: Table, shown: WrittenTable, group: str | None) -> str:
    """Why a table is not the certified one; empty if it is."""
    other = f"{quoted(entry.name)} is not as certified:"
    moved = f"{other} every column has its values, but some stand in other rows or groups."
    found = TableContent(shown.table, group)
    return content_difference(
        entry.name, entry, found, lambda names: f"{other} values of {names} were changed.", moved
    ) or _written_difference(entry, shown, group)


def _written_difference(entry: Table, shown: WrittenTable, group: str | None) -> str:
    """Where the values of a table are those certified, but written otherwise; empty where they are not."""
    if entry.written is None:
        return ""
    expected = entry.written.get(shown.format)
    if expected is None:
        return f"{shown.where}: this table cannot be written in such a file without changes."
    found = TableContent(shown.exact, group, is_ordered=True)
    return content_difference(
        entry.name,
        Content(found.rows, expected.sha256, expected.column_sha256),
        found,
        lambda names: (
            f"{shown.where}: values of {names} are written otherwise than they were certified: a number with other "
            "digits or of another type, a text without its guard, or an empty text for none."
        ),
        f"{shown.where}: rows stand in another order than they were certified in. {ORDER}",
    )


def spelling_findings(certificate: Certificate, shown: Sequence[WrittenTable]) -> Iterator[Finding]:
    """Where cells are written as none is: without a guard, as a number never is, or in two ways for one known value.

    The hashes of what was written are the certificate's own, so that they say nothing of how it was written.
    """
    attributes = by_name(certificate.attributes)
    for one in shown:
        known = with_role(attributes, one.names)
        for name, (cells, values) in zip(one.names, one.columns, strict=True):
            if name == certificate.linked_by:
                continue
            fault = _spelling(name, cells, attributes[name], one.format)
            if not fault and name in known and (pair := two_spellings(cells, values)):
                fault = (
                    f"{quoted(name)} writes one value in two ways, {pair}, by which a reader tells its rows apart; "
                    "write it in one way before the release is made."
                )
            if fault:
                yield fails(f"cells of {quoted(one.name)}", f"{one.where}: {fault}")


def two_spellings(cells: Column, values: Column) -> str:
    """Two ways in which one value of a column is written, such as an empty text and a missing cell; empty where there
    are none. `cells` is the column as it is written, `values` in the texts that are equal in all formats.
    """
    if len(cells.texts) == len(values.texts):
        return ""
    pairs = np.unique(np.column_stack([values.codes, cells.codes]), axis=0)
    place = int(np.argmax(np.diff(pairs[:, 0]) == 0))
    return " and ".join(shown_cell(cells.texts[code]) for code in pairs[place : place + 2, 1])


def _spelling(name: str, cells: Column, attribute: Attribute, format: FileFormat) -> str:
    """Where a column has a text or a number in a form in which none is written; empty where all could be.

    Whatever is written, a text that a spreadsheet would run is guarded, and a number has the fewest digits that tell it
    from others, or as many places as all others of its column.
    """
    if format == "parquet":
        return ""  # cells of a type hold no text that a spreadsheet runs, and one number is not written in two ways
    is_number = attribute.type == "number" and attribute.form in ("exact", "changed")
    places: set[int] = set()
    for cell in cells.texts:
        kind, _, text = cell.partition(MARK) if format == "excel" else ("text", "", cell)
        if kind == "number" and text not in _sheet_numbers(text):
            return f"the number {text[:40]} in column {quoted(name)} is not written as numbers are."
        if kind != "text" or text[:1].isalpha() or text.isdecimal():
            continue
        number = NUMBER.fullmatch(text)
        # A spreadsheet runs no number, and a column of categories may hold negative ones.
        if FORMULA.match(text) and text[0] != "'" and not is_number and number is None:
            return f"{text[:40]!r} in column {quoted(name)} has no apostrophe, so a spreadsheet would run it."
        if is_number and number is not None and (number[1] or number[2]) and text != repr(float(text)):
            places.add(len(number[1] or ""))
            if number[2] or Decimal(text) != Decimal(repr(float(text))) or len(places) > 1:
                return f"the number {text[:40]} in column {quoted(name)} is not written as numbers are."
    return ""


def _sheet_numbers(content: str) -> tuple[str, ...]:
    """How a workbook writes the number that a cell holds."""
    try:
        number = float(content)
    except ValueError:
        return ()
    return (f"{number:.16g}", repr(number), str(int(number)) if number.is_integer() else "")

"""What a certificate says about the attributes of a release, taken from what is published of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from anoncore.base.texts import value_text
from anoncore.engines.table_profile import TableProfile
from anoncore.publishing.certification.entries import Attribute, Form
from anoncore.publishing.certification.published_release import set_members
from anoncore.release.reading.published_table import PublishedTable, cell_text
from anoncore.release.recoding import Distorted, Exact, GroupValues
from anoncore.release.release import Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata


def attribute_entries(release: Release, tables: Sequence[PublishedTable]) -> list[Attribute]:
    """An entry for every column of the original table and for those that publish bounds of its ranges; identifiers are
    named and nothing more is said of them.
    """
    data = release.data
    published = {name for table in tables for name in table.columns}
    entries = []
    for name, role in data.roles.items():
        bounds = _bounds(release, name)
        if name not in published:
            entries += [Attribute(name=name, role=role.value), *bounds]
            continue
        form = _form(release, name)
        cells = {text for table in tables if name in table.columns for text in table.columns[name].texts}
        shown = {value for text in cells for value in set_members(text, name)} if form == "set" else cells
        entries.append(described(data, name, form, shown))
        entries += bounds
    return entries


def described(data: Microdata | TableProfile, name: str, form: Form, shown: set[str] | None = None) -> Attribute:
    """The entry of an attribute that is published in a form, with what is said of the values that are shown, by default
    of all.
    """
    domain, role, protected = data.domain[name], data.roles[name], data.sensitive_values.get(name)
    says_more = form != "region" and (role.value != "quasi-identifier" or protected is not None)
    says_more = says_more and name != getattr(data, "pseudonym", None)  # of which there are as many as people
    return Attribute(
        name=name,
        role=role.value,
        kind=domain.kind.value,
        type=cell_type(domain),
        form=form,
        values=_texts(domain.values, shown, form) if says_more and domain.kind is not Kind.NUMERIC else None,
        hierarchy=_hierarchy(data, name, shown, form) if says_more else None,
        protected=None if protected is None or form == "region" else _texts(protected, shown, form),
    )


def _bounds(release: Release, name: str) -> list[Attribute]:
    """Entries of the columns in which an attribute's ranges are published; none where these are texts or midpoints."""
    columns = release.number_columns.get(name)
    if columns is None:
        return []
    domain, role = release.data.domain[name], release.data.roles[name]
    return [
        Attribute(
            name=column,
            role=role.value,
            kind=Kind.NOMINAL.value if column == columns.or_missing else domain.kind.value,
            type="text" if column == columns.or_missing else cell_type(domain),
            form="region",
            part_of=name,
        )
        for column in columns.names
    ]


def _form(release: Release, name: str) -> Form:
    recodings = [fragment.recodings[name] for fragment in release.fragments if name in fragment.recodings]
    if any(isinstance(recoding, Distorted) for recoding in recodings):
        return "changed"
    if all(isinstance(recoding, Exact) for recoding in recodings):
        return "exact"
    return "set" if all(isinstance(recoding, GroupValues) for recoding in recodings) else "region"


def cell_type(domain: Domain) -> Literal["number", "date", "text"]:
    """What a published value of a domain is read as."""
    if domain.kind is not Kind.NUMERIC:
        return "text"
    return "date" if domain.is_date else "number"


def _text(value: Any, form: Form) -> str:
    """The text of a published value; the values of a set are written as texts, where a midnight is a day."""
    return cell_text(value_text(value) if form == "set" else value)


def _texts(values: Iterable[Any], shown: set[str] | None, form: Form) -> list[str]:
    """The shown values as texts, each once: different values may have the same text in files, such as 1.5 and 1.50."""
    texts = dict.fromkeys(_text(value, form) for value in values)
    return [text for text in texts if shown is None or text in shown]


def _hierarchy(data: Microdata | TableProfile, name: str, shown: set[str] | None, form: Form) -> list[list[str]] | None:
    hierarchy = data.hierarchies.get(name)
    if hierarchy is None:
        return None
    lines: dict[str, list[str]] = {}
    for value in data.domain[name].values:
        path, text = hierarchy.path_of(value), _text(value, form)
        if path is not None and (shown is None or text in shown):
            lines.setdefault(text, [text, *path])
    return list(lines.values())

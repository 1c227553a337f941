"""HTML as text: whatever comes from a table or a user is escaped here and nowhere else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

INVISIBLE = dict.fromkeys((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0xD800, 0xE000)), "\ufffd")

EMPTY = ("br",)


class Markup(str):
    """Text that is HTML already; anything else is escaped where it is put into HTML."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """The value as HTML: markup as it is, all else as escaped text."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(str(value).translate(INVISIBLE), quote=True))


def tag(name: str, *content: object, **attributes: object) -> Markup:
    """An element; underscores of attribute names are dashes, one at the end is dropped."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in EMPTY:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(escaped(part) for part in parts))


def items(entries: Iterable[object]) -> Markup:
    """A list with a point per entry; nothing without entries."""
    points = joined(tag("li", one) for one in entries)
    return tag("ul", points) if points else Markup("")


def table(header: Sequence[object], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """A table that scrolls sideways where it is too wide; columns of `numbers` are set to the right."""

    def cells(name: str, row: Sequence[object]) -> Markup:
        kinds = ["number" if place in numbers else None for place in range(len(row))]
        return joined(tag(name, cell, class_=kind) for cell, kind in zip(row, kinds, strict=True))

    head = tag("thead", tag("tr", cells("th", header)))
    body = tag("tbody", joined(tag("tr", cells("td", row)) for row in rows))
    return tag("div", tag("table", head, body), class_="scroll")


def section(title: str, *content: object, name: str | None = None) -> Markup:
    """A part of the report under a heading."""
    return tag("section", tag("h2", title), *content, id=name)


def figure(drawing: Markup, caption: object) -> Markup:
    """A drawing with what it shows."""
    return tag("figure", drawing, tag("figcaption", caption))

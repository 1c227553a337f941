"""Which texts of a release may stand in a dossier: no value of the original that is not published."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from anoncore.base.texts import is_missing, value_text
from anoncore.publishing.report.subject import parameter_text, parameters_of
from anoncore.release.release import Release, ReleaseMethod

WITHHELD = "(withheld)"
"""What stands for a value that is not published."""
IN_QUOTES = re.compile(r"""(?<!\w)'([^']*)'(?!\w)|"([^"]*)\"""")
"""What a message quotes; messages write every value in quotes."""


@dataclass(frozen=True)
class AllowedTexts:
    """What may be quoted of a release: names of its columns and tables, and cells of its published tables.

    Attributes
    ----------
    names : frozenset of str
        Names of columns and tables.
    published : frozenset of str
        Texts of the published cells.
    unpublished : frozenset of str
        Texts of the cells of the original that are not published.
    """

    names: frozenset[str]
    published: frozenset[str]
    unpublished: frozenset[str]

    @classmethod
    def of(cls, release: Release, tables: Mapping[str, pd.DataFrame]) -> AllowedTexts:
        """What may be quoted of a release, whose published tables are given by name."""
        data = release.data
        published = {text for table in tables.values() for name in table.columns for text in _cells(table[name])}
        original = {text for name in data.frame.columns for text in _cells(data.frame[name])}
        columns = [*map(str, data.frame.columns), *data.roles, *data.left_out]
        names = {*columns, *tables, *(str(name) for table in tables.values() for name in table.columns)}
        return cls(frozenset(names), frozenset(published), frozenset(original - published - names))

    def sentence(self, text: str) -> str:
        """A measured sentence, in which whatever it quotes beside names and published cells is withheld."""

        def said(found: re.Match[str]) -> str:
            inside = found[1] if found[1] is not None else found[2]
            is_allowed = inside in self.names or inside in self.published
            return found[0] if is_allowed else WITHHELD

        return IN_QUOTES.sub(said, text)

    def parameters(self, method: ReleaseMethod | None) -> Iterator[tuple[str, str]]:
        """Title and value of every parameter of a method but its seed; withheld where it holds an unpublished value."""
        if method is None:
            return
        values = method.to_dict(complete=True)
        titles = {info.title or name: name for name, info in type(method).model_fields.items()}
        for title, text, _about in parameters_of(method):
            is_hidden = self._holds_unpublished(values.get(titles[title]))
            yield title, WITHHELD if is_hidden else text

    def method(self, method: ReleaseMethod) -> str:
        """A method with its levels in a line, such as a release that was considered; its title where values stand."""
        if self._holds_unpublished([value for name, value in method.to_dict(complete=True).items() if name != "name"]):
            return method.title
        return ", ".join([method.title, *self._settings(method)])

    def _settings(self, method: ReleaseMethod) -> Iterator[str]:
        """What is asked of a method, and what of it is set otherwise than by default."""
        if requirements := getattr(method, "requirements", ()):
            yield parameter_text(requirements)
        for name, info in type(method).model_fields.items():
            value = getattr(method, name)
            is_usual = not info.is_required() and value == info.get_default(call_default_factory=True)
            if name not in ("seed", "requirements") and not is_usual:
                yield f"{info.title or name} = {parameter_text(value)}"

    def _holds_unpublished(self, value: Any) -> bool:
        return not self.unpublished.isdisjoint(_texts(value))


def _cells(column: pd.Series) -> Iterator[str]:
    """The texts of the different cells of a column."""
    return (value_text(value) for value in column.drop_duplicates() if not is_missing(value))


def _texts(value: Any) -> Collection[str]:
    """Every text inside plain values."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for name, inside in value.items() for text in (str(name), *_texts(inside))]
    if isinstance(value, list | tuple):
        return [text for inside in value for text in _texts(inside)]
    return []

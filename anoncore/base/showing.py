"""How objects show themselves: in a few lines of text, as a small table of HTML, as a frame and as a picture.

A text ends in logs, so it tells names of columns, counts and results, and never the values of rows.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from anoncore.base.errors import AnonymizationError
from anoncore.base.extras import require

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

Lines = list[tuple[str, str]]

MOST_LINES = 16
"""Lines of a text below its first one."""
LONGEST_LINE = 100
"""Characters of what one line says."""
MOST_NAMES = 8
NAMES = ("attribute", "attributes", "column", "common", "fragment", "fragments", "quasi_identifiers", "target")
SENTENCES = ("definition", "error", "ground", "how", "limits", "method", "model", "notes", "sentence", "spare", "word")
"""Fields whose texts are names of columns or words about the result, and so are written out; others may be values."""
FRAME_COLUMNS = ["name", "value", "baseline", "unit"]
DRAWN = {"value": "of the release", "baseline": "baseline"}
"""What the bars of a result are called in the legend of its picture."""


_SECOND_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word begins inside the name of a class."""


class Shown:
    """What shows itself in a few lines, with the fields of a dataclass as lines unless a class has others."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # A dataclass gives a class a text with all cells of all arrays, unless the class itself has one.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def _headline(self) -> str:
        """The first line."""
        return type(self).__name__

    def _lines(self) -> Lines:
        """The lines below: what each is about, and what it says."""
        return field_lines(self._details())

    def _inline(self) -> str:
        """What stands for the object inside another one."""
        return self._headline()

    def _details(self) -> Iterator[tuple[str, Any]]:
        """What the object holds, by name: the fields of a dataclass unless a class has others."""
        if is_dataclass(self):
            yield from ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)

    def __repr__(self) -> str:
        lines = self._lines()
        left = len(lines) - MOST_LINES
        if left > 1:
            lines = [*lines[:MOST_LINES], ("…", f"and {left} more")]
        width = max((len(clean(label)) for label, _ in lines), default=0)
        shown = [f"  {clean(label):<{width}}  {clean(text)}".rstrip() for label, text in lines]
        return "\n".join([clean(self._headline()), *shown])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(clean(label))}</th>'
            f'<td style="text-align:left">{escape(clean(text))}</td></tr>'
            for label, text in self._lines()
        )
        return f"<div><p><b>{escape(clean(self._headline()))}</b></p><table><tbody>{rows}</tbody></table></div>"


class Result(Shown):
    """A result: its numbers as a frame with the same columns for every result, and as a picture."""

    def _inline(self) -> str:
        scores = [f"{name} {value._inline()}" for name, value in self._details() if isinstance(value, Result)]
        return "; ".join(scores) or self._headline()

    def frame(self) -> pd.DataFrame:
        """The numbers of the result as a table.

        Returns
        -------
        DataFrame
            A line per number: its `name`, its `value`, what guessing or the original table gets (`baseline`, NaN where
            there is no such number), and its `unit`. Numbers inside another result have the names of both, with a dot.
        """
        # The command line and the server start without pandas.
        import pandas as pd

        from anoncore.base.pandas_versions import TEXT

        return pd.DataFrame(list(self._numbers()), columns=FRAME_COLUMNS).astype(
            {"name": TEXT, "value": "float64", "baseline": "float64", "unit": TEXT}
        )

    def _numbers(self) -> Iterator[tuple[str, float, float | None, str]]:
        yield from _numbers(self)

    def plot(self) -> Any:
        """Draw the numbers of the result, each beside its baseline.

        Returns
        -------
        plotly.graph_objects.Figure
            The picture; shares alone where there are any, because they have one axis.

        Raises
        ------
        AnonymizationError
            Where Plotly is not installed, or the result has no number.
        """
        numbers = self.frame()
        shares = numbers[numbers["unit"].str.match("share|probability")]
        numbers = shares if len(shares) else numbers
        if numbers.empty:
            raise AnonymizationError(f"{type(self).__name__} has no number to draw; read its attributes instead.")
        beside = ["value", "baseline"] if numbers["baseline"].notna().any() else ["value"]
        units = set(numbers["unit"]) - {""}
        drawn = numbers.rename(columns=DRAWN).assign(name=numbers["name"].str.replace("[._]", " ", regex=True))
        return picture(
            drawn,
            kind="bar",
            x="name",
            y=[DRAWN[column] for column in beside],
            barmode="group",
            title=_SECOND_WORD.sub(" ", self._headline()),
            across="number",
            upwards=units.pop() if len(units) == 1 else "share" if len(shares) else "value, each in its unit",
        )


class SizesDrawn(Shown, ABC):
    """What is drawn as how many groups have which size."""

    @abstractmethod
    def _group_sizes(self) -> tuple[str, npt.NDArray[np.int64]]:
        """What is counted of each group, in words, and the counts (n_groups,)."""

    def plot(self) -> Any:
        """Draw how many groups have which size, over the fragments together where these have groups of their own.

        Returns
        -------
        plotly.graph_objects.Figure
            The picture.

        Raises
        ------
        AnonymizationError
            Where Plotly is not installed.
        """
        # The command line and the server start without pandas.
        import pandas as pd

        words, sizes = self._group_sizes()
        sizes_drawn = pd.DataFrame({words: sizes})
        return picture(sizes_drawn, kind="hist", title=self._headline(), across=words, upwards="number of groups")


def picture(numbers: pd.DataFrame, title: str, across: str, upwards: str, **settings: Any) -> Any:
    """A Plotly figure of a frame, drawn by pandas, with both axes named and a legend where there is a choice.

    Raises AnonymizationError where Plotly is not installed.
    """
    require("A picture", "plotly")
    # Plotly names axes and what the pointer shows after columns that it makes itself, unless it is given words.
    value = across if settings["kind"] == "hist" else upwards
    labels = {"variable": "shown", "value": value, "count": upwards, settings.get("x", "index"): across}
    drawn = numbers.plot(backend="plotly", title=escape(title), labels=labels, **settings)
    drawn.update_layout(xaxis_title=across, yaxis_title=upwards, legend_title_text="", showlegend=len(drawn.data) > 1)
    return drawn


def printable(text: str) -> str:
    """A text on one line: what cannot be printed is written as in Python."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def clean(text: str) -> str:
    """A text on one line, as `printable` makes it; what is too long is cut."""
    text = printable(text)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def names_text(names: Any) -> str:
    """Some names on one line, and how many there are more."""
    names = [clean(str(name)) for name in names]
    left = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {left:,} more" if left > 0 else "")


def field_lines(details: Iterator[tuple[str, Any]]) -> Lines:
    """A line per field with a number, a name or a result; arrays and tables share the last line, by their shape."""
    lines: Lines = []
    shapes = []
    for name, value in details:
        shape = _shape(value)
        if shape is not None:
            shapes.append(f"{name} ({shape})")
        elif value is not None and value != "" and value != ():
            lines.append((name, _text(name, value)))
    return [*lines, ("arrays", ", ".join(shapes))] if shapes else lines


def _shape(value: Any) -> str | None:
    shape = getattr(value, "shape", None)
    # A number of NumPy has an empty shape.
    return " × ".join(f"{size:,}" for size in shape) if isinstance(shape, tuple) and shape else None


def _text(name: str, value: Any) -> str:
    if isinstance(value, Shown):
        return value._inline()
    if isinstance(value, bool) or (isinstance(value, str) and name in NAMES + SENTENCES):
        return str(value)
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Real):
        return f"{value:,}" if isinstance(value, Integral) else f"{value:,.6g}"
    if isinstance(value, tuple | list) and name in NAMES + SENTENCES and all(isinstance(one, str) for one in value):
        return names_text(value)
    if isinstance(value, tuple) and value and all(isinstance(one, Real) for one in value) and len(value) == 2:
        return f"{value[0]:.6g} to {value[1]:.6g}"
    if isinstance(value, Mapping | tuple | list):
        return "1 entry" if len(value) == 1 else f"{len(value):,} entries"
    return str(getattr(value, "title", type(value).__name__))


def _numbers(result: Shown, before: str = "") -> Iterator[tuple[str, float, float | None, str]]:
    for name, value in result._details():
        named = f"{before}{name}"
        if isinstance(value, bool):
            continue
        if isinstance(value, Real):
            yield named, float(value), getattr(value, "baseline", None), getattr(value, "unit", "")
        elif isinstance(value, Result):
            yield from _numbers(value, f"{named}.")
        elif isinstance(value, Mapping):
            yield from ((f"{named}.{key}", float(one), None, "") for key, one in value.items() if isinstance(one, Real))
        elif isinstance(value, tuple) and len(value) == 2 and all(isinstance(one, Real) for one in value):
            yield f"{named}.low", float(value[0]), None, ""
            yield f"{named}.high", float(value[1]), None, ""

"""What the reference says of every registered thing, read off docstrings and fields, and buttons that open it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import streamlit as st

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model
from anoncore.base.number import ALSO_SYNTHETIC, EVERY_FORM, REGISTERED, Number
from anoncore.measures.criteria import CRITERIA, FAMILIES
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL
from anoncore.requirements import REQUIREMENTS
from dashboard.board.fields import FieldForm, field_forms
from dashboard.elements import routes
from dashboard.session import browser, state

SECTIONS = (
    "Parameters",
    "Returns",
    "Raises",
    "Attributes",
    "Notes",
    "References",
    "Examples",
)
"""The sections that a docstring may have, in this order."""
_TITLE = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
FACTS: Mapping[str, str] = MappingProxyType(
    {
        "Assumes": "What it assumes",
        "Cost": "What it costs to compute",
        "Use": "When to use it",
        "Avoid": "When not",
        "Source": "Source",
    }
)
"""How the page titles what a docstring says: in its Notes after these words, of the source in its References."""
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "algorithm": "Method",
        "requirement": "Requirement",
        "attack": "Attack",
        "measure": "Measure",
        "criterion": "Number",
    }
)
"""What there is, by the first part of an entry's key."""
_NOT_ASKED = ("release", "releases", "progress")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name in recipes, its title on the page, what it means, its default and its range as texts."""

    name: str
    title: str
    meaning: str
    default: str
    allowed: str = ""


@dataclass(frozen=True)
class Entry:
    """One thing of the reference; `name` is that of recipes and the command line.

    `facts` has the texts of FACTS by their words, `returns` says what a function gives, `raises` has each error with
    the case in which it comes, `example` is the text of the docstring's example, and `related` is the key of what a
    criterion is read from, and `minimality` is what a method says of readers who know it.
    """

    key: str
    name: str
    title: str
    definition: str
    parameters: tuple[Parameter, ...]
    facts: Mapping[str, str]
    returns: tuple[Described, ...] = ()
    raises: tuple[Described, ...] = ()
    example: str = ""
    related: str = ""
    minimality: str = ""

    @property
    def kind(self) -> str:
        """The word of KINDS for it."""
        return KINDS[self.key.partition(":")[0]]


def facts_of(docstring: Docstring) -> dict[str, str]:
    """What the Notes and References of a docstring say, by the words of FACTS."""
    facts: dict[str, str] = {}
    for fact in re.split(rf"^(?=(?:{'|'.join(FACTS)}): )", docstring.sections.get("Notes", ""), flags=re.MULTILINE):
        word, separator, text = fact.partition(": ")
        if separator and word in FACTS:
            facts[word] = " ".join(text.split())
    if "References" in docstring.sections:
        facts["Source"] = " ".join(docstring.sections["References"].split())
    return facts


@cache
def entries() -> Mapping[str, Entry]:
    """Everything that is registered, by key: `algorithm:mondrian`, `measure:emd`, ..."""
    found = [
        *(_of_model("algorithm", model) for model in ALGORITHMS.values()),
        *(_of_model("requirement", model) for model in REQUIREMENTS.values()),
    ]
    measures = [_of_measure(name, function) for name, function in {**MEASURES, **MEASURES_OF_SEVERAL}.items()]
    found += sorted(measures, key=lambda one: one.kind != KINDS["attack"])
    by_key = {one.key: one for one in found}
    for criterion in CRITERIA.values():
        one = _of_criterion(criterion, by_key)
        by_key[one.key] = one
    return MappingProxyType(by_key)


def key_of(kind: type[Model]) -> str:
    """The key of a method or requirement."""
    return f"{'algorithm' if kind.name in ALGORITHMS else 'requirement'}:{kind.name}"


def _key_of_name(name: str) -> str:
    """The key of a requirement, method or measure by its name in recipes."""
    package, _, short = name.partition(".")
    if not short:
        return f"{'algorithm' if name in ALGORITHMS else 'requirement'}:{name}"
    return f"{'attack' if package == 'attacks' else 'measure'}:{short}"


def _of_model(kind: str, model: type[Model]) -> Entry:
    parts = Docstring.of(model.__doc__)
    summary = getattr(model, "summary", "")
    return Entry(
        f"{kind}:{model.name}",
        model.name,
        model.title,
        f"{summary}\n\n{parts.text}" if summary else parts.text,
        tuple(_parameter(field) for field in field_forms(model)),
        facts_of(parts),
        **_sections(parts),
        minimality=model.minimality.text if issubclass(model, Algorithm) else "",
    )


def _sections(parts: Docstring) -> dict[str, Any]:
    """What a docstring says of results, errors and an example."""
    return {
        "returns": parts.described("Returns"),
        "raises": parts.described("Raises"),
        "example": parts.sections.get("Examples", ""),
    }


def _parameter(field: FieldForm) -> Parameter:
    ends = [
        *([f"at least {field.low:,g}"] if field.low is not None else []),
        *([f"at most {field.high:,g}"] if field.high is not None else []),
    ]
    allowed = ", ".join(map(str, field.options)) if field.options else " and ".join(ends)
    return Parameter(field.name, field.title, field.help, _text(field.default), allowed)


def _of_measure(name: str, function: Callable[..., object]) -> Entry:
    parts = Docstring.of(function.__doc__)
    meanings = {one.name: one.meaning for one in parts.described("Parameters")}
    parameters = tuple(
        Parameter(
            one.name,
            one.name if len(one.name) == 1 else one.name.replace("_", " ").capitalize(),
            meanings.get(one.name, ""),
            "required" if one.default is one.empty else _text(one.default),
        )
        for one in inspect.signature(function).parameters.values()
        if one.name not in _NOT_ASKED
    )
    return Entry(
        _key_of_name(name), name, REGISTERED[name].title, parts.text, parameters, facts_of(parts), **_sections(parts)
    )


def _of_criterion(one: Number, others: Mapping[str, Entry]) -> Entry:
    base = others.get(_key_of_name(one.documented_by or one.measured_by))
    direction = "Higher" if one.higher_is_better else "Lower"
    about = " It is about one sensitive attribute." if one.of_attribute else ""
    slow = " On a large table it takes seconds." if one.is_slow else ""
    text = f"{one.meaning}\n\n{direction} is better for the one who publishes. It says {FAMILIES[one.family].lower()}."
    compared = f" The baseline is {one.baseline}" if one.baseline else ""
    told = {ALSO_SYNTHETIC: "", EVERY_FORM: " Synthetic tables have none."}
    forms = told.get(one.release_forms, f" Releases that have it: {', '.join(one.release_forms)}.")
    text += about + slow + compared + forms
    facts = {**(base.facts if base else {}), "Source": f"{one.source}."}
    return Entry(f"criterion:{one.name}", one.name, one.title, text, (), facts, related=base.key if base else "")


def _text(value: Any) -> str:
    if value is None or value == () or value == {}:
        return "none"
    if isinstance(value, Model):
        return value.title
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)
    return str(value)


@dataclass(frozen=True)
class Described:
    """A name of a section with its type, as far as it is given, and what is said of it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Docstring:
    """A docstring in parts: the text before the first section, and the text of each section by its title."""

    text: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, docstring: str | None) -> Docstring:
        """The parts of a docstring as it stands in the source; of None they are empty."""
        text, *rest = _TITLE.split(inspect.cleandoc(docstring or ""))
        return cls(text.strip(), {title: body.strip("\n ") for title, body in zip(rest[::2], rest[1::2], strict=True)})

    def described(self, title: str) -> tuple[Described, ...]:
        """The names that a section lists, each with the indented text below it; several names may share a line."""
        found: list[Described] = []
        for head, body in re.findall(r"^(\S.*)\n?((?:\s*\n|[ ]+.*\n?)*)", self.sections.get(title, ""), re.MULTILINE):
            names, given, kind = head.partition(" : ")
            meaning = "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", body.strip()))
            # Without a type the line is a type itself, as under Returns, where commas belong to it.
            found += [Described(name, kind.strip(), meaning) for name in (names.split(", ") if given else [head])]
        return tuple(found)


CHOICE = "reference"
WHAT = "What is this?"


def button(key: str, label: str = WHAT, place: str = "") -> None:
    """Draw a small button that opens the reference at an entry; `place` tells two for the same entry apart."""
    entry = entries()[key]
    pressed = st.button(
        f":blue[{label}]",
        key=f"about-{place}-{key}",
        type="tertiary",
        on_click=browser.set_widget_values,
        args=({CHOICE: key},),
        help=f"{entry.title} in the reference: what it is, what it assumes, when to use it.",
    )
    if pressed:
        st.switch_page(routes.page("reference"), query_params=state.address())


def heading(title: str, key: str) -> None:
    """A subheader with the button beside it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(title, width="content")
        button(key)


def several(label: str, keys: Iterable[str], place: str) -> None:
    """The names of several entries, each a button, folded away under a label."""
    with st.expander(label), st.container(horizontal=True):
        for key in keys:
            button(key, entries()[key].title, place)

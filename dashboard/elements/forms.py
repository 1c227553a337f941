"""Forms made from the fields of algorithms and requirements; they name none of them.

What a visitor enters is kept in a plain dict (`values`), from which widgets start again after a page switch, a reload,
or a change by the program.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from anoncore import Microdata, ParameterError
from anoncore.algorithms import Algorithm
from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.base.model import Model
from anoncore.base.texts import value_text
from anoncore.requirements import REQUIREMENTS, Requirement
from anoncore.table.domain import Domain, Kind
from dashboard.board.fields import SENSITIVE_FIELD, FieldForm, build_requirement, field_forms, first_requirement
from dashboard.elements import about, attribute_groups
from dashboard.session import browser, compute, state

Values = dict[str, Any]
Ends = Mapping[str, Sequence[float | str]]
MOST_IN_SIGHT = 3
"""Fields beyond these go under `More options`."""
MOST_SEGMENTS = 2
IN_A_LINE = 3
"""Fields beside each other that ask for something of each attribute."""
_NUMBER = "#"
_NO_NAME = ""
"""Stands for no attribute; a select box takes None for nothing chosen yet."""
_ABSENT = object()


@dataclass(frozen=True)
class Names:
    """The attributes that a field may name, and the table that has them where it is at hand."""

    all: tuple[str, ...]
    sensitive: tuple[str, ...]
    data: Microdata | None = None

    @classmethod
    def of(cls, data: Microdata) -> Names:
        """Those of a table."""
        return cls(data.attributes, data.sensitive, data)


def draw(
    kind: type[Model],
    prefix: str,
    values: Values,
    names: Names,
    below: Any = None,
    without: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Draw a form and return its fields as the model takes them; what is entered stays in `values`.

    `below` is a place for fields that need the whole width of the page, the current one by default. Fields named in
    `without` are decided elsewhere.

    Raises ParameterError for a text that cannot be read.
    """
    every = [field for field in field_forms(kind) if field.name not in without]
    forms = [field for field in every if field.form != "groups"]
    fields = {field.name: _draw_field(field, prefix, values, names) for field in forms[:MOST_IN_SIGHT]}
    more = forms[MOST_IN_SIGHT:]
    if more:
        with st.expander("More options", key=f"{prefix}.more"):
            fields |= {field.name: _draw_field(field, prefix, values, names) for field in more}
        changed = [field.title for field in more if _is_changed(field, values)]
        if changed:
            st.caption(f"Changed among these options: {', '.join(changed)}.")
    for field in every:
        if field.form == "groups":
            with st.container() if below is None else below:
                fields[field.name] = _draw_groups(kind, field, prefix, values, names, fields)
    return fields


def _is_changed(field: FieldForm, values: Values) -> bool:
    value = values.get(field.name, field.default)
    if field.form == "text":
        return (value if isinstance(value, str) else text_value(value)) != text_value(field.default)
    return bool((tuple(value) if isinstance(value, list) else value) != field.default)


def _draw_groups(
    kind: type[Model], field: FieldForm, prefix: str, values: Values, names: Names, fields: dict[str, Any]
) -> Any:
    """Groups of attributes, which follow from the other fields until they are given by hand."""

    def propose() -> AttributeProposal | None:
        table, data = state.table(), names.data
        if not issubclass(kind, Algorithm) or table is None or data is None:
            return None
        others = {name: value for name, value in fields.items() if name != field.name}
        digests = (kind.name, table.digest, state.tags().digest, *(repr(others[name]) for name in kind.grouping_fields))
        return compute.kept("proposed_groups", digests, lambda: kind(**others).proposed_groups(data))

    def keep(groups: attribute_groups.Groups | None) -> None:
        values[field.name] = groups

    value = attribute_groups.draw(field, f"{prefix}.{field.name}", values.get(field.name), names.all, propose, keep)
    values[field.name] = value
    return value


def take(model: Model, prefix: str, values: Values) -> None:
    """Make the form show a model's fields; call it in a callback."""
    for field in field_forms(type(model)):
        value = getattr(model, field.name)
        values[field.name] = [entry(values, item) for item in value] if field.form == "requirements" else value
    browser.drop_widgets(f"{prefix}.")


def first_sentence(model: type[Model]) -> str:
    """The first sentence of a model's description."""
    text = inspect.getdoc(model) or ""
    return " ".join(text.split("\n\n")[0].split())


def _draw_field(field: FieldForm, prefix: str, values: Values, names: Names) -> Any:
    if field.form == "requirements":
        return _draw_requirements(field, prefix, values, names)
    key = f"{prefix}.{field.name}"
    value = _draw_widget(field, key, values.get(field.name, field.default), names)
    values[field.name] = value
    return json_value(field, value) if field.form == "text" else value


def _draw_widget(field: FieldForm, key: str, value: Any, names: Names) -> Any:
    common: dict[str, Any] = {"key": key, "persist_state": "page", "help": field.help}
    if field.form in ("integer", "number"):
        return _number(field, common, value)
    if field.form == "flag":
        _seed(key, bool(value))
        return st.toggle(field.title, **common)
    if field.form == "choice":
        options = list(field.options)
        _seed(key, value if value in options else options[0], among=options)
        if len(options) <= MOST_SEGMENTS:
            return st.segmented_control(field.title, options, required=True, **common)
        return st.selectbox(field.title, options, **common)
    if field.form == "attribute":
        return _attribute(field, common, value, names)
    if field.form == "numbers":
        return _numbers(field, key, value, names.sensitive)
    if field.form == "attributes":
        present = browser.widget_value(key, _ABSENT)
        start = (value or ()) if present is _ABSENT else present
        browser.set_widget_values({key: [name for name in start if name in names.all]})
        empty = "all" if field.optional else "none"
        chosen = st.multiselect(field.title, list(names.all), placeholder=empty, **common)
        return None if field.optional and not chosen else tuple(chosen)
    if field.form == "ends":
        return _ends(field, key, value, names.all, names.data)
    _seed(key, value if isinstance(value, str) else text_value(value))
    return st.text_area(field.title, height=80, **common | {"help": f"{field.help} (written as JSON)"})


def _number(field: FieldForm, common: dict[str, Any], value: Any) -> Any:
    cast: type[int] | type[float] = int if field.form == "integer" else float
    # Streamlit types forms of whole numbers and of others apart; `cast` keeps all bounds of one kind.
    low, high, value = (None if one is None else cast(one) for one in (field.low, field.high, value))
    if value is not None:
        value = value if low is None else max(value, low)
        value = value if high is None else min(value, high)
    if field.stops:
        options = sorted({*field.stops, *([value] if value is not None else [])})
        _seed(common["key"], value, among=options)
        return st.select_slider(field.title, options, format_func=lambda one: f"{one:g}", **common)
    _seed(common["key"], value)
    start, form = None if field.optional else "min", None if field.form == "integer" else "%g"
    bounds = {"min_value": low, "max_value": high, "step": cast(field.step)}
    entered = st.number_input(
        field.title, placeholder="not given", **common | bounds | {"value": start, "format": form}
    )
    return field.default if entered is None and not field.optional else entered


def _attribute(field: FieldForm, common: dict[str, Any], value: Any, names: Names) -> Any:
    protects = field.name == SENSITIVE_FIELD
    if protects and field.optional and len(names.sensitive) < 2:
        return None
    known = list(names.sensitive if protects else names.all)
    options = [_NO_NAME, *known] if field.optional else known
    _seed(common["key"], value if value in options else next(iter(options), None), among=options)
    empty = "every sensitive attribute" if protects else "none"
    chosen = st.selectbox(field.title, options, format_func=lambda name: name or empty, **common)
    return chosen or None


def _numbers(field: FieldForm, key: str, value: Mapping[str, float] | None, names: Sequence[str]) -> Any:
    """Ask for a number for each attribute; those left empty are not in the result."""
    entered: dict[str, float] = {}
    if not names:
        return entered
    st.markdown(f"**{field.title}**", help=field.help)
    for name, column in zip(names, _places(len(names)), strict=True):
        place = f"{key}.{name}"
        _seed(place, (value or {}).get(name))
        with column:
            number = st.number_input(
                name,
                min_value=field.low,
                max_value=field.high,
                step=field.step,
                format="%g",
                key=place,
                persist_state="page",
                help=field.help,
                placeholder="as the others",
            )
        if number is not None:
            entered[name] = float(number)
    return entered


def _places(count: int) -> list[Any]:
    """Where so many fields go, a few beside each other."""
    lines = [st.columns(min(count, IN_A_LINE))[: count - start] for start in range(0, count, IN_A_LINE)]
    return [place for line in lines for place in line]


def _ends(
    field: FieldForm, key: str, value: Ends | None, names: Sequence[str], data: Microdata | None
) -> dict[str, tuple[float | str, ...]]:
    """Ask for the ends of each attribute that has numbers or dates; those left empty are not in the result.

    What a field shows while it is empty is what is taken then: the smallest and the largest value of the table.
    """
    asked = [name for name in names if data is None or data.domain[name].kind is Kind.NUMERIC]
    if not asked:
        return {}
    st.markdown(f"**{field.title}**", help=field.help)
    st.caption("Where a field is empty, the smallest and the largest value of the table are taken as they are.")
    found: dict[str, tuple[float | str, ...]] = {}
    for name, column in zip(asked, _places(len(asked)), strict=True):
        place = f"{key}.{name}"
        _seed(place, ends_text((value or {}).get(name, ())))
        with column:
            text = st.text_input(
                name,
                key=place,
                persist_state="page",
                help="The smallest and the largest, or all ends of the ranges, with commas between them.",
                placeholder="" if data is None else _own_ends(data.domain[name]),
            )
        ends = read_ends(text)
        if ends:
            found[name] = ends
    return found


def _own_ends(domain: Domain) -> str:
    """The smallest and the largest value of the table, as they would be written; empty where there is none."""
    if not domain.values:
        return ""
    return ", ".join(value_text(value) for value in (domain.values[0], domain.values[-1]))


def ends_text(ends: Sequence[float | str]) -> str:
    """Ends as they are written."""
    return ", ".join(value_text(end) for end in ends)


def read_ends(text: str) -> tuple[float | str, ...]:
    """Ends as they were written: numbers where they are numbers, else texts, such as dates."""
    return tuple(_end(part.strip()) for part in text.split(",") if part.strip())


def _end(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    # A text that is no number is refused later, in a sentence that names the attribute.
    return number if abs(number) < float("inf") else text


def _seed(key: str, value: Any, among: Sequence[Any] | None = None) -> None:
    """Give a widget its value before it is drawn, unless it has one that is still possible."""
    present = browser.widget_value(key, _ABSENT)
    if present is _ABSENT or (among is not None and present not in among):
        browser.set_widget_values({key: value})


def _draw_requirements(field: FieldForm, prefix: str, values: Values, names: Names) -> tuple[Requirement, ...]:
    """A field that is a list of requirements."""
    start = (first_requirement(),) if field.default is None else field.default
    values.setdefault(field.name, [entry(values, item) for item in start])
    found = requirement_rows(field.name, field.title, prefix, values, names, field.help)
    if not found and field.default != ():
        raise ParameterError("Without a requirement nothing is protected; add one, such as k-anonymity.")
    return found


def requirement_rows(
    list_name: str, title: str, prefix: str, values: Values, names: Names, help: str | None = None
) -> tuple[Requirement, ...]:
    """A list of requirements, each with its own fields; one can be added and removed."""
    st.markdown(f"**{title}**", help=help)
    found = []
    for row in values[list_name]:
        with st.container(border=True, key=f"{prefix}.row{row[_NUMBER]}".replace(".", "-")):
            found.append(_draw_requirement(list_name, prefix, row, values, names))
    picker = f"{prefix}.{list_name}.add"
    st.selectbox(
        "Add a requirement",
        list(REQUIREMENTS),
        index=None,
        format_func=lambda name: REQUIREMENTS[name].title,
        key=picker,
        placeholder="Add a requirement …",
        label_visibility="collapsed",
        on_change=_add,
        args=(picker, list_name, values),
    )
    return tuple(found)


def _draw_requirement(list_name: str, prefix: str, entry: Values, values: Values, names: Names) -> Requirement:
    kind = REQUIREMENTS[entry["name"]]
    number = entry[_NUMBER]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{kind.title}**", help=f"{first_sentence(kind)} Source: {kind.source}.", width="content")
        about.button(about.key_of(kind), place=f"{prefix}.{list_name}.{number}")
        st.button(
            "Remove",
            key=f"{prefix}.{list_name}.{number}.remove",
            type="tertiary",
            on_click=_remove,
            args=(list_name, values, number),
        )
    forms = field_forms(kind)
    shown = [form for form in forms if form.name != SENSITIVE_FIELD or len(names.sensitive) > 1]
    for column, form in zip(st.columns(max(len(shown), 1)), shown, strict=False):
        with column:
            _draw_field(form, f"{prefix}.{list_name}.{number}", entry, names)
    if len(shown) < len(forms):
        entry[SENSITIVE_FIELD] = None
    return build_requirement(entry)


def entry(values: Values, requirement: Model) -> Values:
    """A requirement as the form keeps it: its name, its fields and a number that tells equal ones apart."""
    values[_NUMBER] = values.get(_NUMBER, 0) + 1
    return {_NUMBER: values[_NUMBER], "name": requirement.name, **dict(requirement)}


def _add(picker: str, list_name: str, values: Values) -> None:
    name = browser.widget_value(picker)
    if name is not None:
        values[list_name].append(entry(values, build_requirement({"name": name})))
        browser.set_widget_values({picker: None})


def _remove(list_name: str, values: Values, number: int) -> None:
    values[list_name] = [entry for entry in values[list_name] if entry[_NUMBER] != number]


def text_value(value: Any) -> str:
    """A value as JSON; empty for none."""
    return "" if value is None else json.dumps(value.to_dict() if isinstance(value, Model) else value)


def json_value(field: FieldForm, text: str) -> Any:
    """What a JSON text says. Raises ParameterError where it is none."""
    if not text.strip():
        return None if field.optional else field.default
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # ValueError: also a number of too many digits
        raise ParameterError(
            f"{field.title} cannot be read; write it as JSON, for example {text_value(['a'])}."
        ) from None

"""What is asked of a table in a few characters, such as k=5, as requirements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.front.named_columns import Spelling
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from anoncore.search.keeping import requirements_at
from anoncore.table.microdata import Microdata

FORMS: dict[str, Callable[[Any], Requirement]] = {
    "k": lambda value: KAnonymity(k=value),
    "l": lambda value: DistinctDiversity(l=value),
    "distinct-l": lambda value: DistinctDiversity(l=value),
    "entropy-l": lambda value: EntropyDiversity(l=value),
    "frequency-l": lambda value: FrequencyDiversity(l=value),
    "recursive-c": lambda value: RecursiveDiversity(c=value),
    "beta": lambda value: BetaLikeness(beta=value),
    "t-equal": lambda value: TCloseness(t=value, ground="equal"),
    "t-ordered": lambda value: TCloseness(t=value, ground="ordered"),
    "t-interval": lambda value: TCloseness(t=value, ground="interval"),
}
"""What may be required, by name; `t` is the one of them that fits the kind of each attribute."""
NAMES = (*FORMS, "t")


def name_and_number(text: str, spelling: Spelling) -> tuple[str, int | float]:
    """A requirement's name and number. Raises ParameterError for anything else."""
    parameter = spelling("require")
    name, equals, number = (part.strip() for part in text.partition("="))
    if name not in NAMES or not equals:
        raise ParameterError(
            f"{parameter} {text!r} is no requirement; write one of {', '.join(NAMES)} with a number, as k=5."
        )
    try:
        value = float(number)
    except ValueError:
        raise ParameterError(f"{parameter} {text!r} needs a number, such as {name}=5; {number!r} is none.") from None
    if not math.isfinite(value):
        raise ParameterError(f"{parameter} {text!r} needs a finite number, such as {name}=5.")
    return name, int(value) if value.is_integer() else value


def requirements_of(asked: Sequence[str | Requirement], data: Microdata, spelling: Spelling) -> Iterator[Requirement]:
    """The requirements that are asked for, of which t takes the distance that fits the kind of each secret.

    Raises ParameterError for a text that is no requirement, and for one about a secret where there is none.
    """
    for entry in asked:
        if isinstance(entry, Requirement):
            yield entry
            continue
        name, value = name_and_number(entry, spelling)
        if name != "k" and not data.sensitive:
            raise ParameterError(
                f"{spelling('require')} {name}={value} is about a secret column; name it with {spelling('secret')}."
            )
        if name != "t":
            yield FORMS[name](value)
            continue
        for attribute in data.sensitive:
            yield from requirements_at("t", value, data, attribute)

"""JSON texts in which every program reads the same."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from anoncore.base.errors import DataError


def plain_json(text: str | bytes, complaint: str) -> Any:
    """What a JSON text in UTF-8 says.

    Raises DataError, which is the complaint with the reason in place of its {}, for a text that is no JSON and for one
    that can be read in two ways: with a key twice, of which some programs show the first value and others take the
    last, or with a number that JSON does not have.
    """
    try:
        written = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(written, object_pairs_hook=_each_key_once, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = str(error)
    raise DataError(complaint.format(reason))


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!a} stands twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number

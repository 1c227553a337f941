"""Lists of numbers as people write them: `2, 5, 10` or `2-20 step 3`."""

from __future__ import annotations

import re

import numpy as np

from anoncore.base.errors import ParameterError

MOST_NUMBERS = 200
_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|to|\.\.)\s*({_NUMBER})(?:\s*(?:step|by)\s*({_NUMBER}))?")


def numbers_from_text(text: str) -> list[float]:
    """The numbers, in the order written, each once; none for an empty text.

    A range goes in steps of one unless it says otherwise, and its end belongs to it. Raises ParameterError for what is
    no number and for more than 200.
    """
    numbers: list[float] = []
    for part in re.split(r"[,;]", text):
        numbers += _numbers(part.strip()) if part.strip() else []
        if len(numbers) > MOST_NUMBERS:
            raise ParameterError(f"These are more than {MOST_NUMBERS} numbers; choose a larger step.")
    return list(dict.fromkeys(numbers))


def _numbers(part: str) -> list[float]:
    if re.fullmatch(_NUMBER, part):
        return [float(part)]
    limits = _RANGE.fullmatch(part)
    if limits is None:
        raise ParameterError(f"'{part}' is no number and no range; write 2, 5, 10 or 2-20 step 3.")
    low, high, step = float(limits[1]), float(limits[2]), float(limits[3] or 1)
    if step <= 0 or high < low:
        raise ParameterError(f"'{part}' is no range; write the smaller number first, and a step above 0.")
    if (high - low) / step > MOST_NUMBERS:
        raise ParameterError(f"'{part}' has more than {MOST_NUMBERS} numbers; choose a larger step.")
    count = int(np.floor((high - low) / step + 1e-9)) + 1
    return [round(low + step * step_number, 12) for step_number in range(count)]

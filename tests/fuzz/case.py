"""One fuzzed input: what was fed, and what may come out."""

from __future__ import annotations

import random
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anoncore import AnonymizationError

SECONDS = 10.0
LONGEST_SENTENCE = 1_500


class Case:
    """A source of random choices that remembers the inputs made of them, so that a finding can be read and rerun."""

    def __init__(self, target: str, seed: int, number: int) -> None:
        self.name = f"{target}-{seed}-{number}"
        self.random = random.Random(self.name)
        self.inputs: dict[str, Any] = {}

    def keep(self, name: str, value: Any) -> Any:
        """Remember an input and return it."""
        self.inputs[name] = value
        return value

    def chance(self, share: float) -> bool:
        """True in that share of the inputs."""
        return self.random.random() < share

    def pick(self, options: Any) -> Any:
        """One of the options."""
        return self.random.choice(options)

    def generator(self) -> np.random.Generator:
        """A numpy generator that this case alone determines."""
        return np.random.default_rng(self.random.getrandbits(64))


Target = Callable[[Case], None]
"""Feeds one input to the library. Its own errors may come out; anything else is a finding."""


class RefutedError(AssertionError):
    """The library claims something that a plain re-check of the same data refutes."""


class HangError(BaseException):
    """The input takes longer than the watchdog allows; no handler of ordinary errors swallows it."""


@dataclass(frozen=True)
class Outcome:
    """What became of an input: `passed`, `refused` in a sentence, or a `finding` with what it says."""

    case: str
    state: str
    said: str = ""
    detail: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)


def run_case(target: Target, name: str, seed: int, number: int, seconds: float = SECONDS) -> Outcome:
    """Feed one input, watched; it is the same for the same name, seed and number."""
    case = Case(name, seed, number)
    try:
        with warnings.catch_warnings(), _watched(seconds):
            warnings.simplefilter("error")
            target(case)
    except AnonymizationError as error:
        fault = sentence_fault(str(error))
        if fault:
            return Outcome(case.name, "finding", fault, traceback.format_exc(), case.inputs)
        return Outcome(case.name, "refused", str(error))
    except HangError:
        return Outcome(
            case.name, "finding", f"hang: more than {seconds:g} s", traceback.format_exc(limit=-8), case.inputs
        )
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        return Outcome(case.name, "finding", said[:LONGEST_SENTENCE], traceback.format_exc(), case.inputs)
    return Outcome(case.name, "passed")


def sentence_fault(text: str) -> str:
    """Why a message is not fit to be shown; empty if it is."""
    if not text.strip():
        return "an error without a message"
    if len(text) > LONGEST_SENTENCE:
        return f"a message of {len(text):,} characters: {text[:200]!r}"
    if not text.rstrip("'\"").endswith((".", ")", "?", "!")):
        return f"a message that is no sentence: {text[-200:]!r}"
    return ""


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """Raise HangError after so many seconds of work; waiting is left to whoever started the process."""
    started = time.process_time()

    def ring(_number: int, _frame: Any) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    # Compiled code lets no signal through before it returns.
    if time.process_time() - started > seconds:
        raise HangError

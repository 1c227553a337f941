"""Algorithms, requirements, measures and attacks of other packages: register them, and check that they fit.

`register` makes a class or function known to recipes, the command line, the board, sweeps and the reference. A package
that is installed says by an entry point of the group `anoncore.extensions` which module registers what it has; every
command and the dashboard import that module when they start. `check` runs the tests that anoncore's own pass.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.errors import ParameterError
from anoncore.base.extensions import load_extensions
from anoncore.base.number import measure
from anoncore.base.texts import quoted
from anoncore.front.contract import ExtensionError, check
from anoncore.requirements import REQUIREMENTS, Requirement

__all__ = ["ExtensionError", "check", "load_extensions", "measure", "register"]

T = TypeVar("T", bound=Callable[..., Any])


def register(thing: T) -> T:
    """Make an algorithm, a requirement, or a function that measures a release known to everything that lists them.

    Parameters
    ----------
    thing : type or callable
        A class derived from `Algorithm` or `Requirement` with a name, or a function whose first parameter is
        `release` (`releases` for one of several). A function that tells numbers is registered by `measure` instead,
        which takes them.

    Returns
    -------
    type or callable
        The same, so that it can be used as a decorator.

    Raises
    ------
    ParameterError
        Where it is none of these, or its name is that of another one.

    Notes
    -----
    What is defined again under its own name, as in a notebook, takes the place of the earlier.

    Examples
    --------
    >>> from anoncore import AnonymizationError, extend
    >>> def smallest(table):
    ...     return len(table)
    >>> try:
    ...     extend.register(smallest)
    ... except AnonymizationError as error:
    ...     print(error)
    smallest takes 'table' first; a measure or attack takes the `release`, or `releases` where it is about several.
    """
    if isinstance(thing, type) and issubclass(thing, Algorithm | Requirement):
        if "name" not in vars(thing):
            raise ParameterError(f'{thing.__qualname__} needs a `name`, such as `name = "sorted-blocks"`.')
        registry: Any = ALGORITHMS if issubclass(thing, Algorithm) else REQUIREMENTS
        registry.register(thing)
        return thing
    if not inspect.isfunction(thing):
        raise ParameterError(
            f"{quoted(thing)} is no algorithm, no requirement and no function of a release; give a class derived from "
            "Algorithm or Requirement, or a function that takes a release first."
        )
    first = next(iter(inspect.signature(thing).parameters), "")
    if first not in ("release", "releases"):
        raise ParameterError(
            f"{thing.__qualname__} takes {quoted(first) if first else 'nothing'} first; a measure or attack takes the "
            "`release`, or `releases` where it is about several."
        )
    return measure()(thing)

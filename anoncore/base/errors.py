"""What can go wrong, each as one sentence in the user's words with a next step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AnonymizationError(Exception):
    """Base of every error that anoncore raises on purpose, with a text that is fit to be shown to the user.

    Catch it where a program should go on after anything that a table, a parameter or a release can be wrong about.

    Examples
    --------
    >>> from anoncore import AnonymizationError
    >>> from anoncore.requirements import KAnonymity
    >>> try:
    ...     KAnonymity(k=0)
    ... except AnonymizationError as error:
    ...     print(error)
    k-anonymity: k should be greater than or equal to 1, not 0.
    """


class DataError(AnonymizationError, ValueError):
    """A table, file, role, order or hierarchy cannot be used as it was given.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import DataError, Microdata
    >>> try:
    ...     Microdata(pd.DataFrame({"age": [21, 22]}), roles={"Age": "quasi-identifier"})
    ... except DataError as error:
    ...     print(error)
    roles names 'Age', which the table lacks; it has 'age'. Did you mean 'age'?
    """


class UndecidedError(DataError):
    """A recipe of format 1 gives columns no role, and nobody decided whether they are published as they are.

    The text has the two lines of which one decides.
    """


class ParameterError(AnonymizationError, ValueError):
    """A field of an algorithm, requirement or measure lies outside its range, or has a name that does not exist.

    Examples
    --------
    >>> from anoncore import ParameterError
    >>> from anoncore.requirements import TCloseness
    >>> try:
    ...     TCloseness(t=2)
    ... except ParameterError as error:
    ...     print(error)
    t-closeness: t should be less than or equal to 1, not 2.
    """


class ReleaseError(AnonymizationError, ValueError):
    """Someone asked a question that this form of release has no answer to.

    Examples
    --------
    A generalized attribute is published as ranges, so its single values cannot be read off the release:

    >>> import pandas as pd
    >>> from anoncore import Microdata, ReleaseError
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> data = Microdata(pd.DataFrame({"age": [21, 22, 44, 45]}), roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> try:
    ...     release.published_codes("age")
    ... except ReleaseError as error:
    ...     print(error)
    'age' is generalized in this release; its single values are not published.
    """


class RecipeError(AnonymizationError, ValueError):
    """A recipe cannot be read, written or run.

    Examples
    --------
    >>> from anoncore import Recipe, RecipeError
    >>> try:
    ...     Recipe.loads("colour = 'red'")
    ... except RecipeError as error:
    ...     print(error)
    A recipe has no key 'colour'; it has 'format', 'source', ...
    """


class InfeasibleError(AnonymizationError):
    """No release of this table meets the requirement.

    Parameters
    ----------
    message : str
        The reason, as one sentence in the user's words.
    nearest : float, optional
        The nearest value of the parameter that failed with which a release exists, where it is known and still keeps
        anything from an adversary.
    instead : mapping of str to object, optional
        Parameters of the method with which a release exists, all to be set at once, where others than the one that
        failed have to change; empty where none are known.

    Examples
    --------
    Four rows cannot make groups of five, but they can make one of four:

    >>> import pandas as pd
    >>> from anoncore import InfeasibleError, Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> data = Microdata(pd.DataFrame({"age": [21, 22, 44, 45]}), roles={"age": "quasi-identifier"})
    >>> try:
    ...     Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    ... except InfeasibleError as error:
    ...     print(error.nearest)
    4
    """

    def __init__(self, message: str, nearest: float | None = None, instead: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest
        self.instead: Mapping[str, Any] = instead or {}


class CancelledError(AnonymizationError):
    """The caller's `progress` asked for the computation to stop before it was done.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import CancelledError, Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> def stop(share, text):
    ...     raise CancelledError(f"Stopped by the user at: {text}.")
    >>> data = Microdata(pd.DataFrame({"age": [21, 22, 44, 45]}), roles={"age": "quasi-identifier"})
    >>> try:
    ...     Mondrian().anonymize(data, progress=stop)
    ... except CancelledError as error:
    ...     print(error)
    Stopped by the user at: Starting.
    """

"""What can go wrong, each as one sentence in the user's words with a next step."""

from __future__ import annotations


class AnonymizationError(Exception):
    """Base of every error that anoncore raises on purpose; its text is fit to be shown to the user."""


class DataError(AnonymizationError, ValueError):
    """A table, file, role, order or hierarchy that cannot be used as given."""


class ParameterError(AnonymizationError, ValueError):
    """A field of an algorithm, requirement or measure outside its range."""


class ReleaseError(AnonymizationError, ValueError):
    """A question that this form of release has no answer to."""


class RecipeError(AnonymizationError, ValueError):
    """A recipe that cannot be read or run."""


class InfeasibleError(AnonymizationError):
    """No release of this table meets the requirement.

    `nearest` is the nearest feasible value of the parameter that failed, where one is known.
    """

    def __init__(self, message: str, nearest: float | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest


class CancelledError(AnonymizationError):
    """The caller asked for the computation to stop before it was done."""

"""Releases whose random choices follow from a seed that somebody gave: certified only where that is asked for."""

from __future__ import annotations

from anoncore.base.errors import ReleaseError
from anoncore.release.release import ReleaseMethod

SEED = "left out: with the seed of a release a reader could undo its random choices"
NO_SEED = "the method makes no random choices"
UNREPEATABLE = "there is none: its random choices come from the system, and nothing can repeat them"
GIVEN = "given by whoever made the release: whoever guesses it can repeat and undo its random choices"
GIVEN_SENTENCE = (
    "The random choices of this release follow from a seed that was given to the method. Whoever guesses that seed can "
    "repeat and undo them; nothing here is about such readers."
)
REFUSED = (
    "There is no certificate for a release whose random choices follow from a seed that was given: whoever guesses the "
    "seed, out of billions in an hour, can undo them. "
)


def require_drawn_seeds(
    algorithm: ReleaseMethod | None,
    guessable_seed: bool,
    instead: str = "Leave it out, so that one is drawn; or ask for the certificate by name (guessable_seed=True).",
) -> None:
    """Raise ReleaseError for a method with a seed that can be guessed, unless that is wanted.

    `instead` says what to do.
    """
    if algorithm is not None and algorithm.has_guessable_seed and not guessable_seed:
        raise ReleaseError(f"{REFUSED}{instead}")


def seed_entry(algorithm: ReleaseMethod) -> str:
    """What a certificate or a report says of the seed of a method, which it never names."""
    if not algorithm.is_repeatable:
        return UNREPEATABLE
    return GIVEN if algorithm.has_guessable_seed else SEED if algorithm.seeds else NO_SEED


def seed_sentences(algorithm: ReleaseMethod | None) -> tuple[str, ...]:
    """What the certificate of a release with a seed that can be guessed says of it."""
    return (GIVEN_SENTENCE,) if algorithm is not None and algorithm.has_guessable_seed else ()

"""The decision on insensitive columns that undo a tag, as an option of `anoncore run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from anoncore.base.errors import ReleaseError
from anoncore.base.texts import listing
from anoncore.cli.log import log
from anoncore.measures.kept_results import Cache
from anoncore.privacy import tag_leaks
from anoncore.privacy.tag_leaks import undecided
from anoncore.publishing.certification.untagged_columns import decided_leaks
from anoncore.recipes.recipe import Recipe
from anoncore.release.release import Release

OPTION = "--publish-untagged"


def add_untagged_option(run: argparse.ArgumentParser) -> None:
    """Give the parser of the command the option that decides on such columns."""
    run.add_argument(
        OPTION,
        action="append",
        default=[],
        metavar="COLUMN",
        help="publish an insensitive column as it is although it undoes a tag, again for more; the certificate records "
        "it (default: those that the recipe names in publish_untagged). Without a decision nothing is written",
    )


def decided_columns(release: Release, recipe: Recipe, given: Sequence[str], cache: Cache) -> tuple[str, ...]:
    """The columns that the option and the recipe name.

    Raises ReleaseError where nobody decided on some of the columns that undo a tag, before anything is written; what
    each of them gives away is then told on the error stream, a line for each. Raises ParameterError for a name that is
    none of such a column.
    """
    chosen = (*recipe.publish_untagged, *given)
    if release.is_synthetic:  # no column tells anything of a person there
        return ()
    left = undecided(cache("privacy.tag_leaks", tag_leaks), chosen)
    if left:
        for leak in left:
            log().error(leak.sentence)
        columns = [leak.column for leak in left]
        raise ReleaseError(
            f"Nothing was written, because nobody decided on {listing(columns, 30)}. Tag them in the recipe, or "
            f"publish them as they are with {' '.join(f'{OPTION} {_argument(name)}' for name in columns)}."
        )
    decided_leaks(release, chosen, cache=cache)
    return chosen


def _argument(name: str) -> str:
    return f"'{name}'" if set(name) & set(' \t"$&|;<>()*?#~') else name

"""How commands end: one table of exit codes for all of them."""

from __future__ import annotations

import argparse

DONE, FAILS, REFUSED, CLAIMED, STOPPED = 0, 1, 2, 3, 130
"""Done, and all that was required was counted and holds; done, and something required fails; bad input, declined, or
nothing done; done, and something required is only claimed or holds only while a published column is unknown; Ctrl+C.
"""


def add_strict_option(parser: argparse.ArgumentParser) -> None:
    """Give a command that judges releases the option --strict."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help=f"exit with {FAILS} also where what was asked holds only over what is known, because a column that is "
        "published as it is breaks it",
    )


def worst_code(*codes: int) -> int:
    """The exit code of several judgements together: what fails is worse than what is only claimed."""
    return next((code for code in (FAILS, CLAIMED) if code in codes), DONE)


def judged_code(arguments: argparse.Namespace, code: int) -> int:
    """The exit code of a judgement; with --strict what is only claimed or holds only over what is known fails."""
    return FAILS if arguments.strict and code == CLAIMED else code

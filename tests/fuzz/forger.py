"""`python -m tests.fuzz.forger --forgeries 5000 --genuine 1000`: forge releases, and see what the verifier believes.

The tests beside it make as many as the environment variable ANONCORE_FORGERIES says, and few where it says nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.forged_people import ANEW, EDITS
from tests.fuzz.forgery import CANARY, ON_TEXT, DoesNotFitError, Forgery
from tests.fuzz.honest import CRASHED, Answer, any_genuine, as_delivered, verified
from tests.fuzz.plain_reader import false_statements

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
ONLY_BY_HASHES = {"other_numbers", "cells", "numbers_out_of_range"}
"""Edits that say nothing false of what the tables show, so that without hashes nothing need be said of them."""
SIZE = int(os.environ.get("ANONCORE_FORGERIES", "60"))
"""How many forgeries the tests make; a sixth as many genuine releases."""
WITHOUT_PLACE = (DoesNotFitError, KeyError, ValueError, IndexError, TypeError, AttributeError)
"""What an edit raises where a folder has nothing that it is about."""
HELD = re.compile(r"^(?:counted here and holds|holds)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """A forgery that was believed, or a genuine release that was refused."""

    case: str
    kind: str
    said: str
    forgery: Forgery
    answer: Answer


def forged(case: Case) -> tuple[str, Forgery]:
    """A forgery of a genuine release, by one edit or by several."""
    while True:
        folder = any_genuine(case)
        names = case.random.sample(list(EDITS), 1 if case.chance(0.7) else 2)
        # What begins anew comes first, and an edit of the text last: other ones would undo what they said.
        names.sort(key=lambda name: (name in ON_TEXT) - (name in ANEW))
        edits: tuple[str, ...] = ()
        wrong, told = "", ""
        try:
            for name in names:
                found = EDITS[name](case, folder)
                folder, edits = found.folder, (*edits, *found.edits)
                wrong, told = wrong or found.wrong, told or found.told
        except WITHOUT_PLACE:
            continue  # an earlier edit took away what this one is about
        return "+".join(names), Forgery(folder, edits, wrong, told)


def judged(case: Case, kind: str, forgery: Forgery) -> Finding | None:
    """A finding where the verifier believes something false, or lets a forger write on the terminal."""
    is_shown = not ONLY_BY_HASHES & set(kind.split("+"))
    options = ("--no-hashes",) if case.chance(0.15) and is_shown else ()
    # Without hashes, what the certificate says of contents alone is not compared, as was asked.
    as_folder = case.chance(0.5) or bool({"more_files", "a_link", "telling_names"} & set(kind.split("+")))
    answer = verified(forgery.folder, *options, as_folder=as_folder)
    said = fault_of(kind, forgery, answer, bool(options))
    place = f"{' without hashes' if options else ''}{' as a folder' if as_folder else ''}"
    return Finding(case.name, kind, said + place, forgery, answer) if said else None


def fault_of(kind: str, forgery: Forgery, answer: Answer, without_hashes: bool = False) -> str:
    """What is wrong with an answer to a forgery; empty where nothing is."""
    said = ""
    if answer.code == CRASHED:
        said = f"the verifier crashes: {answer.text.strip().splitlines()[-1]}"
    elif CONTROL.search(answer.text):
        said = f"control characters reach the terminal: {CONTROL.search(answer.text)!r}"
    elif any(CANARY in line for line in HELD.findall(answer.text)):
        said = "a sentence of the forger stands among what was counted"
    elif answer.accepted:
        counted = not (without_hashes and set(kind.split("+")) <= ONLY_BY_HASHES)
        said = forgery.wrong if counted else ""
        said = said or "; ".join(_false(forgery))
        if not said and forgery.told not in answer.text:
            said = f"the verifier does not say: {forgery.told}"
    return said


def _false(forgery: Forgery) -> list[str]:
    try:
        return false_statements(forgery.folder.text, forgery.folder.tables)
    except (ValueError, KeyError) as error:
        return [f"accepted, although it cannot be read plainly: {error!r}"]


def genuine(case: Case) -> Finding | None:
    """A finding where a genuine release is refused, or is said to hold where it does not."""
    folder = as_delivered(case, any_genuine(case))
    answer = verified(folder, as_folder=case.chance(0.5))
    said = "refused" if answer.refused or answer.code == CRASHED else ""
    if answer.accepted:
        said = "; ".join(false_statements(folder.text, folder.tables))
    return Finding(case.name, "genuine", said, Forgery(folder, (folder.about,)), answer) if said else None


def run(forgeries: int, honest: int, seed: int = 0) -> tuple[list[Finding], Counter[str]]:
    """So many forgeries and genuine releases: what was found, and how many of each kind there were."""
    found: list[Finding] = []
    counts: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(forgeries):
            case = Case("forgery", seed, number)
            kind, forgery = forged(case)
            counts[kind if "+" not in kind else "several edits"] += 1
            finding = judged(case, kind, forgery)
            found += [finding] if finding else []
        for number in range(honest):
            finding = genuine(Case("genuine", seed, number))
            counts["genuine"] += 1
            found += [finding] if finding else []
    return found, counts


def main() -> int:
    """Run the forger; 0 where nothing was believed that is false, and nothing genuine was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.forger", description=__doc__)
    parser.add_argument("--forgeries", type=int, default=200)
    parser.add_argument("--genuine", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other forgeries")
    parser.add_argument("--output", type=Path, help="folder for what was found (default: a temporary one)")
    arguments = parser.parse_args()
    output = arguments.output or Path(tempfile.mkdtemp(prefix="forgeries-"))
    started = time.monotonic()
    found, counts = run(arguments.forgeries, arguments.genuine, arguments.seed)
    for finding in found:
        place = output / finding.case
        finding.forgery.folder.write(place)
        lines = [
            finding.kind,
            *finding.forgery.edits,
            "",
            finding.said,
            "",
            f"exit {finding.answer.code}",
            finding.answer.text,
        ]
        (output / f"{finding.case}.txt").write_text("\n".join(lines), errors="backslashreplace")
    kinds = Counter(one.kind for one in found)
    for kind, count in counts.most_common():
        print(f"{kind:36} {count:>6,} made, {kinds[kind]:>5,} found")
    print(
        f"{arguments.forgeries:,} forgeries and {arguments.genuine:,} genuine releases: {len(found):,} findings, "
        f"{time.monotonic() - started:,.0f} s{f' (see {output})' if found else ''}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

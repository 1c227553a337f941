"""`python -m tests.fuzz --inputs 100000`: feed random inputs to every target, in two processes, and tell what broke."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.fuzz.processes import Tally, fuzz
from tests.fuzz.targets import TARGETS, shares


def main() -> int:
    """Run the fuzzer; 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="number of inputs over all targets")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other inputs")
    parser.add_argument("--target", choices=list(TARGETS), action="append", help="only this target; may be repeated")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="rerun one input of the target")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--output", type=Path, help="folder for the inputs of findings (default: a temporary one)")
    arguments = parser.parse_args()
    output = arguments.output or Path(tempfile.mkdtemp(prefix="fuzz-"))
    wanted = arguments.target or list(TARGETS)
    if arguments.only is not None:
        plan = {name: range(arguments.only, arguments.only + 1) for name in wanted}
    else:
        plan = {name: range(count) for name, count in shares(wanted, arguments.inputs).items()}
    tallies = fuzz(plan, arguments.seed, arguments.jobs, output)
    for name, tally in tallies.items():
        print(_line(name, tally))
    total = Tally.of(tallies.values())
    print(_line("all", total))
    if total.findings:
        print(f"Inputs of the findings: {output}")
    return 1 if total.findings else 0


def _line(name: str, tally: Tally) -> str:
    return (
        f"{name:12} {tally.inputs:>8,} inputs: {tally.passed:>8,} taken, {tally.refused:>8,} refused, "
        f"{tally.findings:>4} findings, {tally.seconds:>8,.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())

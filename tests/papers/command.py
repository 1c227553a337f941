"""What the command of every paper's module has in common."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.papers.findings import Findings


def command(about: str | None, reproduce: Callable[..., Findings], **numbers: str) -> None:
    """Run one module: `--out`, `--quick` and a whole number for each of `numbers`, which have their help as value."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for tables and plots (default: a new one)")
    parser.add_argument("--quick", action="store_true", help="reduced sizes: seconds to a minute")
    for name, text in numbers.items():
        parser.add_argument(f"--{name}", type=int, help=text)
    arguments = vars(parser.parse_args())
    folder, quick = arguments.pop("out"), arguments.pop("quick")
    folder = folder or Path(tempfile.mkdtemp(prefix="paper-"))
    folder.mkdir(parents=True, exist_ok=True)
    given = {name: value for name, value in arguments.items() if value is not None}
    print(f"\n{reproduce(quick, folder, **given).said.text()}\n\nTables and plots are in {folder}")

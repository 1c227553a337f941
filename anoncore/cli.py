"""The command `anoncore`: start the dashboard, run recipes, list what there is."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TextIO, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from anoncore import __version__
from anoncore.algorithms import ALGORITHMS, Progress
from anoncore.domain import listing
from anoncore.errors import AnonymizationError, ParameterError, RecipeError
from anoncore.export import FileFormat, write_tables
from anoncore.model import Model
from anoncore.privacy import guarantees
from anoncore.recipe import Recipe, RecipeRun
from anoncore.requirements import REQUIREMENTS
from anoncore.score import Score

FAILED, MISUSED, STOPPED = 1, 2, 130
ENDINGS: dict[FileFormat, str] = {"csv": ".csv", "parquet": ".parquet", "excel": ".xlsx"}
ARCHIVE = ".zip"
WIDTH = 100


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0 when it is done, 1 when it could not be done, 2 when it was asked for wrongly."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.command(arguments) or 0)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RecipeError, ParameterError) as error:
        return _fail(error, MISUSED)
    except (AnonymizationError, OSError, MemoryError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return _fail("Stopped.", STOPPED)


def _fail(reason: object, code: int) -> int:
    text = " ".join(str(reason).split()) or "There is not enough memory for this table."
    print(f"anoncore: {text}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anoncore",
        description="Anonymize tables with people in them and see what a release protects and what it costs.",
    )
    parser.add_argument("--version", action="version", version=f"anoncore {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    text = "Serve the dashboard on this machine and open it in the browser."
    page = commands.add_parser("dashboard", help=text, description=text)
    page.add_argument("--port", type=_port, help="port to listen on (default: 8501, or the next free one)")
    page.add_argument("--address", help="address to listen on (default: 127.0.0.1, this machine alone)")
    page.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="further name under which the page may be asked for; needed with an address like 0.0.0.0",
    )
    page.add_argument("--no-browser", action="store_true", help="do not open the browser")
    page.set_defaults(command=_dashboard)

    text = "Make the release that a recipe describes, write its tables and print a summary."
    run = commands.add_parser("run", help=text, description=text)
    run.add_argument("recipe", type=Path, help="recipe file (TOML)")
    run.add_argument("--output", type=Path, default=Path(), help="folder or file to write to (default: this folder)")
    run.add_argument("--format", choices=list(ENDINGS), help="file format (default: by the file's ending, else csv)")
    run.add_argument("--force", action="store_true", help="replace files that are there")
    run.set_defaults(command=_run)

    for name, models in (("algorithms", ALGORITHMS), ("requirements", REQUIREMENTS)):
        text = f"List the {name} with their fields."
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(command=lambda _arguments, models=models: _print_models(models))
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use a number from 1 to 65535")
    return int(text)


def _dashboard(arguments: argparse.Namespace) -> int:
    options = []
    if arguments.port is not None:
        options += ["--server.port", str(arguments.port)]
    hosts = list(arguments.allow_host)
    if arguments.address is not None:
        options += ["--server.address", arguments.address]
        hosts.append(arguments.address)
    if hosts:
        for host in dict.fromkeys([*hosts, "127.0.0.1", "localhost"]):
            options += ["--server.allowedHosts", host]
    if arguments.no_browser:
        options += ["--server.headless", "true"]
    # The core does not know the page that is built on it; only this command looks it up.
    return int(importlib.import_module("dashboard.launch").launch(options))


def _run(arguments: argparse.Namespace) -> None:
    recipe = Recipe.load(arguments.recipe)
    file_format = _format(arguments.output, arguments.format)
    target = _target(arguments.output, arguments.recipe.stem)
    for ending in (ENDINGS[file_format], ARCHIVE):
        _check_free(target.with_name(target.name + ending), recipe, arguments.force)
    with _ProgressLine(sys.stderr) as report:
        run = recipe.run(report)
        tables = run.release.tables()
    zipped = len(tables) > 1 and file_format != "excel"
    file = target.with_name(target.name + (ARCHIVE if zipped else ENDINGS[file_format]))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_tables(tables, file, file_format)
    for line in _summary(run):
        print(line)
    print(f"Written: {file} ({', '.join(f'{name}: {len(table):,} rows' for name, table in tables.items())})")
    if getattr(recipe.algorithm, "seed", None) is not None:
        print(
            "anoncore: the recipe holds a seed, with which a reader could undo the random choices; "
            "leave it out for a release that is published.",
            file=sys.stderr,
        )


def _format(output: Path, wanted: FileFormat | None) -> FileFormat:
    if _is_folder(output):
        return wanted or "csv"
    ending = output.suffix.lower()
    by_ending = {known: name for name, known in ENDINGS.items()}
    if ending == ARCHIVE and wanted != "excel":
        return wanted or "csv"
    if ending not in by_ending:
        raise ParameterError(f"The ending of '{output}' is not known; use {listing([*ENDINGS.values(), ARCHIVE])}.")
    if wanted is not None and by_ending[ending] != wanted:
        raise ParameterError(f"'{output}' does not end like the format {wanted}; use '{ENDINGS[wanted]}'.")
    return by_ending[ending]


def _is_folder(output: Path) -> bool:
    return output.is_dir() or not output.suffix


def _target(output: Path, recipe: str) -> Path:
    """The file to write, without its ending: that depends on how many tables are published."""
    return output / f"{recipe}-release" if _is_folder(output) else output.with_suffix("")


def _check_free(file: Path, recipe: Recipe, force: bool) -> None:
    if not file.exists():
        return
    source = recipe.source.path
    if source is not None and file.resolve() == ((recipe.folder or Path()) / source).resolve():
        raise ParameterError(f"'{file}' is the table of the recipe itself; choose another --output.")
    if not force:
        raise ParameterError(f"'{file}' exists; choose another --output, or add --force to replace it.")


class _ProgressLine:
    """Progress as one line that is drawn over, on a terminal only."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.shown = stream.isatty()

    def __enter__(self) -> Progress:
        return self.report

    def report(self, fraction: float, text: str) -> None:
        """Draw the line again."""
        if self.shown:
            self.stream.write(f"\r{fraction:4.0%} {text[: WIDTH - 5]:<{WIDTH - 5}}")
            self.stream.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r" + " " * WIDTH + "\r")
            self.stream.flush()


def _summary(run: RecipeRun) -> Iterator[str]:
    release, algorithm = run.release, run.release.algorithm
    title = algorithm.title if algorithm is not None else "Release"
    for fragment in release.fragments[:1] if release.is_shared else release.fragments:
        sizes = fragment.partition.sizes
        yield (
            f"{title}: {run.data.n_rows:,} rows in {len(sizes):,} groups ({release.group_word}) of {sizes.min():,} to "
            f"{sizes.max():,} rows"
        )
    for one in guarantees(release):
        yield f"  {one.sentence}"
    for note in release.notes:
        yield f"  Note: {note}"
    for name, result in run.measures.items():
        yield from _result_lines(name, result)


def _result_lines(name: str, result: object) -> Iterator[str]:
    scores = result if isinstance(result, Score) else getattr(result, "scores", ())
    if isinstance(scores, Score):
        scores = (scores,)
    if not scores:
        yield f"{name}: {_size_text(result)}"
    for one in scores:
        attribute = getattr(one, "attribute", None)
        of = f" of '{attribute}'" if isinstance(attribute, str) else ""
        baseline = f", baseline {one.baseline:.4g}" if one.baseline is not None else ""
        direction = {True: ", higher is better", False: ", lower is better", None: ""}[one.higher_is_better]
        yield f"{name}: {one.title}{of} {float(one):.4g}{' ' + one.unit if one.unit else ''}{baseline}{direction}"


def _size_text(result: object) -> str:
    shape = getattr(result, "shape", None)
    if shape is not None:
        return f"{' x '.join(f'{size:,}' for size in shape)} values"
    if isinstance(result, int | float | str):
        return str(result)
    return f"{len(result):,} entries" if isinstance(result, Sequence | Mapping) else type(result).__name__


def _print_models(models: Mapping[str, type[Model]]) -> None:
    for position, (name, model) in enumerate(models.items()):
        summary = getattr(model, "summary", None) or (model.__doc__ or "").strip().split("\n\n")[0]
        print(f"{chr(10) if position else ''}{name}: {model.title}")
        print(textwrap.fill(" ".join(summary.split()), WIDTH, initial_indent="  ", subsequent_indent="  "))
        print(textwrap.fill(f"Source: {model.source}", WIDTH, initial_indent="  ", subsequent_indent="  "))
        for field, info in model.model_fields.items():
            default = "" if info.is_required() else f", default {_default_text(info)}"
            line = f"{field} ({_type_text(info)}{default}): {info.description or ''}"
            print(textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="        "))


def _type_text(info: FieldInfo) -> str:
    """What a field takes, e.g. `whole number, 1 or more`."""
    annotation = info.annotation
    if get_origin(annotation) in (Union, UnionType):
        rest = [part for part in get_args(annotation) if part is not NoneType]
        annotation = rest[0] if len(rest) == 1 else annotation
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation))
    names: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    origin = get_origin(annotation) or annotation
    plain = "list" if origin in (tuple, list) else "table" if origin in (dict, Mapping) else "value"
    words = {"ge": "{} or more", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
    ranges = [
        text.format(f"{getattr(item, key):g}")
        for key, text in words.items()
        for item in info.metadata
        if getattr(item, key, None) is not None
    ]
    return ", ".join([names.get(annotation, plain), *ranges])


def _default_text(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True)
    if isinstance(value, tuple | list):
        return ", ".join(one.label() if hasattr(one, "label") else str(one) for one in value) or "none"
    names: dict[Any, str] = {None: "none", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)

"""The command `anoncore run` where the table does not fit in memory: options, and the run on disk.

The run of a recipe whose release is a folder of parts: on disk or Spark, with certificate, report and mapping.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError
from anoncore.base.faults import writing
from anoncore.base.progress import Progress, part_of
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing
from anoncore.base.whole_files import replace_files
from anoncore.cli.destination import Database
from anoncore.cli.key_files import key_kept_first, key_of
from anoncore.cli.log import log
from anoncore.cli.output import REPEATED, is_stream, require_free
from anoncore.cli.recipe_file import recipe_name
from anoncore.cli.run_account import RunAccount, tell_run
from anoncore.cli.text import left_out_line, verdict_lines
from anoncore.measures import Verdict
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.databases.storing import store_parts
from anoncore.publishing.parts.part_certificate import CertifiedParts
from anoncore.publishing.parts.part_publication import (
    MAPPING,
    REPORT,
    certified_folder,
    certified_parts,
    private_path,
    write_private,
)
from anoncore.recipes.recipe import Recipe

if TYPE_CHECKING:
    from anoncore.engines.large_run import LargeRun, WrittenParts
    from anoncore.engines.table_profile import TableProfile
    from anoncore.publishing.certification.certificate import Certificate
    from anoncore.recipes.engine_choice import EngineChoice


MADE = 0.75
"""Share of a run that is over when the parts are written and not yet certified, as a rule of thumb."""
SIZE, UNITS = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB)", re.IGNORECASE), {"MB": 1_000_000, "GB": 1_000_000_000}
"""How the size of memory is written."""
TWO_WAY = "utility.two_way_error"
"""The measure of a recipe that a run on disk or Spark takes, too."""
NOT_LOOKED = (
    "whether a column that is published as it is breaks what was asked was not looked for: that is part of the "
    "certificate, which --no-certificate leaves out."
)


def run_in_parts(
    arguments: argparse.Namespace,
    recipe: Recipe,
    folder: Path | None,
    engine: str,
    certificates: Sequence[Certificate],
) -> str:
    """Make the release of a recipe as a folder of parts, certify it, and tell what was made; gives the insensitive
    columns that break what is promised.

    Without a folder the parts are made in a temporary one, and go from there into the database that was asked for.
    """
    if folder is not None:
        return _run_to(folder, arguments, recipe, engine, certificates)
    if arguments.workspace is not None:
        with writing(arguments.workspace):
            arguments.workspace.mkdir(parents=True, exist_ok=True)
    with temporary_directory(arguments.workspace) as temporary:
        return _run_to(temporary / "release", arguments, recipe, engine, certificates)


def _run_to(
    folder: Path, arguments: argparse.Namespace, recipe: Recipe, engine: str, certificates: Sequence[Certificate]
) -> str:
    database: Database | None = arguments.database
    certified = not arguments.no_certificate
    beside = folder if database is None else arguments.output / f"{recipe_name(arguments.recipe)}-release"
    private = _private_paths(arguments, beside)
    options = _spark_options(arguments.spark_option)
    key, told, kept = key_of(arguments.key_file) if certified else (None, "", {})
    found: list[CertifiedParts] = []
    profiles: list[TableProfile] = []
    about: dict[Path, str] = {}
    with log().progress() as report:
        finishing = part_of(report, MADE, 1.0)

        def finish(written: WrittenParts) -> None:
            profiles.append(written.profile)
            if database is not None:
                with key_kept_first(kept):
                    found.append(_stored(database, written, recipe, certificates, arguments.force, finishing))
            elif certified:
                found.append(certified_parts(written, recipe, certificates, finishing))
                if kept:
                    replace_files(kept, private=kept)
            elif written.profile.insensitive:
                log().warn(NOT_LOOKED)
            for path, kind in private.items():
                about[path] = write_private(kind, path, written, found[0] if found else None)

        # DuckDB is loaded only for this command.
        from anoncore.engines.large_run import Cluster, RunSettings

        settings = RunSettings(
            arguments.workspace,
            part_of(report, 0.0, MADE),
            arguments.force,
            key,
            arguments.mapping,
            finish,
            memory=arguments.memory,
            note=log().note,
            cluster=Cluster(arguments.master, options),
            two_way=any(one.name == TWO_WAY for one in recipe.measures),
        )
        run = _run(engine)(recipe, folder, settings)
        report(1.0, "Done")
    if database is not None:
        written = {database.shown: f"{database.name}: {run.n_rows:,} rows; {database.check}"}
    else:
        parts = len(list(folder.glob("*.parquet")))
        check = f"; check it with: anoncore verify {folder}" if certified else ""
        written = {str(folder): f"{run.n_rows:,} rows in {parts:,} Parquet file{'s' if parts > 1 else ''}{check}"}
    written |= {str(path): told_of_it for path, told_of_it in about.items()}
    found_verdict = found[0].verdict if found else None
    lines = tuple(_summary(run, found_verdict, profiles[0]))
    measured: dict[str, float] = {"information_loss": run.information_loss, "discernibility": run.discernibility}
    measured |= {} if run.two_way_error is None else {TWO_WAY: float(run.two_way_error)}
    figures = {"rows": {"release": run.n_rows}, "notes": run.notes, "measures": measured}
    left_out = profiles[0].left_out
    tell_run(arguments, RunAccount(lines, found_verdict, left_out, figures, written, key or "", told))
    return found[0].verdict.breaking if found else ""


def _run(engine: str) -> Callable[..., LargeRun]:
    # DuckDB and Spark are loaded only for this command.
    from anoncore.recipes.engine_choice import run_on_disk, run_on_spark

    return run_on_disk if engine == "disk" else run_on_spark


def _stored(
    database: Database,
    written: WrittenParts,
    recipe: Recipe,
    certificates: Sequence[Certificate],
    force: bool,
    progress: Progress,
) -> CertifiedParts:
    """Put the release and its certificate into the database, in one transaction."""
    certifying = part_of(progress, 0.6, 0.9)
    with temporary_directory(written.folder.parent) as workspace:
        return store_parts(
            written,
            database.address,
            database.name,
            lambda folder: certified_folder(folder, written, recipe, certificates, certifying),
            force,
            workspace,
            part_of(progress, 0.0, 0.6),
        )


def _spark_options(given: Sequence[str]) -> dict[str, str]:
    """The options of Spark by name. Raises ParameterError for what is no option."""
    options = {}
    for one in given:
        name, is_set, value = one.partition("=")
        if not is_set or not name.startswith("spark."):
            raise ParameterError(f"--spark-option {one.partition('=')[0]}: write spark.name=value.")
        options[name] = value
    return options


def _private_paths(arguments: argparse.Namespace, folder: Path) -> dict[Path, str]:
    """Where the report and the mapping go, and which of them it is. Raises ParameterError for what is there."""
    wanted = {REPORT: arguments.report, MAPPING: arguments.mapping}
    paths = {private_path(folder, ending): ending for ending, asked in wanted.items() if asked}
    for path in paths:
        require_free(path, arguments.force)
    return paths


def _summary(run: LargeRun, found: Verdict | None, profile: TableProfile) -> Iterator[str]:
    used = run.algorithm
    if found is not None:
        yield found.headline
    if profile.unit_note:
        yield f"  {profile.unit_note}"
    yield (f"{used.title}: {run.n_rows:,} rows in {run.n_groups:,} groups of {run.smallest:,} to {run.largest:,} rows")
    if found is None:
        for requirement in used.requirements:
            over = " for readers who know no column that is published as it is" if profile.insensitive else ""
            yield f"  {requirement.label()} holds in every group{over}."
    else:
        yield from verdict_lines(found)
    yield from left_out_line(profile)
    for note in run.notes:
        yield f"  Note: {note}"
    loss, discernibility = 100 * run.information_loss, run.discernibility
    error = "" if run.two_way_error is None else f", two-way error {100 * run.two_way_error:.4g}%"
    yield f"information loss {loss:.4g}%, discernibility {discernibility:.4g}{error}; lower is better"


def add_engine_options(run: argparse.ArgumentParser) -> None:
    """Add --engine and what belongs to it to the command's parser."""
    run.add_argument(
        "--engine",
        choices=["auto", "memory", "disk", "spark"],
        default="auto",
        help="memory: load the table; disk: read it piece by piece (Rothko alone) and write a folder of Parquet files; "
        "spark: the same on Spark, if it is installed; auto: by the size of the table and the free memory",
    )
    run.add_argument(
        "--master",
        metavar="URL",
        help="with --engine spark: the cluster, such as spark://host:7077, or a server of Spark Connect, "
        "sc://host:15002 (default: this machine). Output, workspace and table lie in folders that all machines reach",
    )
    run.add_argument(
        "--spark-option",
        **REPEATED,
        metavar="KEY=VALUE",
        help="with --engine spark: an option of Spark such as spark.executor.memory=4g, again for more",
    )
    run.add_argument(
        "--workspace", type=Path, help="folder for temporary files of the engine disk (default: beside the output)"
    )
    run.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="what the engine disk may take of the memory, such as 1.5GB or 800MB (default: what is free)",
    )


def memory_size(text: str) -> int:
    """The bytes of a size such as 1.5GB or 800MB, for argparse."""
    found = SIZE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; write one such as 1.5GB or 800MB.")
    return int(float(found[1]) * UNITS[found[2].upper()])


def run_where_it_fits(
    arguments: argparse.Namespace, recipe: Recipe, certificates: Sequence[Certificate] = ()
) -> str | None:
    """Run the recipe on disk or Spark, if that is asked for or the table needs it; None if it should run in memory.

    `certificates` are those of earlier releases that the new one names. Gives the insensitive columns that break what
    is promised.
    """
    # DuckDB is loaded only for this command.
    from anoncore.recipes.engine_choice import choose_engine, on_disk

    if arguments.engine != "spark" and (arguments.master is not None or arguments.spark_option):
        raise ParameterError("--master and --spark-option are for Spark; add --engine spark, or leave them out.")
    chosen = choose_engine(recipe, None if arguments.engine == "auto" else arguments.engine)
    if arguments.memory is not None and chosen.engine != "disk":
        raise ParameterError(f"--memory is for the engine disk, and this one is {chosen.engine}; add --engine disk.")
    if chosen.engine == "memory":
        _refuse_workspace(arguments)
        return None
    _refuse_flags(arguments, chosen)
    if recipe.numbers != "text":
        raise ParameterError(
            f"A run on disk or Spark publishes ranges of numbers as text, not as {recipe.numbers}; write numbers = "
            '"text" or --numbers text, or use --engine memory.'
        )
    if arguments.report and arguments.no_certificate:
        raise ParameterError(
            f"--report takes its numbers from the certificate's scan of the parts, which --no-certificate leaves out; "
            f"leave one of them out. The engine is {chosen.engine}."
        )
    folder = None if arguments.database is not None else _folder(arguments)
    used = on_disk(recipe)
    engine = "disk (DuckDB)" if chosen.engine == "disk" else "Spark"
    log().note(f"{chosen.reason} Engine: {engine}, algorithm: {used.title}.")
    in_memory = [one.label for one in recipe.measures if one.name != TWO_WAY]
    if in_memory:
        log().warn(f"{listing(in_memory)} are measured in memory only, and left out.")
    breaking = run_in_parts(arguments, recipe, folder, chosen.engine, certificates)
    if used.has_guessable_seed:
        log().warn("the recipe holds a seed; leave it out for a release that is published.")
    return breaking


ON_LARGE_TABLES = {
    "after_release": "lays an earlier release beside the new one in memory",
    "policy": "judges the release in memory, and anoncore verify --policy its files",
}
"""Options that need the table in memory, and why."""


def _refuse_flags(arguments: argparse.Namespace, chosen: EngineChoice) -> None:
    """Raise ParameterError for an option that a run on disk or Spark cannot honour."""
    for name, reason in ON_LARGE_TABLES.items():
        if getattr(arguments, name):
            flag = f"--{name.replace('_', '-')}"
            why = "" if arguments.engine == chosen.engine else f" {chosen.reason}"
            raise ParameterError(
                f"{flag} {reason}; leave it out, or use --engine memory. The engine is {chosen.engine}.{why}"
            )


def _refuse_workspace(arguments: argparse.Namespace) -> None:
    """Say that --workspace has no use in memory: an error where that engine was asked for, else a note."""
    if arguments.workspace is None:
        return
    if arguments.engine == "memory":
        raise ParameterError(
            "--workspace is for the temporary files of the engines disk and spark; leave it out with --engine memory."
        )
    log().note("--workspace is not used: the table fits in memory.")


def _folder(arguments: argparse.Namespace) -> Path:
    """Where the release goes. Raises ParameterError for another format, and for what is there already."""
    output: Path = arguments.output
    if is_stream(output):
        raise ParameterError("The engine disk writes a folder of Parquet files; name one as --output, not -.")
    if arguments.format not in (None, "parquet") or output.suffix.lower() not in ("", ".parquet"):
        raise ParameterError("The engine disk writes a folder of Parquet files; leave out --format and the ending.")
    folder = output if output.suffix else output / f"{recipe_name(arguments.recipe)}-release"
    if folder.exists() and (not arguments.force or not folder.is_dir()):
        raise ParameterError(f"'{folder}' exists; choose another --output, or add --force to replace it.")
    return folder

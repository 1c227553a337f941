"""The command `anoncore run` where the table does not fit in memory: options, and the run on disk."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError
from anoncore.base.texts import listing
from anoncore.cli.log import log
from anoncore.cli.output import is_stream
from anoncore.cli.recipe_file import recipe_name
from anoncore.cli.run_in_parts import run_in_parts
from anoncore.recipes.recipe import Recipe

if TYPE_CHECKING:
    from anoncore.publishing.certification.certificate import Certificate
    from anoncore.recipes.engine_choice import EngineChoice


def add_engine_options(run: argparse.ArgumentParser) -> None:
    """Add --engine and --workspace to the command's parser."""
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
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with --engine spark: an option of Spark such as spark.executor.memory=4g, again for more",
    )
    run.add_argument(
        "--workspace", type=Path, help="folder for temporary files of the engine disk (default: beside the output)"
    )


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
    if recipe.measures:
        names = listing([one.label for one in recipe.measures])
        log().warn(f"{names} are measured in memory only, and left out.")
    breaking = run_in_parts(arguments, recipe, folder, chosen.engine, certificates)
    if used.has_guessable_seed:
        log().warn("the recipe holds a seed; leave it out for a release that is published.")
    return breaking


ON_LARGE_TABLES = {
    "after_release": "lays an earlier release beside the new one in memory",
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

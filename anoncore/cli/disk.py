"""The command `anoncore run` where the table does not fit in memory: options, and the run on disk."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError
from anoncore.base.texts import listing
from anoncore.cli.log import log
from anoncore.recipes.recipe import Recipe

if TYPE_CHECKING:
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
        "--workspace", type=Path, help="folder for temporary files of the engine disk (default: beside the output)"
    )


def run_where_it_fits(arguments: argparse.Namespace, recipe: Recipe) -> bool:
    """Run the recipe on disk or Spark, if that is asked for or the table needs it; False if it should run in memory."""
    # DuckDB is loaded only for this command.
    from anoncore.recipes.engine_choice import choose_engine, on_disk, run_on_disk, run_on_spark

    chosen = choose_engine(recipe, None if arguments.engine == "auto" else arguments.engine)
    if chosen.engine == "memory":
        _refuse_workspace(arguments)
        return False
    _refuse_flags(arguments, chosen)
    if recipe.numbers != "text":
        raise ParameterError(
            f"A run on disk or Spark publishes ranges of numbers as text, not as {recipe.numbers}; write numbers = "
            '"text" or --numbers text, or use --engine memory.'
        )
    folder = _folder(arguments)
    used = on_disk(recipe)
    engine = "disk (DuckDB)" if chosen.engine == "disk" else "Spark"
    log().note(f"{chosen.reason} Engine: {engine}, algorithm: {used.title}.")
    if recipe.measures:
        names = listing([one.label for one in recipe.measures])
        log().warn(f"{names} are measured in memory only, and left out.")
    if chosen.engine == "spark":
        with log().progress() as report:
            notes = run_on_spark(recipe, folder, arguments.workspace, report)
        print("\n".join([f"{used.title}:", *(f"  Note: {note}" for note in notes), f"Written: {folder}"]))
        return True
    with log().progress() as report:
        run = run_on_disk(recipe, folder, arguments.workspace, report, arguments.force)
    print(
        f"{used.title}: {run.n_rows:,} rows in {run.n_groups:,} groups (equivalence class) of {run.smallest:,} to "
        f"{run.largest:,} rows"
    )
    for requirement in used.requirements:
        print(f"  {requirement.label()} holds in every group.")
    for note in run.notes:
        print(f"  Note: {note}")
    print(
        f"information loss {100 * run.information_loss:.4g}%, discernibility {run.discernibility:.4g}; lower is better"
    )
    print(f"Written: {folder} ({run.n_rows:,} rows in Parquet files)")
    if getattr(used, "seed", None) is not None:
        log().warn("the recipe holds a seed; leave it out for a release that is published.")
    return True


ON_LARGE_TABLES = {
    "after": "names earlier releases in the certificate, and a run on disk or Spark writes none",
    "report": "measures the release in memory",
    "mapping": "compares the release with the table in memory",
    "key_file": "keeps the key of a certificate, and a run on disk or Spark writes none",
    "publish_untagged": "decides on columns that undo a tag, and a run on disk or Spark looks for none",
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
    if chosen.engine == "spark" and arguments.force:
        raise ParameterError(
            "--force replaces a release, which the engine spark never does; choose another --output, or remove the "
            "folder that is there."
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
    if arguments.format not in (None, "parquet") or output.suffix.lower() not in ("", ".parquet"):
        raise ParameterError("The engine disk writes a folder of Parquet files; leave out --format and the ending.")
    folder = output if output.suffix else output / f"{arguments.recipe.stem}-release"
    if folder.exists() and (not arguments.force or not folder.is_dir()):
        raise ParameterError(f"'{folder}' exists; choose another --output, or add --force to replace it.")
    return folder

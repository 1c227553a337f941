"""The command `anoncore run` for a recipe of several tables: make, judge and write them together."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.extras import require
from anoncore.base.progress import part_of
from anoncore.base.texts import listing
from anoncore.base.whole_files import replace_files
from anoncore.cli.exit_codes import CLAIMED, DONE, FAILS, judged_code, worst_code
from anoncore.cli.key_files import key_of
from anoncore.cli.log import log
from anoncore.cli.output import is_stream, require_free, tell
from anoncore.cli.plain_values import plain_value
from anoncore.cli.recipe_file import recipe_name, tell_reading
from anoncore.cli.text import result_lines
from anoncore.publishing.certification.certificate import CERTIFICATE
from anoncore.publishing.certification.claimed_entries import require_drawn_seeds
from anoncore.publishing.export import ARCHIVE, ENDINGS, WRITING_WORKBOOK, FileFormat, archive_bytes
from anoncore.publishing.joined_publication import joined_files
from anoncore.recipes.joined_tables import JoinedRecipe, JoinedRun
from anoncore.sources.addresses import is_address
from anoncore.table.pseudonyms import require_apart

OF_ONE_TABLE = (
    "after",
    "after_release",
    "by",
    "report",
    "mapping",
    "unit",
    "publish_untagged",
    "policy",
    "no_certificate",
    "output_table",
    "master",
    "spark_option",
)
"""Options of `anoncore run` that are about the release of one table."""


def run_joined(arguments: argparse.Namespace, recipe: JoinedRecipe, leave_out_seed: str) -> int:
    """Run a recipe of several tables: all are written with one certificate, or nothing is; gives the exit code.

    `leave_out_seed` says what helps against a seed in the recipe.
    """
    named = [f"--{name.replace('_', '-')}" for name in OF_ONE_TABLE if getattr(arguments, name, None)]
    if named:
        raise ParameterError(f"{listing(named)}: the recipe is of several tables, and that is for one; leave it out.")
    recipe = _as_asked(arguments, recipe)
    for name, one in recipe.tables.items():
        try:
            require_drawn_seeds(one.algorithm, one.guessable_seed, leave_out_seed)
        except ReleaseError as error:
            raise ParameterError(f"Table '{name}': {error}") from None
    target, file_format = _target(arguments, recipe)
    if file_format == "excel":
        require(WRITING_WORKBOOK, "openpyxl")
    is_zip = target.suffix == ARCHIVE
    for file in recipe.key_files if arguments.output is not None and not is_zip else ():
        require_apart(file, target.parent)
    base = target.with_suffix("") if is_zip else target
    names = [f"{base.name}-{name}{ENDINGS[file_format]}" for name in recipe.tables]
    for file in [target] if is_zip else [base.with_name(f"{base.name}{CERTIFICATE}"), *map(base.with_name, names)]:
        require_free(file, arguments.force)
    key, key_sentence, kept = key_of(arguments.key_file)
    with log().progress() as progress, ExitStack() as kept_here:
        here = kept_here.enter_context(recipe.brought_here(arguments.workspace, progress))
        run = here.run(part_of(progress, 0.0, 0.7))
        progress(0.7, "Writing the tables and their certificate")
        releases = {name: one.release for name, one in run.tables.items()}
        is_guessable = any(one.guessable_seed for one in recipe.tables.values())
        files = joined_files(releases, base.name, key, file_format, recipe.person, is_guessable)
        progress(1.0, "Done")
    tell_reading(recipe)
    written = {target: archive_bytes(files.items())} if is_zip else {base.with_name(one): files[one] for one in files}
    # The tables come last: whatever stops the program in between, there are none without their certificate.
    replace_files({**kept, **written}, private=kept)
    _tell(arguments, run, list(written), [str(file) for file in recipe.key_files], key, key_sentence)
    # What the recipe decides to publish as it is was decided: only --strict asks that it breaks nothing.
    asked = FAILS if arguments.strict and run.is_broken_by_decision else DONE
    return judged_code(arguments, worst_code(asked, CLAIMED if run.broken else DONE))


def _as_asked(arguments: argparse.Namespace, recipe: JoinedRecipe) -> JoinedRecipe:
    """The recipe with what options say of every table."""
    tables = {
        name: replace(
            one,
            numbers=arguments.numbers or one.numbers,
            guessable_seed=arguments.guessable_seed or one.guessable_seed,
        )
        for name, one in recipe.tables.items()
    }
    return replace(recipe, tables=tables)


def _target(arguments: argparse.Namespace, recipe: JoinedRecipe) -> tuple[Path, FileFormat]:
    """How the names of the files begin, or the zip that holds them, and their format."""
    output = arguments.output
    if output is None and recipe.output is not None:
        output = recipe.output.path
        output = output if is_address(output) else (recipe.folder or Path()) / output
    if isinstance(output, str) or is_stream(output):
        raise ParameterError("Several tables are written to a folder or a zip; name one of them as --output.")
    place = Path() if output is None else output
    is_zip = not place.is_dir() and place.suffix.lower() == ARCHIVE
    if place.suffix and not place.is_dir() and not is_zip:
        raise ParameterError(
            f"'{place}' is one file, and there are {len(recipe.tables)} tables; name a folder or a zip as --output, "
            "and the format of the tables as --format."
        )
    if arguments.engine in ("disk", "spark"):
        raise ParameterError("Several tables are joined in memory; leave --engine out.")
    return place if is_zip else place / f"{recipe_name(arguments.recipe)}-release", arguments.format or "csv"


def _tell(
    arguments: argparse.Namespace,
    run: JoinedRun,
    written: list[Path],
    key_files: list[str],
    key: str,
    key_sentence: str,
) -> None:
    """Print what was made and what holds of it joined."""
    lines = [*run.sentences]
    for name, one in run.tables.items():
        lines.append(f"{name}: {one.release._headline()}")
        lines += [f"{name}: {line}" for measure, found in one.measures.items() for line in result_lines(measure, found)]
    lines += [f"Written: {path}" for path in reversed(written)]
    lines += [f"Written: {file} (key of the pseudonyms, not for publication)" for file in key_files]
    lines.append(
        f"Check them with: anoncore verify {written[0]}"
        if written[0].suffix != ARCHIVE
        else f"Whoever gets {written[0].name} unpacks it and runs anoncore verify on the certificate in it."
    )
    results = {
        "k": int(run.joined.k),
        "people": run.joined.n_people,
        "linked": run.is_linked,
        "broken": [f"{one.fragment}: {one.sentence}" for one in run.broken],
        "sentences": list(run.sentences),
        "rows": {name: one.release.n_records for name, one in run.tables.items()},
        "measures": {
            name: {measure: plain_value(result) for measure, result in one.measures.items()}
            for name, one in run.tables.items()
        },
        "written": [*map(str, written), *key_files],
        "key": key if arguments.key_file is None else None,
    }
    tell(arguments, [*lines, key_sentence], results)

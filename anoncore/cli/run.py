"""The command `anoncore run`: make the release of a recipe and write its tables and its certificate."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from anoncore.attacks.strongest import Strongest
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.extras import require
from anoncore.base.progress import part_of
from anoncore.base.shared_work import kept_results
from anoncore.base.texts import listing
from anoncore.base.whole_files import replace_files
from anoncore.cli.destination import Database, add_output_options, settle_output
from anoncore.cli.disk import add_engine_options, run_where_it_fits
from anoncore.cli.exit_codes import DONE, FAILS, add_strict_option, judged_code, worst_code
from anoncore.cli.joined_run import run_joined
from anoncore.cli.key_files import key_kept_first, key_of
from anoncore.cli.log import add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_of
from anoncore.cli.output import (
    REPEATED,
    add_flag,
    add_json_option,
    add_reach_options,
    is_stream,
    named_file,
    require_free,
    write_file,
)
from anoncore.cli.plain_values import plain_value
from anoncore.cli.recipe_file import (
    add_recipe_argument,
    add_unit_option,
    load_any_recipe,
    recipe_name,
    tell_reading,
)
from anoncore.cli.run_account import RunAccount, tell_run
from anoncore.cli.text import summary
from anoncore.front.policy.group_requirements import asked_of_groups
from anoncore.front.policy.judgement import Judgement
from anoncore.front.policy.policy import Policy
from anoncore.front.policy.release_rules import judge_release
from anoncore.measures import verdict
from anoncore.publishing.certification.certificate import CERTIFICATE, Certificate
from anoncore.publishing.certification.claimed_entries import Earlier, require_drawn_seeds
from anoncore.publishing.certification.laid_beside import laid_beside
from anoncore.publishing.databases.storing import store
from anoncore.publishing.export import ARCHIVE, ENDINGS, WRITING_WORKBOOK, FileFormat, table_file, write_tables
from anoncore.publishing.parts.part_publication import MAPPING, REPORT
from anoncore.publishing.publication import release_files
from anoncore.publishing.report import Subject, report
from anoncore.publishing.report.drawing import WRITING_REPORT
from anoncore.recipes.joined_tables import JoinedRecipe
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.saved_releases import saved_releases
from anoncore.release.mapping import value_mapping
from anoncore.release.published_numbers import Numbers
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.pseudonyms import require_apart


def add_after_options(run: argparse.ArgumentParser) -> None:
    """Give the command its options for earlier releases."""
    run.add_argument(
        "--after",
        **REPEATED,
        type=named_file,
        metavar="CERTIFICATE",
        help="certificate of an earlier release of the same people or some of them, again for more: the new one names "
        "it, with what it promised",
    )
    run.add_argument(
        "--after-release",
        **REPEATED,
        type=named_file,
        metavar="SESSION",
        help="saved session of the dashboard in which an earlier release was made that --after names, again for more: "
        "the certificate then says what both releases tell together",
    )
    run.add_argument(
        "--by",
        **REPEATED,
        metavar="COLUMN",
        help="with --after-release: the column, or again for the columns together, by which a row of both tables is "
        "the same person (default: the unit of the tables)",
    )


def earlier_certificates(arguments: argparse.Namespace) -> list[Certificate]:
    """The certificates of the earlier releases. Raises ParameterError for options that do not go together."""
    if arguments.after and arguments.no_certificate:
        raise ParameterError("--after names earlier releases in the certificate, which --no-certificate leaves out.")
    if arguments.after_release and not arguments.after:
        raise ParameterError("--after-release needs --after with the certificate of that earlier release.")
    if arguments.by and not arguments.after_release:
        raise ParameterError("--by is for --after-release: it says which rows of both tables are the same person.")
    return [Certificate.load(path) for path in arguments.after]


def earlier_entries(arguments: argparse.Namespace, release: Release, certificates: list[Certificate]) -> list[Earlier]:
    """What the new certificate says of the earlier releases."""
    releases = [one for path in arguments.after_release for one in saved_releases(path)]
    return laid_beside(release, certificates, releases, arguments.by)


SEED_GIVEN = (
    "the recipe holds a seed, and a reader who guesses it can undo the random choices; leave it out for a release that "
    "is published."
)
LEAVE_OUT = (
    "Leave the seed out of the recipe, so that one is drawn; or write the tables alone (--no-certificate), or ask for "
    "the certificate by name (--guessable-seed, or guessable_seed = true in the recipe)."
)


def add_options(run: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    add_recipe_argument(run)
    add_output_options(run)
    run.add_argument("--format", choices=list(ENDINGS), help="file format (default: by the file's ending, else csv)")
    add_flag(run, "--force", "replace files that are there")
    add_flag(run, "--no-certificate", "write the tables alone")
    run.add_argument(
        "--numbers",
        choices=get_args(Numbers),
        help="how ranges of numbers are published: text (20-29), bounds (two columns) or midpoints (default: as the "
        "recipe says, else text)",
    )
    add_after_options(run)
    run.add_argument(
        "--key-file",
        type=named_file,
        metavar="FILE",
        help="file with the key for the certificate's hash of the original table; made if it is not there (default: "
        "a new key is printed). Keep the key, don't publish it: it proves of which table the release was made",
    )
    add_flag(run, "--report", "write a report (HTML) of the run too; not for publication")
    add_flag(run, "--mapping", "write what became what (CSV) too; not for publication, as its name says")
    add_unit_option(run)
    add_flag(
        run,
        "--publish-untagged",
        "decide that columns without a role in a recipe of format 1 are published as they are, as that format "
        "did; the certificate records it (default: such a recipe is refused, with the lines that decide)",
    )
    add_flag(
        run,
        "--guessable-seed",
        "certify the release although the recipe gives the seed of its random choices, which others can guess; "
        "the certificate says so (default: as the recipe says, else such a recipe is refused)",
    )
    add_policy_option(run, "; the release is written whatever comes out")
    add_strict_option(run)
    add_json_option(run)
    add_reach_options(run)
    add_engine_options(run)
    add_log_options(run)
    run.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> int:
    recipe = load_any_recipe(arguments.recipe, arguments)
    if isinstance(recipe, JoinedRecipe):
        return run_joined(arguments, recipe, LEAVE_OUT)
    recipe = recipe.with_unit(arguments.unit)
    certificates = earlier_certificates(arguments)
    policy = policy_of(arguments)
    if arguments.key_file is not None and arguments.no_certificate:
        raise ParameterError("--key-file keeps the key of the certificate, which --no-certificate leaves out.")
    if arguments.publish_untagged:
        recipe = recipe.publishing_untagged()
    if arguments.numbers is not None:
        recipe = replace(recipe, numbers=arguments.numbers)
    if arguments.guessable_seed:
        recipe = replace(recipe, guessable_seed=True)
    if not arguments.no_certificate:
        _require_drawn_seeds(recipe)
    is_asked = arguments.output is not None
    settle_output(arguments, recipe)
    if is_asked and arguments.database is None:
        for key in _pseudonym_keys(recipe):
            require_apart(key, arguments.output)
    if arguments.report:
        require(WRITING_REPORT, "jinja2")
    with ExitStack() as kept_here:
        if recipe.source.is_elsewhere:
            with log().progress() as progress:
                recipe = kept_here.enter_context(recipe.brought_here(arguments.workspace, progress))
        breaking = run_where_it_fits(arguments, recipe, certificates)
        judgement = None
        if breaking is None:
            breaking, judgement = _run_in_memory(arguments, recipe, certificates, policy)
    # What the recipe decides to publish as it is was decided: only --strict asks that it breaks nothing.
    asked = FAILS if arguments.strict and breaking else DONE
    return judged_code(arguments, worst_code(asked, DONE if judgement is None else judgement.exit_code))


def _pseudonym_keys(recipe: Recipe) -> list[Path]:
    """The files of the keys of pseudonyms."""
    return [(recipe.folder or Path()) / one.key for one in recipe.pseudonyms.values()]


def _require_drawn_seeds(recipe: Recipe) -> None:
    """Raise ParameterError, before anything is done, for a seed with which the release would get no certificate."""
    try:
        require_drawn_seeds(recipe.algorithm, recipe.guessable_seed, LEAVE_OUT)
    except ReleaseError as error:
        raise ParameterError(str(error)) from None


def _run_in_memory(
    arguments: argparse.Namespace, recipe: Recipe, certificates: list[Certificate], policy: Policy | None
) -> tuple[str, Judgement | None]:
    """Make, write and tell the release; gives the insensitive columns that break what is promised, and what the policy
    says where there is one.
    """
    database: Database | None = arguments.database
    file_format = _format(arguments.output, arguments.format)
    if file_format == "excel" and database is None:
        require(WRITING_WORKBOOK, "openpyxl")
    target = _target(arguments.output, recipe_name(arguments.recipe))
    certified, is_zip = not arguments.no_certificate, _is_archive(arguments.output)
    wanted = {CERTIFICATE: certified and database is None, REPORT: arguments.report, MAPPING: arguments.mapping}
    is_file = database is None and not is_stream(arguments.output)
    table_endings = () if not is_file else (ARCHIVE,) if is_zip else (ENDINGS[file_format], ARCHIVE)
    for ending in (*table_endings, *(one for one, is_wanted in wanted.items() if is_wanted)):
        _check_free(target.with_name(target.name + ending), recipe, arguments.force)
    key, told, kept = key_of(arguments.key_file) if certified else ("", "", {})
    with log().progress() as progress:
        run = recipe.run(part_of(progress, 0.0, 0.6))
        results = kept_results(run.release)
        earlier = earlier_entries(arguments, run.release, certificates)
        attacks = [result for result in run.measures.values() if isinstance(result, Strongest)]
        progress(0.7, "Writing the tables" + (" and their certificate" if certified else ""))
        tables = run.release.pandas_tables()
        judgement: Judgement | None = None
        of_groups: tuple[Requirement, ...] = ()
        if policy is not None:
            judgement = judge_release(policy, run.release, tables=tables, cache=results)
            # What the office asks and the release keeps, readers shall be able to count, whoever promised it.
            of_groups = asked_of_groups(policy, run.release, judgement)
        files: dict[str, bytes] = {}
        if database is not None:
            with key_kept_first(kept):
                store(
                    run.release,
                    database.address,
                    database.name,
                    key,
                    arguments.force,
                    tables=tables,
                    after=earlier,
                    cache=results,
                    progress=part_of(progress, 0.7, 1.0),
                    guessable_seed=recipe.guessable_seed,
                    attacks=attacks,
                    asked=of_groups,
                )
        elif is_stream(arguments.output):
            write_file(arguments.output, _single_table(tables, file_format))
        elif certified:
            files = release_files(
                run.release,
                target.name,
                key,
                file_format,
                tables=tables,
                after=earlier,
                cache=results,
                asked=of_groups,
                guessable_seed=recipe.guessable_seed,
                attacks=attacks,
                zipped=is_zip,
            )
        else:
            name, content = table_file(target.name, tables, file_format, is_zip)
            files = {name: content}
        progress(1.0, "Done")
    tell_reading(recipe)
    public = {target.with_name(name): one for name, one in files.items()}
    subject = Subject(recipe_name(arguments.recipe), run.release, cache=results, earlier=tuple(earlier))
    private = _private_files(arguments, subject, target)
    # The tables come last: whatever stops the program in between, there are none without their certificate.
    together = {**kept, **{path: one for path, (one, _) in private.items()}, **public}
    if together:
        replace_files(together, private=kept)
    found = verdict(run.release, cache=results)
    lines = list(summary(run, found))
    for entry in earlier:
        if entry.figures:
            lines.append(f"Together with the earlier release of {entry.made[:10]}: {entry.figures}")
    sizes = ", ".join(f"{name}: {len(table):,} rows" for name, table in tables.items())
    written: dict[str, str] = {}
    if database is not None:
        written[database.shown] = f"{sizes}; {database.check}"
    for path in reversed(public):
        is_certificate = path.name.endswith(CERTIFICATE)
        written[str(path)] = f"check it with: anoncore verify {path}" if is_certificate else sizes
    written |= {str(path): about for path, (_, about) in private.items()}
    written |= dict.fromkeys(map(str, _pseudonym_keys(recipe)), "key of the pseudonyms, not for publication")
    figures = {
        "rows": {name: len(table) for name, table in tables.items()},
        "notes": run.release.notes,
        "measures": {name: plain_value(result) for name, result in run.measures.items()},
    }
    tell_run(arguments, RunAccount(tuple(lines), found, run.data.left_out, figures, written, key, told, judgement))
    if recipe.algorithm.has_guessable_seed:
        log().warn(SEED_GIVEN)
    return found.breaking, judgement


def _single_table(tables: Mapping[str, Any], file_format: FileFormat) -> bytes:
    """The file of a release that goes to the standard output. Raises ParameterError for several tables, a zip."""
    name, content = table_file("release", tables, file_format, zipped=False)
    if name.endswith(ARCHIVE):
        raise ParameterError(
            f"The release has {len(tables)} tables, and the standard output takes one file of a table; name a file or "
            "folder as --output, or add --format excel."
        )
    return content


def _private_files(arguments: argparse.Namespace, subject: Subject, target: Path) -> dict[Path, tuple[bytes, str]]:
    """The report and the mapping where they are wanted, for those who made the release, with what is said of them."""
    files = {}
    if arguments.report:
        with log().progress() as progress:
            text = report([subject], progress=progress)
        files[target.with_name(target.name + REPORT)] = text.encode(), "not for publication"
    if arguments.mapping:
        mapping, content = value_mapping(subject.release), io.BytesIO()
        write_tables({"mapping": mapping.frame}, content, "csv")
        files[target.with_name(target.name + MAPPING)] = content.getvalue(), mapping.sentence.rstrip(".")
    return files


def _is_archive(output: Path) -> bool:
    """Whether a zip was asked for by name."""
    return not output.is_dir() and output.suffix.lower() == ARCHIVE


def _format(output: Path, wanted: FileFormat | None) -> FileFormat:
    if _is_folder(output):
        return wanted or "csv"
    ending = output.suffix.lower()
    by_ending = {known: name for name, known in ENDINGS.items()}
    if _is_archive(output) and wanted != "excel":
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
    require_free(file, force)

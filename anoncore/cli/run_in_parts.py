"""The run of a recipe whose release is a folder of parts: on disk or Spark, with certificate, report and mapping."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError
from anoncore.base.faults import writing
from anoncore.base.progress import Progress, part_of
from anoncore.cli.key_files import key_of
from anoncore.cli.log import log
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE, CertifiedParts, certify_parts
from anoncore.publishing.whole_files import replace_files
from anoncore.recipes.recipe import Recipe

if TYPE_CHECKING:
    from anoncore.engines.large_run import LargeRun, WrittenParts

REPORT, MAPPING = "-report.html", "-mapping-not-for-publication.csv"
MADE = 0.75
"""Share of a run that is over when the parts are written and not yet certified, as a rule of thumb."""


def run_in_parts(
    arguments: argparse.Namespace, recipe: Recipe, folder: Path, engine: str, certificates: Sequence[Certificate]
) -> None:
    """Make the release of a recipe as a folder of parts, certify it, and tell what was made."""
    certified = not arguments.no_certificate
    private = _private_paths(arguments, folder)
    key, told, kept = key_of(arguments.key_file) if certified else (None, "", {})
    found: list[CertifiedParts] = []
    about: dict[Path, str] = {}
    with log().progress() as report:
        finishing = part_of(report, MADE, 1.0)

        def finish(written: WrittenParts) -> None:
            if certified:
                found.append(_certified(written, recipe, certificates, finishing))
            if kept:
                replace_files(kept, private=kept)
            for path, kind in private.items():
                about[path] = _write_private(kind, path, written, found)

        run = _run(engine)(
            recipe,
            folder,
            arguments.workspace,
            part_of(report, 0.0, MADE),
            arguments.force,
            key,
            arguments.mapping,
            finish,
        )
        report(1.0, "Done")
    for line in _summary(run, found[0] if found else None):
        print(line)
    parts = len(list(folder.glob("*.parquet")))
    check = f"; check it with: anoncore verify {folder}" if certified else ""
    print(f"Written: {folder} ({run.n_rows:,} rows in {parts:,} Parquet file{'s' if parts > 1 else ''}{check})")
    for path, told_of_it in about.items():
        print(f"Written: {path} ({told_of_it})")
    if certified:
        print(told)


def _run(engine: str) -> Callable[..., LargeRun]:
    # DuckDB and Spark are loaded only for this command.
    from anoncore.recipes.engine_choice import run_on_disk, run_on_spark

    return run_on_disk if engine == "disk" else run_on_spark


def _certified(
    written: WrittenParts, recipe: Recipe, certificates: Sequence[Certificate], progress: Progress
) -> CertifiedParts:
    """Certify the parts, and put the certificate among them."""
    from anoncore.recipes.engine_choice import tags_of

    found = certify_parts(
        written.folder,
        written.profile,
        tags_of(recipe).kinds,
        written.algorithm,
        written.input_digest,
        certificates,
        progress,
    )
    with writing(written.folder):
        (written.folder / CERTIFICATE_FILE).write_text(found.certificate.dumps(), encoding="utf-8")
    return found


def _private_paths(arguments: argparse.Namespace, folder: Path) -> dict[Path, str]:
    """Where the report and the mapping go, and which of them it is. Raises ParameterError for what is there."""
    wanted = {REPORT: arguments.report, MAPPING: arguments.mapping}
    paths = {folder.with_name(f"{folder.stem}{ending}"): ending for ending, asked in wanted.items() if asked}
    for path in paths:
        if path.exists() and not arguments.force:
            raise ParameterError(f"'{path}' exists; choose another --output, or add --force to replace it.")
    return paths


def _write_private(kind: str, path: Path, written: WrittenParts, found: Sequence[CertifiedParts]) -> str:
    """Write the report or the mapping, for those who made the release; says what is to be known of it."""
    if kind == MAPPING:
        from anoncore.publishing.parts.part_mapping import write_mapping

        return write_mapping(written, path)
    from anoncore.publishing.parts.part_report import parts_report

    text = parts_report(found[0], written.run, written.folder, path.name.removesuffix(REPORT))
    replace_files({path: text.encode()})
    return "not for publication"


def _summary(run: LargeRun, found: CertifiedParts | None) -> Iterator[str]:
    used = run.algorithm
    yield (
        f"{used.title}: {run.n_rows:,} rows in {run.n_groups:,} groups ({used.group_word}) of {run.smallest:,} to "
        f"{run.largest:,} rows"
    )
    for requirement in used.requirements:
        yield f"  {requirement.label()} holds in every group."
    for failing in found.failing if found is not None else ():
        yield f"  Nobody asked for this, and it fails badly: {failing.sentence}"
    for note in run.notes:
        yield f"  Note: {note}"
    loss, discernibility = 100 * run.information_loss, run.discernibility
    yield f"information loss {loss:.4g}%, discernibility {discernibility:.4g}; lower is better"

"""What a large run writes beside its parts: the certificate, and report and mapping for those who made it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore.base.faults import writing
from anoncore.base.progress import Progress
from anoncore.base.texts import listing
from anoncore.engines.large_run import WrittenParts
from anoncore.engines.value_pairs import mapping_frames
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.scan import TABLE
from anoncore.publishing.export import csv_bytes
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE, CertifiedParts, certify_parts
from anoncore.publishing.whole_files import replace_files
from anoncore.recipes.recipe import Recipe

if TYPE_CHECKING:
    from anoncore.engines.large_run import WrittenParts


def write_mapping(written: WrittenParts, path: Path) -> str:
    """Write the mapping of a release as CSV, whole or not at all; says what it would undo, as `value_mapping` does."""
    assert written.pairs is not None
    domains = {name: written.profile.domain[name] for name in written.profile.quasi_identifiers}
    own = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    hidden: set[str] = set()
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with own.open("wb") as file:
                for number, frame in enumerate(mapping_frames(written.pairs, domains, TABLE)):
                    content = csv_bytes(frame)
                    file.write(content if number == 0 else content.split(b"\r\n", 1)[1])
                    hidden |= set(frame.loc[~frame["shown by the release"].astype(bool), "attribute"].unique())
            os.replace(own, path)
        finally:
            own.unlink(missing_ok=True)
    if not hidden:
        return "Every value is published as it was; the release hides no value, only what belongs together"
    names = listing([name for name in domains if name in hidden])
    return (
        f"Not for publication: it tells which values stand behind the published cells of {names}, so it would undo "
        "their protection"
    )


REPORT, MAPPING = "-report.html", "-mapping-not-for-publication.csv"
"""How the names of files end that stay with those who made the release."""


def certified_folder(
    folder: Path, written: WrittenParts, recipe: Recipe, certificates: Sequence[Certificate], progress: Progress
) -> CertifiedParts:
    """Certify a folder with the rows of a release, as they were written or as a database gave them back."""
    # DuckDB is loaded only where a table is read piece by piece.
    from anoncore.recipes.engine_choice import tags_of

    return certify_parts(
        folder,
        written.profile,
        tags_of(recipe).kinds,
        written.algorithm,
        written.input_digest,
        written.related,
        certificates,
        progress,
        recipe.guessable_seed,
    )


def certified_parts(
    written: WrittenParts, recipe: Recipe, certificates: Sequence[Certificate], progress: Progress
) -> CertifiedParts:
    """Certify the parts of a release, and put the certificate among them."""
    found = certified_folder(written.folder, written, recipe, certificates, progress)
    with writing(written.folder):
        (written.folder / CERTIFICATE_FILE).write_text(found.certificate.dumps(), encoding="utf-8")
    return found


def private_path(folder: Path, ending: str) -> Path:
    """Where the report or the mapping of a release lies: beside its folder, and never in it."""
    return folder.with_name(f"{folder.stem}{ending}")


def write_private(ending: str, path: Path, written: WrittenParts, found: CertifiedParts | None) -> str:
    """Write the report or the mapping, for those who made the release; says what is to be known of it.

    The report takes its numbers from the certificate's scan.
    """
    if ending == MAPPING:
        from anoncore.publishing.parts.part_publication import write_mapping

        return write_mapping(written, path)
    from anoncore.publishing.parts.part_report import parts_report

    assert found is not None
    text = parts_report(found, written.run, written.folder, path.name.removesuffix(REPORT))
    replace_files({path: text.encode()})
    return "not for publication"

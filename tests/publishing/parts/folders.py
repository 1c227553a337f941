"""Releases in parts for tests: run on disk, certified, verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.engines.large_run import LargeRun, RunSettings, WrittenParts, anonymize_table
from anoncore.engines.spool import Tags
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.publishing.certification.finding import Verification
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.parts.part_certificate import CertifiedParts, certify_parts
from anoncore.publishing.parts.part_verification import verify_parts
from anoncore.sources.large_table import LargeTable
from tests.engines.large_tables import ROLES

KEY = "k" * 64


def certified_run(
    source: Path, algorithm: Rothko, output: Path, **tags: Any
) -> tuple[LargeRun, CertifiedParts, WrittenParts]:
    """The release of a file in parts with its certificate among them; `tags` default to ROLES."""
    found: list[tuple[CertifiedParts, WrittenParts]] = []
    all_tags = Tags(**{"roles": ROLES, **tags})

    def finish(written: WrittenParts) -> None:
        certified = certify_parts(written.folder, written, all_tags.kinds)
        (written.folder / CERTIFICATE_FILE).write_text(certified.certificate.dumps(), encoding="utf-8")
        found.append((certified, written))

    settings = RunSettings(key=KEY, finish=finish)
    run = anonymize_table(lambda workspace: LargeTable(source, workspace), all_tags, algorithm, output, settings)
    return run, *found[0]


def verified(folder: Path, certificate: Certificate | None = None, **more: Any) -> Verification:
    """The verification of all files of a folder."""
    certificate = certificate or Certificate.load(folder / CERTIFICATE_FILE)
    files = [PartFile(path.name, path) for path in sorted(folder.iterdir()) if path.name != CERTIFICATE_FILE]
    return verify_parts(certificate, files, **more)


def failures(found: Verification) -> list[str]:
    """What fails, a sentence each."""
    return [one.sentence for one in found.findings if one.outcome == "fails"]

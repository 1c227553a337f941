"""What became what in a release in parts, written to a file of any size."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from anoncore.base.faults import writing
from anoncore.base.texts import listing
from anoncore.engines.large_run import WrittenParts
from anoncore.engines.value_pairs import mapping_frames
from anoncore.publishing.certification.scan import TABLE
from anoncore.publishing.export import csv_bytes


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

"""What a large run writes beside its parts: the certificate, and for those who made it report and mapping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from anoncore.attacks.disclosure import LARGEST_BELIEF
from anoncore.attacks.reidentification import DEFINITIONS
from anoncore.base.faults import writing
from anoncore.base.progress import Progress
from anoncore.base.texts import listing, quoted
from anoncore.base.whole_files import replace_files
from anoncore.engines.large_run import LargeRun, WrittenParts
from anoncore.engines.value_pairs import mapping_frames
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.scan import TABLE
from anoncore.publishing.export import csv_bytes
from anoncore.publishing.parts.part_certificate import (
    CertifiedParts,
    beliefs,
    certify_parts,
    distance_question,
    guess_of,
    secrets_of,
)
from anoncore.publishing.report.document import earlier_releases, page_of
from anoncore.publishing.report.drawing import Section, section
from anoncore.publishing.report.single import drawn_beliefs, drawn_distances, drawn_losses, drawn_sizes, holds
from anoncore.publishing.report.subject import SAMPLE_ROWS, method, sample_of
from anoncore.recipes.engine_choice import tags_of
from anoncore.recipes.recipe import Recipe
from anoncore.utility.two_way import TWO_WAY_ERROR

RISK = 0.2
"""The probability to be found above which a record counts as at risk, as in reports of releases in memory."""
IN_MEMORY = (
    "Foreground knowledge, prediction, counting queries and the share of what is believed rightly are measured of "
    "releases in memory only: draw a sample of the table for them."
)
NOT_ASKED = "The two-way error was not measured; a recipe asks for it by the measure utility.two_way_error."
REPORT, MAPPING = "-report.html", "-mapping-not-for-publication.csv"
"""How the names of files end that stay with those who made the release."""


def parts_report(found: CertifiedParts, run: LargeRun, folder: Path, label: str) -> str:
    """The report of a certified release in parts as one HTML text, for those who made it.

    `folder` has the parts, of which the first rows are shown. Numbers are those of all rows.
    """
    losses = drawn_losses(run.losses, run.information_loss, CRITERIA["information-loss"].meaning)
    missing = [*found.certificate.not_checked, *([NOT_ASKED] if run.two_way_error is None else []), IN_MEMORY]
    sections = [
        _summary(found, run),
        holds(found.verdict),
        _reached(found),
        _adversary(found),
        *earlier_releases(found.certificate.after),
        section("What it costs", "cost.html", figures=[losses], no_queries=""),
        _published(found, run, folder),
        method(run.algorithm, run.notes),
        section("What was not checked", "not_checked.html", missing=missing),
    ]
    return page_of(label, sections)


def _secrets(found: CertifiedParts) -> list[Attribute]:
    """The sensitive attributes whose values were counted."""
    return secrets_of(found.scan, found.certificate.attributes)


def numbers_of(found: CertifiedParts, run: LargeRun) -> dict[str, float]:
    """What was measured of all rows of a certified release in parts, by the names of the criteria."""
    scan, secrets = found.scan, _secrets(found)
    numbers = {"k": float(scan.sizes.min())}
    if secrets:
        numbers["t"] = max(one.worst for name in secrets for one in scan.of(distance_question(name)))
        numbers["largest-belief"] = max(float(beliefs(scan, name).max()) for name in secrets)
    numbers |= {"reidentified-mean": len(scan.sizes) / scan.n_rows, "information-loss": run.information_loss}
    return numbers if run.two_way_error is None else numbers | {TWO_WAY_ERROR.name: float(run.two_way_error)}


def _summary(found: CertifiedParts, run: LargeRun) -> Section:
    sizes = found.scan.sizes
    return section(
        "In short",
        "summary.html",
        headline=found.verdict.headline,
        question=found.profile.unit_note,
        told=found.profile.in_words,
        rows=f"{found.scan.n_rows:,} rows",
        sizes=f"{len(sizes):,} groups of {sizes.min():,} to {sizes.max():,} rows",
        tiles=[(CRITERIA[name], value) for name, value in numbers_of(found, run).items()],
    )


def _reached(found: CertifiedParts) -> Section:
    scan, size, belief, distance = found.scan, CRITERIA["k"], CRITERIA["largest-belief"], CRITERIA["t"]
    levels = [(size.title, "", f"{scan.sizes.min():,}", f"{scan.n_rows:,}", f"{size.meaning} Higher is better.")]
    figures = [drawn_sizes(scan.sizes, "rows")]
    for attribute in _secrets(found):
        name, question = attribute.name, distance_question(attribute)
        distances = np.concatenate([one.levels for one in scan.of(question)])
        largest, guess = float(beliefs(scan, attribute).max()), guess_of(scan, name)
        levels.append((belief.title, name, f"{largest:.1%}", f"{guess:.1%}", f"{belief.meaning} Lower is better."))
        worst = f"{distances.max():.4g}"
        levels.append((distance.title, name, worst, "0", f"{distance.meaning} Lower is better."))
        figures.append(drawn_distances(distances, name, getattr(question.requirement, "ground", "")))
    return section("Levels reached", "reached.html", levels=levels, figures=figures, notes=())


def _adversary(found: CertifiedParts) -> Section:
    scan, profile = found.scan, found.profile
    attribute = next(iter(_secrets(found)), None)
    risk = 1.0 / scan.sizes
    at_risk = int(scan.sizes[np.asarray(lies_above(risk, RISK, ACCUMULATED))].sum()) / scan.n_rows
    shares = f"{risk.max():.1%}", f"{len(scan.sizes) / scan.n_rows:.1%}", f"{at_risk:.1%}"
    return section(
        "What an adversary gets",
        "adversary.html",
        attribute=None if attribute is None else attribute.name,
        beliefs=None if attribute is None else _beliefs(found, attribute),
        no_beliefs="",
        risks=[(model, *shares, definition) for model, definition in DEFINITIONS.items()],
        threshold=f"{RISK:.0%}",
        notes=("The table itself is taken for the population: the journalist's risk is the prosecutor's.",),
        people=profile.people_word,
        told=profile.in_words,
        question="",
        known=None,
    )


def _beliefs(found: CertifiedParts, attribute: Attribute) -> dict[str, object]:
    scan, name = found.scan, attribute.name
    belief, guess = beliefs(scan, attribute), guess_of(scan, name)
    meaning = found.profile.in_words(LARGEST_BELIEF.template.format(attribute=f"{quoted(name)}"))
    drawing = drawn_beliefs(belief, name, guess, found.profile.people_word, weights=scan.sizes.astype(np.float64))
    return {"rows": [(LARGEST_BELIEF.title, f"{belief.max():.1%}", f"{guess:.1%}", meaning)], "figure": drawing}


def _published(found: CertifiedParts, run: LargeRun, folder: Path) -> Section:
    frame = next(pq.ParquetFile(min(folder.glob("*.parquet"))).iter_batches(SAMPLE_ROWS)).to_pandas()
    told = {"region": "generalized, {:.1%} lost", "exact": "published as it is", None: "left out, it is an identifier"}
    attributes = [
        (one.name, one.role, told[one.form].format(run.losses.get(one.name, 0.0)))
        for one in found.certificate.attributes
    ]
    samples = [sample_of(found.certificate.tables[0].name, frame, found.scan.n_rows)]
    return section("What is published", "published.html", attributes=attributes, joined=False, samples=samples)


def write_mapping(written: WrittenParts, path: Path) -> str:
    """Write the mapping of a release as CSV, whole or not at all; says what it would undo, as `value_mapping` does."""
    assert written.pairs is not None
    domains = {name: written.profile.domain[name] for name in written.profile.quasi_identifiers}
    pairs = written.pairs
    hidden: set[str] = set()

    def lines() -> Iterator[bytes]:
        for number, frame in enumerate(mapping_frames(pairs, domains, TABLE)):
            hidden.update(frame.loc[~frame["shown by the release"].astype(bool), "attribute"].unique())
            yield csv_bytes(frame) if number == 0 else csv_bytes(frame).split(b"\r\n", 1)[1]

    with writing(path.parent):
        replace_files({path: lines()})
    if not hidden:
        return "Every value is published as it was; the release hides no value, only what belongs together"
    names = listing([name for name in domains if name in hidden])
    return (
        f"Not for publication: it tells which values stand behind the published cells of {names}, so it would undo "
        "their protection"
    )


def certified_folder(
    folder: Path, written: WrittenParts, recipe: Recipe, certificates: Sequence[Certificate], progress: Progress
) -> CertifiedParts:
    """Certify a folder with the rows of a release, as they were written or as a database gave them back."""
    kinds = tags_of(recipe).kinds
    return certify_parts(folder, written, kinds, certificates, progress, recipe.guessable_seed)


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
        return write_mapping(written, path)
    assert found is not None
    replace_files({path: parts_report(found, written.run, written.folder, path.name.removesuffix(REPORT)).encode()})
    return "not for publication"

"""The report of a release in parts: numbers and drawings from what a scan of the parts has added up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from anoncore.attacks.disclosure import LARGEST_BELIEF
from anoncore.attacks.reidentification import DEFINITIONS
from anoncore.engines.large_run import LargeRun
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.published_release import by_name
from anoncore.publishing.parts.part_certificate import (
    CertifiedParts,
    beliefs,
    distance_question,
    guess_of,
)
from anoncore.publishing.report.document import earlier_releases, page_of
from anoncore.publishing.report.rendering import Section, section
from anoncore.publishing.report.single import (
    Beliefs,
    drawn_beliefs,
    drawn_distances,
    drawn_losses,
    drawn_sizes,
    holds,
)
from anoncore.publishing.report.treatments import SAMPLE_ROWS, method, sample_of

RISK = 0.2
"""The probability to be found above which a record counts as at risk, as in reports of releases in memory."""
IN_MEMORY = (
    "Foreground knowledge, prediction, counting queries, the two-way error and the share of what is believed rightly "
    "are measured of releases in memory only: draw a sample of the table for them."
)


def parts_report(found: CertifiedParts, run: LargeRun, folder: Path, label: str) -> str:
    """The report of a certified release in parts as one HTML text, for those who made it.

    `folder` has the parts, of which the first rows are shown. Numbers are those of all rows.
    """
    sections = [
        _summary(found, run),
        holds(found.verdict),
        _reached(found),
        _adversary(found),
        *earlier_releases(found.certificate.after),
        _cost(run),
        _published(found, run, folder),
        method(run.algorithm, run.notes),
        section("What was not checked", "not_checked.html", missing=[*found.certificate.not_checked, IN_MEMORY]),
    ]
    return page_of(label, sections)


def _secrets(found: CertifiedParts) -> Iterator[Attribute]:
    """The sensitive attributes whose values were counted."""
    for name, attribute in by_name(found.certificate.attributes).items():
        if attribute.role == "sensitive" and name in found.scan.values:
            yield attribute


def _summary(found: CertifiedParts, run: LargeRun) -> Section:
    scan, word = found.scan, run.algorithm.group_word
    numbers = {"k": float(scan.sizes.min())}
    largest = [float(beliefs(scan, one.name).max()) for one in _secrets(found)]
    if largest:
        numbers["largest-belief"] = max(largest)
    numbers["reidentified-mean"] = len(scan.sizes) / scan.n_rows
    numbers["information-loss"] = run.information_loss
    sizes = f"{len(scan.sizes):,} groups ({word}) of {scan.sizes.min():,} to {scan.sizes.max():,} rows"
    tiles = [(CRITERIA[name], value) for name, value in numbers.items()]
    data = found.profile
    return section(
        "In short",
        "summary.html",
        headline=found.verdict.headline,
        question=data.unit_note,
        told=data.in_words,
        rows=f"{scan.n_rows:,} rows",
        sizes=sizes,
        tiles=tiles,
    )


def _reached(found: CertifiedParts) -> Section:
    scan, levels = found.scan, []
    size = CRITERIA["k"]
    levels.append((size.title, "", f"{scan.sizes.min():,}", f"{scan.n_rows:,}", f"{size.meaning} Higher is better."))
    figures = [drawn_sizes(scan.sizes, "rows")]
    for attribute in _secrets(found):
        belief, distance = CRITERIA["largest-belief"], CRITERIA["t"]
        largest = float(beliefs(scan, attribute.name).max())
        question = distance_question(attribute)
        far = scan.of(question)
        worst, guess = max(one.worst for one in far), guess_of(scan, attribute.name)
        row = (belief.title, attribute.name, f"{largest:.1%}", f"{guess:.1%}", f"{belief.meaning} Lower is better.")
        levels.append(row)
        levels.append((distance.title, attribute.name, f"{worst:.4g}", "0", f"{distance.meaning} Lower is better."))
        distances = np.concatenate([one.levels for one in far])
        figures.append(drawn_distances(distances, attribute.name, getattr(question.requirement, "ground", "")))
    return section("Levels reached", "reached.html", levels=levels, figures=figures, notes=())


def _adversary(found: CertifiedParts) -> Section:
    scan = found.scan
    attribute = next(_secrets(found), None)
    risk = 1.0 / scan.sizes
    at_risk = int(scan.sizes[np.asarray(lies_above(risk, RISK, ACCUMULATED))].sum()) / scan.n_rows
    mean = len(scan.sizes) / scan.n_rows
    return section(
        "What an adversary gets",
        "adversary.html",
        attribute=None if attribute is None else attribute.name,
        beliefs=None if attribute is None else _beliefs(found, attribute.name),
        no_beliefs="",
        risks=[
            (model, f"{risk.max():.1%}", f"{mean:.1%}", f"{at_risk:.1%}", definition)
            for model, definition in DEFINITIONS.items()
        ],
        threshold=f"{RISK:.0%}",
        notes=("The table itself is taken for the population: the journalist's risk is the prosecutor's.",),
        people=found.profile.people_word,
        told=found.profile.in_words,
        question="",
        known=None,
    )


def _beliefs(found: CertifiedParts, name: str) -> Beliefs:
    scan = found.scan
    belief, guess = beliefs(scan, name), guess_of(scan, name)
    meaning = found.profile.in_words(LARGEST_BELIEF.template.format(attribute=f"'{name}'"))
    drawing = drawn_beliefs(belief, name, guess, found.profile.people_word, weights=scan.sizes.astype(np.float64))
    return Beliefs([(LARGEST_BELIEF.title, f"{belief.max():.1%}", f"{guess:.1%}", meaning)], drawing)


def _cost(run: LargeRun) -> Section:
    figure = drawn_losses(run.losses, run.information_loss, CRITERIA["information-loss"].meaning)
    return section("What it costs", "cost.html", figures=[figure], no_queries="")


def _published(found: CertifiedParts, run: LargeRun, folder: Path) -> Section:
    head = pq.ParquetFile(min(folder.glob("*.parquet"))).iter_batches(SAMPLE_ROWS)
    frame = next(iter(head)).to_pandas()
    told = {"region": "generalized, {:.1%} lost", "exact": "published as it is", None: "left out, it is an identifier"}
    attributes = [
        (one.name, one.role, told[one.form].format(run.losses.get(one.name, 0.0)))
        for one in found.certificate.attributes
    ]
    return section(
        "What is published",
        "published.html",
        attributes=attributes,
        joined=False,
        group_word=run.algorithm.group_word,
        samples=[sample_of(found.certificate.tables[0].name, frame, found.scan.n_rows)],
    )

"""A dossier as one HTML page, made with the templates, pictures and style of the report."""

from __future__ import annotations

import numpy as np

from anoncore.base.texts import share_text
from anoncore.front.dossier.dossier_parts import Considered, Figure, Sections, Treatment
from anoncore.publishing.report.document import INVISIBLE
from anoncore.publishing.report.drawing import Mark, Series, bars, points
from anoncore.publishing.report.rendering import OWN, environment_of
from anoncore.publishing.report.rendering import Figure as Picture

HERE = "anoncore.front.dossier"
NOT_MEASURED = "not measured"
BASES = {
    "release": "Measured on the release with its original table at hand.",
    "published": (
        "Measured on published tables that were read back without their original; what needs the original was not "
        "measured."
    ),
    "certificate": (
        "Made from a certificate and the published files. What the files show was counted anew; what only the "
        "certificate says is called claimed, and what needs the original table was not measured."
    ),
}
"""How what a dossier says is known, by what was at hand."""


def dossier_page(dossier: Sections) -> str:
    """The whole HTML of a dossier."""
    template = environment_of(HERE, OWN).get_template("dossier.html")
    page = template.render(
        dossier=dossier,
        basis=BASES[dossier.basis],
        share=_share,
        value=_value,
        number=_number,
        losses=_losses(dossier.treatment),
        map=_map(dossier.treatment),
    )
    return page.translate(INVISIBLE)


def _share(share: float | None) -> str:
    return NOT_MEASURED if share is None else share_text(share)


def _number(number: int | None) -> str:
    return NOT_MEASURED if number is None else f"{number:,}"


def _value(figure: Figure) -> str:
    """What a number says, or why there is none; what was not measured is never a number."""
    if figure.text:
        return figure.text
    return "fails" if figure.standing == "fails" else NOT_MEASURED


def _losses(treatment: Treatment) -> Picture | None:
    """What every column loses, as bars; nothing where it was not measured."""
    if not treatment.losses:
        return None
    names = [one.column for one in treatment.losses]
    series = Series("loss", np.array([one.loss for one in treatment.losses]))
    alt = "; ".join(f"{one.column} {one.loss:.1%}" for one in treatment.losses)
    caption = "Loss by column: the share of its domain that a cell covers on average. 0% is exact, 100% says nothing."
    return Picture(bars(names, [series], lambda value: f"{value:.1%}", alt), caption)


def _map(treatment: Treatment) -> Picture | None:
    """What was considered, loss against the share given away; nothing where less than two can be drawn."""
    drawn = [
        Mark(str(number), one.lost, one.given_away, one.is_chosen)
        for number, one in enumerate(treatment.considered, 1)
        if one.lost is not None and one.given_away is not None
    ]
    if len(drawn) < 2:
        return None
    alt = "; ".join(_told(number, one) for number, one in enumerate(treatment.considered, 1))
    caption = (
        "Every release by its number in the table: to the left less is lost, below less is given away above chance. "
        "The filled square is this release. What gets less than chance is drawn at 0."
    )
    x, y = treatment.lost_title, "given away above chance"
    return Picture(points(drawn, x, y, _tick, alt), caption)


def _told(number: int, one: Considered) -> str:
    return f"{number}: lost {_share(one.lost)}, given away {_share(one.given_away)}"


def _tick(share: float) -> str:
    return f"{100 * share:.3g}%"

"""A dossier as data and as a page to read, print and sign."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from anoncore.base.arguments import checked_methods
from anoncore.base.texts import share_text
from anoncore.front.dossier.dossier_parts import Considered, Figure, Sections, Treatment
from anoncore.front.policy.judgement import CODES
from anoncore.publishing.report.document import INVISIBLE
from anoncore.publishing.report.drawing import OWN, Mark, Series, bars, environment_of, points
from anoncore.publishing.report.drawing import Figure as Picture
from anoncore.recipes.schema import DRAFT

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


@checked_methods
class DossierDocument(Sections):
    """The sections of a dossier with the forms in which they are handed out."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 1 where a rule or the certificate fails, 3 where something is only claimed or
        was not measured, else 0.
        """
        policy, outcomes = self.reached.policy, {one.outcome for one in self.reached.statements}
        codes = {0 if policy is None else CODES[policy.status]}
        if self.basis == "certificate":
            codes.add(1 if "fails" in outcomes else 3 if "claimed" in outcomes else 0)
        return next((code for code in (1, 3) if code in codes), 0)

    @property
    def holds_if_unknown(self) -> bool:
        """Whether what was asked holds only over what is known: a column that is published as it is breaks it."""
        return any(one.outcome == "holds over what is known" for one in self.reached.statements)

    def to_html(self) -> str:
        """The dossier as one HTML text, to read and to print: no script, no request, every text escaped.

        Returns
        -------
        str
            The HTML document.

        Raises
        ------
        AnonymizationError
            Where Jinja2 is not installed (the extra `report`).
        """
        return _page(self)

    def to_dict(self) -> dict[str, Any]:
        """The dossier as plain values, as JSON holds them.

        Returns
        -------
        dict of str to object
            What the schema describes.
        """
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """The dossier as JSON text, to keep and to compare.

        Returns
        -------
        str
            The JSON.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def schema(cls) -> dict[str, Any]:  # type: ignore[override]  # pydantic's own, which is deprecated
        """The JSON schema of a dossier.

        Returns
        -------
        dict of str to object
            A schema of the draft 2020-12.

        Examples
        --------
        >>> from anoncore import Dossier
        >>> Dossier.schema()["properties"]["format"]["const"]
        'anoncore-dossier'
        """
        described = cls.model_json_schema(mode="serialization")
        described.pop("description", None)
        return {"$schema": DRAFT, **described, "title": "Dossier of a release by anoncore"}

    def __repr__(self) -> str:
        return f"Dossier of a {self.basis}: {self.reached.verdict}"

    def __str__(self) -> str:
        return repr(self)


def _page(dossier: Sections) -> str:
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

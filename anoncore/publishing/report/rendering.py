"""HTML of the report, made from the files in `templates`: each value is escaped where a template puts it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from anoncore.base.extras import imported
from anoncore.publishing.report.drawing import WRITING_REPORT, markup, swatch

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

OWN = "anoncore.publishing.report"
"""The package with the templates of reports."""


@dataclass(frozen=True)
class Section:
    """A section of the report: its heading and the HTML below it."""

    title: str
    content: Markup


@dataclass(frozen=True)
class Figure:
    """A drawing with what it shows."""

    drawing: Markup
    caption: str


def section(title: str, template: str, **values: object) -> Section:
    """A section whose content is a template filled with the values."""
    return Section(title, rendered(template, **values))


def rendered(template: str, **values: object) -> Markup:
    """A template filled with the values; a value that the template names and that is not given is an error."""
    return markup(environment_of(OWN).get_template(template).render(**values))


@cache
def environment_of(*packages: str) -> Environment:
    """What fills the templates of packages; of several with one name, that of the first package."""
    # Imported here: most runs of the program write no report.
    jinja2 = imported("jinja2", WRITING_REPORT)
    environment: Environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["swatch"] = swatch
    return environment

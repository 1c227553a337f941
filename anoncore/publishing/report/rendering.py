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
    return markup(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    # Imported here: most runs of the program write no report.
    jinja2 = imported("jinja2", WRITING_REPORT)
    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anoncore.publishing.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["swatch"] = swatch
    return environment

"""HTML of the report, made from the files in `templates`: each value is escaped where a template puts it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from anoncore.publishing.report.drawing import swatch

if TYPE_CHECKING:
    from jinja2 import Environment


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
    return Markup(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    # Imported here: most runs of the program write no report.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("anoncore.publishing.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["swatch"] = swatch
    return environment

"""Projects of ARX (.deid files) as recipes: what ARX was asked for, its hierarchies and its tables.

A project is a ZIP archive. Its settings are XML texts, which are read here; beside them lie the same settings as Java
objects, which are never read.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from anoncore.algorithms import OptimalRecoding
from anoncore.base.errors import DataError
from anoncore.base.texts import listing, quoted
from anoncore.kernels.arrays import record
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.source import HierarchySpec, Source
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.hierarchy_files import hierarchy_text
from anoncore.table.microdata import Role

ENDING = ".deid"
LARGEST_TEXT = 50_000_000
"""Bytes of settings above which a project is no usual one; tables and hierarchies may be larger."""
VOCABULARIES = ("1.0", "2.0")
ROLES: Mapping[str, Role] = {
    "IDENTIFYING_ATTRIBUTE": Role.IDENTIFIER,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI_IDENTIFIER,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.INSENSITIVE,
}
KINDS: Mapping[str, Kind] = {
    "Integer": Kind.NUMERIC,
    "Decimal": Kind.NUMERIC,
    "String": Kind.NOMINAL,
    "Ordinal": Kind.ORDINAL,
    "OrderedString": Kind.ORDINAL,
}
"""Kinds of ARX's data types, of which early versions call the last but one the last; dates are left to the reader of
the table."""
NO_ORDER = "Default"
"""What stands for the alphabetical order where an ordinal data type could name an order of its own."""
PUBLISHED, PUBLISHED_OBJECT = "data/output.csv", "data/output.dat"
"""The published table as early versions of ARX write it, and the Java object that later ones write instead."""
OTHER_ENCODING = "cp1252"
NUMBER = r"(\d+(?:\.\d+)?(?:E-?\d+)?)"
OF = r" for attribute '(.*)'"
Build = Callable[..., Requirement]
MODELS: tuple[tuple[re.Pattern[str], Build], ...] = (
    (re.compile(r"(\d+)-anonymity"), lambda k: KAnonymity(k=int(k))),
    (
        re.compile(rf"distinct-(\d+)-diversity{OF}", re.DOTALL),
        lambda l, name: DistinctDiversity(l=int(l), attribute=name),
    ),
    (
        re.compile(rf"(?:shannon-)?entropy-{NUMBER}-diversity{OF}", re.DOTALL),
        lambda l, name: EntropyDiversity(l=float(l), attribute=name),
    ),
    (
        re.compile(rf"recursive-\({NUMBER},(\d+)\)-diversity{OF}", re.DOTALL),
        lambda c, l, name: RecursiveDiversity(c=float(c), l=int(l), attribute=name),
    ),
    (
        re.compile(rf"enhanced-{NUMBER}-likeness{OF}", re.DOTALL),
        lambda beta, name: BetaLikeness(beta=float(beta), attribute=name),
    ),
    (
        re.compile(
            rf"{NUMBER}-closeness with (equal|ordered|hierarchical) (?:ground[- ])?distance{OF}",
            re.DOTALL,
        ),
        lambda t, ground, name: _closeness(t, ground, name),
    ),
)
"""How ARX writes the privacy models that are requirements here, and what they become."""


@record
class ArxProject:
    """What a project of ARX holds.

    Attributes
    ----------
    recipe : Recipe
        The settings, with paths as `files` names them.
    files : mapping of str to bytes
        The original table and the hierarchies that the recipe names, and the table that ARX published where there is
        one, by path.
    published : str or None
        The path of the table that ARX published.
    notes : tuple of str
        What of the settings the recipe does not carry over, in sentences.

    Examples
    --------
    >>> from anoncore.recipes.arx_project import read_arx_project
    >>> project = read_arx_project("study.deid")  # doctest: +SKIP
    >>> project.recipe.algorithm.requirements  # doctest: +SKIP
    (KAnonymity(k=5),)
    """

    recipe: Recipe
    files: Mapping[str, bytes]
    published: str | None
    notes: tuple[str, ...]


def read_arx_project(path: str | Path, folder: str = "") -> ArxProject:
    """Read a project of ARX as a recipe that asks for the same.

    The settings are those of the published table where the project has one, else those of the last edit. What is asked
    is full-domain generalization with suppression, as `OptimalRecoding` does it; which of the releases that keep the
    promise is best, ARX may have judged by another measure.

    Parameters
    ----------
    path : str or Path
        The project, a file that ends in `.deid`.
    folder : str
        Folder in which the recipe looks for the table and the hierarchies.

    Returns
    -------
    ArxProject
        The recipe and the files that it names.

    Raises
    ------
    DataError
        For a file that is no such project, and for what a recipe cannot say: other privacy models, microaggregation,
        limits of levels. All of them are named.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _Reader(archive, Path(path), folder).project()
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError):
        raise DataError(
            f"{quoted(Path(path).name)} is no project of ARX: it is no ZIP archive that can be read."
        ) from None
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"The project {quoted(Path(path).name)} cannot be read: {reason}.") from None


@record
class _Column:
    """One attribute as the definition has it."""

    name: str
    role: Role
    kind: Kind | None
    format: str
    limits: tuple[str, str]
    averaged_by: str | None

    @property
    def order(self) -> tuple[str | int | float, ...]:
        """The values of an ordinal attribute in their order; empty where the project names none.

        They are numbers where all of them are, because the reader of the table takes them for numbers as well.
        """
        if self.kind is not Kind.ORDINAL or self.format in ("", NO_ORDER):
            return ()
        values = self.format.splitlines()
        for number in (int, float):
            with suppress(ValueError):
                if all(str(number(value)) == value for value in values):
                    return tuple(number(value) for value in values)
        return tuple(values)


class _Reader:
    """Reads one archive."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, folder: str) -> None:
        self.archive, self.label, self.folder = archive, quoted(path.name), folder
        self.names = set(archive.namelist())
        if not {"input/config.xml", "output/config.xml"} & self.names:
            raise DataError(f"{self.label} is no project of ARX: it lacks input/config.xml.")
        # The settings of the published table; those of the input may have been edited since.
        self.part = "output/" if {"output/config.xml", "output/definition.xml"} <= self.names else "input/"
        self.notes: list[str] = []

    def project(self) -> ArxProject:
        version = self._text("metadata.xml", "vocabulary", "2.0").strip()
        if version not in VOCABULARIES:
            raise DataError(
                f"{self.label} is written in the vocabulary {version} of ARX; {listing(VOCABULARIES)} are read."
            )
        config, columns = self._xml(f"{self.part}config.xml"), list(self._columns())
        requirements = self._requirements(config, columns)
        hierarchies = {one.name: self._hierarchy(one, requirements) for one in columns}
        files = {self._place("input.csv"): self._table("data/input.csv")}
        specs = {}
        for number, (name, hierarchy) in enumerate(hierarchies.items()):
            if hierarchy is not None:
                file = self._place(f"hierarchies/{number + 1}-{re.sub('[^A-Za-z0-9]+', '-', name).strip('-')}.csv")
                files[file] = hierarchy_text(hierarchy).encode()
                specs[name] = HierarchySpec(path=file)
        published = self._place("published.csv") if PUBLISHED in self.names else None
        if published is not None:
            files[published] = self._table(PUBLISHED)
        recipe = Recipe(
            source=Source(path=self._place("input.csv")),
            roles={one.name: one.role.value for one in columns},
            kinds={
                one.name: one.kind.value for one in columns if one.kind is not None and one.role is not Role.IDENTIFIER
            },
            orders={one.name: one.order for one in columns if one.order and one.role is not Role.IDENTIFIER},
            hierarchies=specs,
            algorithm=OptimalRecoding(requirements=requirements, max_suppression=self._suppression(config)),
            measures=("privacy.profile", "utility.two_way_error"),  # type: ignore[arg-type]  # names become measures
        )
        self._note_what_is_left(config, columns)
        return ArxProject(recipe, files, published, tuple(self.notes))

    def _place(self, name: str) -> str:
        return str(PurePosixPath(self.folder, name))

    def _content(self, name: str, most: int | None = None) -> bytes:
        if name not in self.names:
            raise DataError(f"{self.label} lacks {name}; save the project in ARX with its data and settings.")
        if most is not None and self.archive.getinfo(name).file_size > most:
            raise DataError(f"{self.label} holds more than {most:,} bytes in {name}, which is no text of settings.")
        return self.archive.read(name)

    def _xml(self, name: str) -> ElementTree.Element:
        content = self._content(name, LARGEST_TEXT)
        # A document type may define texts that grow without end; ARX writes none.
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise DataError(f"{name} of {self.label} defines entities, which ARX does not write; it is not read.")
        try:
            return ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            raise DataError(f"{name} of {self.label} is no XML: {error}.") from None

    def _text(self, name: str, key: str, default: str) -> str:
        if name not in self.names:
            return default
        return self._xml(name).findtext(key) or default

    def _table(self, name: str) -> bytes:
        return self._content(name)

    def _columns(self) -> Iterator[_Column]:
        for one in self._xml(f"{self.part}definition.xml").iter("assigment"):
            name, kind = one.findtext("name") or "", (one.findtext("datatype") or "").strip()
            role = ROLES.get((one.findtext("type") or "").strip())
            if role is None:
                raise DataError(
                    f"'{name}' has the type {quoted(one.findtext('type') or '')} in {self.label}, which is unknown."
                )
            limits = tuple((one.findtext(end) or "All").strip() for end in ("min", "max"))
            format, averaged_by = one.findtext("format") or "", one.findtext("microaggregationFunction")
            yield _Column(name, role, KINDS.get(kind), format, (limits[0], limits[1]), averaged_by)

    def _requirements(self, config: ElementTree.Element, columns: list[_Column]) -> tuple[Requirement, ...]:
        written = [(one.text or "").strip() for one in config.iter("criterion")]
        found, unknown = [], []
        for text in written:
            requirement = _requirement(text)
            if requirement is None:
                unknown.append(text)
            else:
                found.append(requirement)
        if unknown:
            raise DataError(
                f"{self.label} asks for {listing(unknown)}, which is no requirement here; k-anonymity, distinct, "
                "Shannon entropy and recursive l-diversity are, enhanced beta-likeness, and t-closeness with the "
                "equal, ordered or hierarchical distance. Judge the published table itself with Release.from_published."
            )
        if not found:
            raise DataError(f"{self.label} asks for no privacy model, so there is nothing that a recipe could promise.")
        sensitive = [one.name for one in columns if one.role is Role.SENSITIVE]
        for requirement in found:
            name = getattr(requirement, "attribute", None)
            if name is not None and name not in sensitive:
                raise DataError(
                    f"{requirement.label()} of {self.label} is about '{name}', which is not sensitive there."
                )
        return tuple(found)

    def _hierarchy(self, column: _Column, requirements: tuple[Requirement, ...]) -> Hierarchy | None:
        by_tree = any(
            isinstance(one, TCloseness) and one.ground == "hierarchical" and one.attribute == column.name
            for one in requirements
        )
        entry = f"{self.part}hierarchies/{column.name}.csv"
        # ARX names the function only where it is used, and the hierarchy beside it wherever there is one.
        if column.averaged_by is not None and column.role is Role.QUASI_IDENTIFIER:
            raise DataError(
                f"ARX publishes the {column.averaged_by} of each group for '{column.name}' (microaggregation), which "
                "no recipe of optimal recoding does; generalize it in ARX, or judge the published table itself."
            )
        if column.role is not Role.QUASI_IDENTIFIER and not by_tree:
            return None
        if entry not in self.names:
            if by_tree:
                raise DataError(
                    f"{self.label} lacks the hierarchy of '{column.name}', by which its distance is measured."
                )
            self._note_without_hierarchy(column)
            return None
        lines = self._lines_of(entry)
        levels = max(map(len, lines), default=1) - 1
        # For an attribute without a hierarchy ARX writes one of its values alone, which have no level above them.
        if levels == 0 and not by_tree:
            self._note_without_hierarchy(column)
            return None
        low, high = column.limits
        if low not in ("All", "0") or high not in ("All", str(levels)):
            raise DataError(
                f"ARX may publish '{column.name}' at the levels {low} to {high} of its {levels} only, which optimal "
                "recoding cannot be told; cut the hierarchy to these levels."
            )
        return Hierarchy.from_table(lines)

    def _note_without_hierarchy(self, column: _Column) -> None:
        self.notes.append(f"'{column.name}' has no hierarchy in the project; it is kept exact or suppressed.")

    def _lines_of(self, entry: str) -> list[list[str]]:
        separator = self._text("project.xml", "separator", ";")[:1] or ";"
        try:
            text = self._decoded(entry)
            return [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if line]
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{entry} of {self.label} cannot be read as CSV: {error}.") from None

    def _decoded(self, entry: str) -> str:
        """The text of a hierarchy, which ARX writes in the encoding of the machine, while its tables are UTF-8."""
        content = self._content(entry)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode(OTHER_ENCODING)
        self.notes.append(f"{entry} is not in UTF-8; it is read as Windows-1252, as ARX writes it on Windows.")
        return text

    def _suppression(self, config: ElementTree.Element) -> float:
        text = (config.findtext("relativeMaxOutliers") or "0").strip()
        try:
            share = float(text)
        except ValueError:
            raise DataError(f"The suppression limit of {self.label} is {quoted(text)}, which is no number.") from None
        if not 0 <= share <= 1:
            raise DataError(f"The suppression limit of {self.label} is {text}; it is a share from 0 to 1.")
        # ARX may suppress everything; a release here has somebody in it.
        return min(share, math.nextafter(1.0, 0.0))

    def _note_what_is_left(self, config: ElementTree.Element, columns: list[_Column]) -> None:
        metric = (config.findtext("metric") or "").strip()
        self.notes.append(
            f"ARX chose among the releases that keep the promise by {quoted(metric) if metric else 'its own measure'}; "
            "optimal recoding takes the one with the least information loss."
        )
        weights = [
            one.findtext("attribute") or ""
            for one in config.iter("attributeWeight")
            if (one.findtext("weight") or "").strip() not in ("", "0.5")
        ]
        if weights:
            self.notes.append(
                f"The weights of {listing(weights)} are not carried over; all attributes count alike here."
            )
        suppressed = [(one.text or "").strip() for one in config.iterfind("suppressedAttributeTypes/type")]
        if set(suppressed) - {"QUASI_IDENTIFYING_ATTRIBUTE"}:
            self.notes.append("ARX also suppressed attributes that nobody knows; here they stay as they are.")
        ordinal = [one.name for one in columns if one.kind is Kind.ORDINAL and not one.order]
        if ordinal:
            self.notes.append(
                f"The project names no order for the values of {listing(ordinal)}, which ARX then orders by the "
                "alphabet; say another one under [orders]."
            )
        formats = [f"'{one.name}' ({one.format})" for one in columns if one.kind is Kind.NUMERIC and one.format]
        if formats:
            self.notes.append(
                f"ARX reads the numbers of {', '.join(formats)} by a format of their own; write them as plain numbers "
                "into the table where they are not."
            )
        if PUBLISHED_OBJECT in self.names and PUBLISHED not in self.names:
            self.notes.append(
                "The table that ARX published lies in the project as a Java object, which is not read; export it from "
                "ARX as CSV to judge it."
            )


def _requirement(text: str) -> Requirement | None:
    """The requirement that ARX writes in this way; None for another model."""
    for pattern, build in MODELS:
        found = pattern.fullmatch(text)
        if found is not None:
            return build(*found.groups())
    return None


def _closeness(t: str, ground: Any, name: str) -> Requirement:
    chosen: Ground = ground
    return TCloseness(t=float(t), ground=chosen, attribute=name)

"""A recipe as a short Python script that makes the release again with the public API.

A recipe as a notebook that makes the release again, cell by cell.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pprint import pformat
from textwrap import indent
from typing import Any

from anoncore.base.errors import RecipeError
from anoncore.base.model import Model
from anoncore.measures.evaluation import Measure
from anoncore.recipes.recipe import TAGS, Recipe
from anoncore.recipes.source import HierarchySpec, Source, table_value
from anoncore.requirements import REQUIREMENTS, DeltaPresence, Requirement
from anoncore.sources.addresses import is_database, kept_address

WIDTH = 100
READING = ("sheet", "encoding", "missing", "decimal", "dates")
NO_SEED = (
    "# The seed is left out: whoever has it could undo the random choices of a published release.\n"
    "# The groups of such a method are drawn anew at every run."
)


class _Code(str):
    """Source text that stands in a printed value as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass
class _Imports:
    """Names that the script needs, by module."""

    names: dict[str, set[str]] = field(default_factory=dict)

    def need(self, module: str, name: str) -> str:
        """Import the name; returns it."""
        self.names.setdefault(module, set()).add(name)
        return name

    def lines(self) -> Iterator[str]:
        """The import statements, the standard library first, then others, then our own."""
        own = {module for module in self.names if module.split(".")[0] == "anoncore"}
        standard = {"dataclasses", "pathlib"} & self.names.keys()
        for block in (standard, self.names.keys() - own - standard, own):
            for module in sorted(block):
                yield f"from {module} import {', '.join(sorted(self.names[module]))}"
            if block:
                yield ""


@dataclass(frozen=True)
class ScriptParts:
    """The lines of a script that makes a recipe's release again, part by part.

    Attributes
    ----------
    title : str
        What the script does, in a sentence.
    imports, table, method, measures, publishing : tuple of str
        Lines that import the names, read and tag the table, make the release, measure it (empty where the recipe asks
        for nothing), and write the tables with their certificate.
    """

    title: str
    imports: tuple[str, ...]
    table: tuple[str, ...]
    method: tuple[str, ...]
    measures: tuple[str, ...]
    publishing: tuple[str, ...]


def script_parts(recipe: Recipe, with_seed: bool = False) -> ScriptParts:
    """The parts of the script of a recipe, with relative paths that start at the folder `HERE`."""
    imports = _Imports()
    imports.need("pathlib", "Path")
    table = tuple(_table(recipe, imports))
    method = tuple(_algorithm(recipe, imports, with_seed))
    measures = tuple(_results(recipe, imports))
    is_stored = recipe.output is not None and is_database(recipe.output.path)
    imports.need("anoncore.publishing", "store" if is_stored else "publish")
    imports.need("anoncore.publishing", "new_key")
    title = f"{recipe.algorithm.title}: makes the release again that a recipe describes."
    return ScriptParts(title, tuple(imports.lines()), table, method, measures, tuple(_publishing(recipe)))


def python_script(recipe: Recipe, with_seed: bool = False) -> str:
    """Python source that reads and tags the recipe's table, makes the release and takes the measures.

    The script needs nothing but this package. When it is imported, it offers `release`, `data` and `results`; when it
    is run as a program, it also writes the published tables with their certificate. Relative paths start at the script.
    Seeds of the algorithm are left out unless asked for, as in `Recipe.to_dict`; with its seed the script makes the
    same groups as the recipe.
    """
    parts = script_parts(recipe, with_seed)
    program = ["for name, result in results.items():", "    print(name, result)"] if parts.measures else []
    warning = recipe.publication_warning
    lines = [
        *([f"# {warning}"] if warning else []),
        f'"""{parts.title}"""',
        "",
        *parts.imports,
        "HERE = Path(__file__).parent",
        "",
        *parts.table,
        "",
        *parts.method,
        *parts.measures,
        "",
        'if __name__ == "__main__":',
        *(f"    {line}" for line in (*program, *parts.publishing)),
    ]
    return "\n".join(lines) + "\n"


def _table(recipe: Recipe, imports: _Imports) -> Iterator[str]:
    source = recipe.source
    tags = {name: getattr(recipe, name) for name in TAGS if getattr(recipe, name)}
    first, unit = [_Code("frame")], _unit(recipe)
    if source.path is not None:
        yield f"frame = {_frame(source, imports)}"
    else:
        yield f"entry = {imports.need('anoncore.datasets', 'table')}({source.builtin!r})"
        yield f"frame = {_frame(source, imports, 'entry')}"
    if recipe.dates or recipe.pseudonyms:
        yield f"table = {_preparation(recipe, imports)}"
        yield "frame = table.frame"
        microdata, first, unit = "table.microdata", [], {}
    else:
        microdata = imports.need("anoncore", "Microdata")
    if source.builtin is not None and not tags:
        tree = imports.need("anoncore", "Hierarchy")
        given: dict[str, Any] = {name: _Code(f"entry.{name}") for name in TAGS if name != "hierarchies"}
        given["roles"] = _Code("entry.protecting_roles")
        trees = f"{{name: {tree}.from_nested(tree) for name, tree in entry.taxonomies.items()}}"
        yield f"data = {_call(microdata, first, given | unit | {'hierarchies': _Code(trees)})}"
        return
    given = {name: _values(tags[name], imports) for name in tags if name != "hierarchies"}
    if "hierarchies" in tags:
        yield "hierarchies = {"
        for name, spec in recipe.hierarchies.items():
            yield f"    {name!r}: {_hierarchy(name, spec, imports)},"
        yield "}"
        given["hierarchies"] = _Code("hierarchies")
    yield f"data = {_call(microdata, first, given | unit)}"


def _frame(source: Source, imports: _Imports, entry: str = "") -> str:
    """The call that reads the table of a source; `entry` names the variable of a built-in table, where it has one."""
    if source.is_elsewhere:
        raise RecipeError("A script reads a table of this machine; fetch the table, and name its file in the recipe.")
    if source.path is not None:
        options = {name: getattr(source, name) for name in READING if getattr(source, name) not in (None, ())}
        call = _call(imports.need("anoncore.sources", "read_table"), [_Code(f"HERE / {source.path!r}")], options)
        return f"{call}.frame"
    sizes = {"n_rows": source.rows, "seed": source.seed}
    named = entry or f"{imports.need('anoncore.datasets', 'table')}({source.builtin!r})"
    return _call(f"{named}.load", [], {name: size for name, size in sizes.items() if size is not None})


def _preparation(recipe: Recipe, imports: _Imports) -> str:
    """The call that shifts dates and makes pseudonyms; a key that is not there is made, as a run of the recipe does."""
    room = "anoncore.table.preparation"
    arguments: dict[str, Any] = {}
    if recipe.dates:
        shift = imports.need(room, "DateShift")
        arguments["dates"] = {
            name: _Code(_call(shift, [], {"shift": one.shift} | ({} if one.by is None else {"by": one.by})))
            for name, one in recipe.dates.items()
        }
    if recipe.pseudonyms:
        kept = f"{imports.need('anoncore.table.pseudonyms', 'Pseudonyms')}.kept"
        arguments["pseudonyms"] = {
            name: _Code(f"{kept}(HERE / {one.key!r})") for name, one in recipe.pseudonyms.items()
        }
    return _call(imports.need(room, "prepared"), [_Code("frame")], arguments | _unit(recipe))


def _unit(recipe: Recipe) -> dict[str, Any]:
    return {} if recipe.unit is None else {"unit": recipe.unit}


def _hierarchy(name: str, spec: HierarchySpec, imports: _Imports) -> _Code:
    if spec.path is not None:
        return _Code(f"{imports.need('anoncore.table.hierarchy_files', 'read_hierarchy')}(HERE / {spec.path!r})")
    for form, method in ((spec.levels, "from_table"), (spec.taxonomy, "from_nested")):
        if form is not None:
            lines = pformat(_values(form, imports), width=WIDTH - 8, sort_dicts=False)
            tree = imports.need("anoncore", "Hierarchy")
            return _Code(f"{tree}.{method}(\n{indent(lines, ' ' * 8)}\n    )")
    column = f"frame[{name!r}]"
    ready_made = {
        "calendar_hierarchy": spec.calendar,
        "prefix_hierarchy": spec.prefix,
        "grid_hierarchy": spec.grid,
        "frequency_hierarchy": spec.rare,
    }
    for function, levels in ready_made.items():
        if levels is not None:
            return _Code(f"{imports.need('anoncore.table.hierarchy_defaults', function)}({column}, {list(levels)!r})")
    if spec.first_letter:
        return _Code(f"{imports.need('anoncore.table.hierarchy_defaults', 'letter_hierarchy')}({column})")
    tree = imports.need("anoncore", "Hierarchy")
    numbers = f"{imports.need('pandas', 'to_numeric')}({column}, errors='coerce')"
    if spec.width is not None:
        return _Code(f"{tree}.by_width({numbers}, {spec.width!r}, {spec.fanout}, {spec.start!r})")
    return _Code(f"{tree}.by_quantile({numbers}, {spec.quantiles}, {spec.fanout})")


def _algorithm(recipe: Recipe, imports: _Imports, with_seed: bool) -> Iterator[str]:
    if not with_seed and recipe.algorithm.seeds:
        yield NO_SEED
    yield f"algorithm = {_model(recipe.algorithm, imports, with_seed)}"
    if recipe.numbers == "text":
        yield "release = algorithm.anonymize(data)"
    else:
        replace = imports.need("dataclasses", "replace")
        yield f"release = {replace}(algorithm.anonymize(data), numbers={recipe.numbers!r})"


def _model(model: Model, imports: _Imports, with_seed: bool = True) -> _Code:
    """The call that makes a model, with every field that has a value: other defaults would change nothing."""
    module = "anoncore.requirements" if isinstance(model, Requirement) else "anoncore.algorithms"
    fields = {}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        is_told = value is not None or info.is_required() or info.get_default(call_default_factory=True) is not None
        if is_told and (with_seed or name != "seed"):
            fields[name] = _values(value, imports, with_seed)
    if isinstance(model, DeltaPresence) and isinstance(model.population, str):
        read_table = imports.need("anoncore.sources", "read_table")
        fields["population"] = _Code(f"{read_table}(HERE / {model.population!r}).frame")
    return _Code(_call(imports.need(module, type(model).__name__), [], fields))


def _values(value: Any, imports: _Imports, with_seed: bool = True) -> Any:
    """The value with models, points in time and infinities as the source that makes them."""
    if isinstance(value, Model):
        return _model(value, imports, with_seed)
    if isinstance(value, Mapping):
        return {name: _values(item, imports, with_seed) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_values(item, imports, with_seed) for item in value)
    if isinstance(value, date | datetime):
        return _Code(f"{imports.need('pandas', 'Timestamp')}({table_value(value).isoformat()!r})")
    if isinstance(value, float) and math.isinf(value):
        return _Code(f"float({str(value)!r})")
    return value


def _results(recipe: Recipe, imports: _Imports) -> Iterator[str]:
    if not recipe.measures:
        return
    yield "results = {"
    for measure in recipe.measures:
        yield f"    {measure.label!r}: {_measure(measure, imports)},"
    yield "}"


def _measure(measure: Measure, imports: _Imports) -> str:
    package, _, _ = measure.name.partition(".")
    imports.need("anoncore", package)
    arguments = {name: _argument(name, value, imports) for name, value in measure.arguments.items()}
    for name, source in measure.tables.items():
        frame = _frame(Source(**source), imports)
        arguments[name] = _Code(f"data.with_same_tags({frame})")
    return _call(measure.name, [_Code("release")], arguments)


def _argument(name: str, value: Any, imports: _Imports) -> Any:
    if name == "requirements" and isinstance(value, list):
        return [
            _model(REQUIREMENTS.build(requirement), imports) if isinstance(requirement, dict) else requirement
            for requirement in value
        ]
    return _values(value, imports)


def _publishing(recipe: Recipe) -> Iterator[str]:
    yield "key = new_key()"
    output = recipe.output
    if output is not None and is_database(output.path):
        yield f"store(release, {kept_address(output.path)!r}, {output.table or 'release'!r}, key)"
    else:
        folder = "HERE" if output is None else f"HERE / {output.path!r}"
        yield f'publish(release, {folder}, "release", key, "excel")'
    yield 'print("Key of the certificate\'s input hash, to be kept and not published:", key)'


def _call(name: str, positional: list[Any], named: Mapping[str, Any]) -> str:
    """A call in one line where it fits, else with an argument per line."""
    arguments = [repr(argument) for argument in positional]
    for key, value in named.items():
        arguments.append(f"{key}={pformat(value, width=WIDTH - 8, sort_dicts=False)}")
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    inner = "".join(f"    {argument},\n".replace("\n", "\n    ").removesuffix("    ") for argument in arguments)
    return f"{name}(\n{inner})"


FORMAT, MINOR = 4, 5
"""The format of notebooks that every program of the last years reads."""


def python_notebook(recipe: Recipe, with_seed: bool = False) -> str:
    """The script of a recipe as a notebook (JSON) without outputs, in which each step is a cell and shows its result.

    Relative paths start at the notebook's folder. Seeds are left out unless asked for, as in `python_script`.
    """
    parts = script_parts(recipe, with_seed)
    steps = [
        (f"# {recipe.algorithm.title}\n\nMakes the release again that a recipe describes.", ()),
        ("", (*parts.imports, "HERE = Path()")),
        ("## The table and its tags", (*parts.table, "data")),
        ("## The release", (*parts.method, "release")),
        ("## What is published", ("tables = release.pandas_tables()", "next(iter(tables.values())).head(10)")),
        *([("## What was measured", (*parts.measures, "results"))] if parts.measures else []),
        ("## Write the tables and their certificate", parts.publishing),
    ]
    return notebook_text(_cells(steps))


def notebook_text(cells: Iterable[dict[str, Any]]) -> str:
    """The file of a notebook of these cells, which are numbered."""
    numbered = [{"id": f"cell-{number}", "metadata": {}, **cell} for number, cell in enumerate(cells, 1)]
    content = {
        "cells": numbered,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": FORMAT,
        "nbformat_minor": MINOR,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def text_cell(text: str) -> dict[str, Any]:
    """A cell of text in Markdown."""
    return {"cell_type": "markdown", "source": text.splitlines(keepends=True)}


def code_cell(code: str) -> dict[str, Any]:
    """A cell of Python that was not run."""
    source = code.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "outputs": [], "source": source}


def _cells(steps: Iterable[tuple[str, Iterable[str]]]) -> Iterator[dict[str, Any]]:
    for text, lines in steps:
        if text:
            yield text_cell(text)
        code = "\n".join(lines).strip()
        if code:
            yield code_cell(code)

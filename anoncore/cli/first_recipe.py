"""The commands `anoncore init` and `anoncore hierarchy`: a first recipe for a table, hierarchies for its columns."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import counted, did_you_mean, listing, value_text
from anoncore.base.whole_files import replace_file
from anoncore.cli.exit_codes import DONE, FAILS
from anoncore.cli.log import log
from anoncore.cli.output import add_flag, is_stream, named_file, require_free, tell, write_file
from anoncore.cli.table_file import add_table_options, read_named, table_name
from anoncore.recipes.arx_project import ENDING, read_arx_project
from anoncore.recipes.proposal import Proposal, hierarchy_line, hierarchy_of_form, propose, recipe_forms
from anoncore.recipes.reach import is_within
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.hierarchy_files import hierarchy_text, read_hierarchy
from anoncore.table.hierarchy_proposals import HierarchyForm, default_hierarchy
from anoncore.table.microdata import OTHERS, Microdata, Role

SHOWN_VALUES, SHOWN_LEVELS = 8, 6
"""Values of a column and levels above them that are printed."""


def add_init_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command `init` its options."""
    add_table_options(command)
    command.epilog = (
        "A project of ARX (.deid) as table: its settings become the recipe, and its table, its hierarchies and what it "
        "published are written beside it."
    )
    command.add_argument(
        "--output",
        type=Path,
        help="recipe to write, or - for the standard output (default: the table's name with .toml, beside it)",
    )
    add_flag(command, "--force", "replace the recipe if it is there")
    command.set_defaults(command=_init)


def add_hierarchy_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command `hierarchy` its options."""
    add_table_options(command)
    command.add_argument("--column", help="the column to look at (default: every column for which there is a proposal)")
    command.add_argument(
        "--form", choices=[form.value for form in HierarchyForm], help="how its values are grouped (default: the best)"
    )
    command.add_argument("--check", type=named_file, metavar="FILE", help="hierarchy (CSV) to hold against the column")
    command.add_argument(
        "--output", type=Path, help="file to write the hierarchy to, which recipes read, or - for the standard output"
    )
    add_flag(command, "--force", "replace the file if it is there")
    command.set_defaults(command=_hierarchy)


def _init(arguments: argparse.Namespace) -> None:
    file: Path | None = arguments.file
    if is_stream(file):
        raise ParameterError("A recipe names the file of its table, which the standard input has not; save it first.")
    output = arguments.output or Path(table_name(arguments)).with_suffix(".toml")
    require_free(output, arguments.force)
    if file is not None and file.suffix.lower() == ENDING:
        _init_from_arx(file, output, arguments.force)
        return
    source, frame = read_named(arguments)
    proposal = propose(source if file is None else source.replace(path=_path_from(output.parent, file)), frame)
    write_file(output, proposal.text.encode())
    tell(arguments, _proposal_lines(proposal, _command(output, file)), {})


def _proposal_lines(proposal: Proposal, command: str) -> Iterator[str]:
    """What is proposed, and the command that runs it."""
    roles = proposal.recipe.roles
    for role in dict.fromkeys(roles.values()):
        yield f"{role}: {', '.join(name for name, tagged in roles.items() if tagged == role)}"
    left_out = [name for name in proposal.reasons if name not in roles]
    if left_out:
        yield f"left out, until you decide in the recipe to publish them as they are: {', '.join(left_out)}"
    if proposal.unit is not None:
        yield f"Is each value of '{proposal.unit}' a person? Then name it as the unit, as the recipe shows."
    if "quasi-identifier" not in roles.values():
        yield "No column looks like one that others may know of a person: tag at least one before you run the recipe."
    yield command


def _command(recipe: Path, table: Path | None) -> str:
    """Where a recipe was written, and the command that runs it, with what allows it to read a table elsewhere."""
    words = ["anoncore", "run", str(recipe)]
    if table is not None and not is_within(table, recipe.parent):
        words += ["--allow-path", str(table.resolve())]
    return f"Written: {recipe} (read every line of it, then: {shlex.join(words)})"


def _init_from_arx(table: Path, output: Path, force: bool) -> None:
    """Write the recipe of a project of ARX, and beside it the files that it names."""
    if is_stream(output):
        raise ParameterError("A project of ARX becomes a recipe with files beside it; name its place with --output.")
    project = read_arx_project(table, f"{output.stem}-arx")
    for name in project.files:
        require_free(output.parent / name, force)
    for name, content in project.files.items():
        file = output.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content)
    replace_file(output, project.recipe.dumps().encode())
    for note in project.notes:
        log().note(note)
    if project.published is not None:
        print(f"What ARX published: {output.parent / project.published}")
    print(f"Written: {output} and {len(project.files)} files in {output.parent / f'{output.stem}-arx'}")


def _path_from(folder: Path, table: Path) -> str:
    """The path of a table as a recipe in a folder names it."""
    there, here = table.resolve(), folder.resolve()
    return there.relative_to(here).as_posix() if there.is_relative_to(here) else there.as_posix()


def _hierarchy(arguments: argparse.Namespace) -> int:
    if arguments.column is None and (arguments.form or arguments.check or arguments.output):
        raise ParameterError("--form, --check and --output are about one column; name it with --column.")
    if arguments.check is not None and (arguments.form or arguments.output):
        raise ParameterError("--check looks at a hierarchy that is there; leave out --form and --output.")
    if arguments.output is not None:
        require_free(arguments.output, arguments.force)
    _, frame = read_named(arguments)
    names = [str(name) for name in frame.columns]
    if arguments.column is not None and arguments.column not in names:
        meant = did_you_mean(arguments.column, names)
        raise ParameterError(f"The table has no column {arguments.column!r}; it has {listing(names, 40)}.{meant}")
    data = Microdata(frame if arguments.column is None else frame[[arguments.column]], {OTHERS: Role.INSENSITIVE})
    if arguments.check is not None:
        return _check(data, arguments.column, arguments.check)
    if arguments.column is None:
        return _all_columns(data)
    return _one_column(data, arguments, frame)


def _all_columns(data: Microdata) -> int:
    """The best proposal for each column, as lines of a recipe."""
    lines = []
    for name in data.attributes:
        forms = recipe_forms(data, name)
        if forms:
            others = f"  # also: {', '.join(form.value for form in forms[1:])}" if len(forms) > 1 else ""
            lines.append(f"{hierarchy_line(name, hierarchy_of_form(data, name, forms[0]))}{others}")
    if not lines:
        print("No ready-made hierarchy fits a column; what belongs together only people know.")
        return DONE
    print("\n".join(["[hierarchies]", *lines]))
    return DONE


def _one_column(data: Microdata, arguments: argparse.Namespace, frame: pd.DataFrame) -> int:
    name: str = arguments.column
    forms = recipe_forms(data, name)
    form = HierarchyForm(arguments.form) if arguments.form else next(iter(forms), None)
    if form is None:
        raise DataError(f"No ready-made hierarchy fits '{name}'; write one by hand, a line per value: value;group;….")
    default_hierarchy(data, name, form)  # refuses a form that does not fit, with the reason
    spec = hierarchy_of_form(data, name, form)
    hierarchy = spec.build(frame[name], Path())
    lines = [hierarchy_line(name, spec), *_levels(data, name, hierarchy)]
    if arguments.output is not None:
        write_file(arguments.output, hierarchy_text(hierarchy).encode())
        lines.append(f"Written: {arguments.output}")
    tell(arguments, lines, {})
    return DONE


def _check(data: Microdata, name: str, file: Path) -> int:
    """Hold a hierarchy against the values of a column; gives the exit code, 1 where values are lacking."""
    hierarchy = read_hierarchy(file)
    values = data.domain[name].values
    lacking = [value for value in values if hierarchy.path_of(value) is None]
    if lacking:
        print(f"'{file.name}' lacks {len(lacking):,} of the {len(values):,} values of '{name}': {listing(lacking)}.")
        return FAILS
    known = {value_text(value) for value in values}
    unused = [value for value in hierarchy.leaves if value_text(value) not in known]
    for line in _levels(data, name, hierarchy):
        print(line)
    rest = f" {len(unused):,} of its values do not occur in the table." if unused else ""
    print(f"'{file.name}' has a group on every level for each of the {len(values):,} values of '{name}'.{rest}")
    return DONE


def _levels(data: Microdata, name: str, hierarchy: Hierarchy) -> Iterator[str]:
    """How many groups each level has, with some values and what becomes of them."""
    values = data.domain[name].values
    paths = [hierarchy.path_of(value) or () for value in values]
    height = hierarchy.height
    yield f"{name}: {len(values):,} values"
    for level in range(1, height + 1):
        groups = dict.fromkeys(path[min(level, len(path)) - 1] for path in paths if path)
        shown = ", ".join(list(groups)[:SHOWN_VALUES]) + (" …" if len(groups) > SHOWN_VALUES else "")
        yield f"  level {level}: {counted(len(groups), 'group')}: {shown}"
    step = max(1, -(-len(values) // SHOWN_VALUES))
    for value, path in list(zip(values, paths, strict=True))[::step]:
        rest = " …" if len(path) > SHOWN_LEVELS else ""
        yield f"  {' > '.join([value_text(value), *path[:SHOWN_LEVELS]])}{rest}"

"""Recipes: everything that makes a release again, as a TOML file that people can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar, get_args

import pandas as pd

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, RecipeError, UndecidedError
from anoncore.base.model import Model
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.showing import Shown
from anoncore.base.texts import did_you_mean, listing, quoted
from anoncore.base.toml import dumps, plain
from anoncore.base.typed_values import sorted_values, value_key
from anoncore.kernels.arrays import record
from anoncore.measures.evaluation import Measure
from anoncore.recipes.hierarchy_rules import spec_by_rule
from anoncore.recipes.prepared_columns import PseudonymKey, by_column, entries_written, prepared_frame
from anoncore.recipes.recipe_text import FromText
from anoncore.recipes.source import (
    HierarchySpec,
    Output,
    Source,
    load_source,
    own_tags,
    sheet_note,
    single_values,
    table_value,
    written,
)
from anoncore.recipes.typed_answers import Answers
from anoncore.release.published_numbers import Numbers
from anoncore.release.release import Release, ReleaseMethod
from anoncore.requirements import DeltaPresence
from anoncore.sources.addresses import is_address, kept_address, shown_address
from anoncore.table.domain import Kind
from anoncore.table.microdata import OTHERS, Microdata, Role
from anoncore.table.preparation import DateShift, PreparedTable, prepared_again

E = TypeVar("E")
TAGS = ("roles", "kinds", "orders", "hierarchies", "sensitive_values")
FORMAT = 2
"""The format in which recipes are written; a recipe says in its first line which one it has."""
FIRST = 1
"""The format in which a column without a role was published as it is; now nobody has decided on such a column."""
PREPARATIONS = ("dates", "pseudonyms")
KEYS = (
    "format",
    "source",
    *TAGS,
    "unit",
    *PREPARATIONS,
    "algorithm",
    "measures",
    "numbers",
    "output",
    "guessable_seed",
    "dossier",
)
PUBLISHED = "publish_untagged"
"""A key of the first format: columns that were published as they are by decision."""
EVERY_OTHER = f'"{OTHERS}" = "{Role.INSENSITIVE.value}"'


@record
class RecipeRun(Shown):
    """What running a recipe gave.

    Attributes
    ----------
    release : Release
        The release.
    data : Microdata
        The table that it was made of.
    measures : dict of str to object
        The result of each measure by its name, e.g. `utility.information_loss`; with its arguments where the recipe
        asks the same measure twice.

    Examples
    --------
    >>> from anoncore import Recipe
    >>> run = Recipe.loads('''
    ... measures = ["utility.average_group_size"]
    ... source = {builtin = "census", rows = 100}
    ... algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 10}]}
    ... ''').run()
    >>> run.data.n_rows, bool(run.release.partition.sizes.min() >= 10), list(run.measures)
    (100, True, ['utility.average_group_size'])
    """

    release: Release
    data: Microdata
    measures: dict[str, object]


@partial(checked_methods, left_out=("__init__",))
@dataclass(frozen=True)
class Recipe(FromText):
    """A table, its tags, an algorithm and the measures to take: everything that makes a release again.

    A recipe is data. It names registered algorithms, requirements, measures and built-in tables, and nothing in it is
    executed. A recipe of a built-in table that tags nothing takes the table's own tags; columns that these call
    insensitive are left out.

    Attributes
    ----------
    source : Source
        Where the table comes from; also the plain values that stand in the file, such as `{"path": "people.csv"}`.
    algorithm : Algorithm
        The method with its parameters; also its plain values.
    roles : mapping of str to str
        Role of each column, and by `"*"` that of all others; columns without a role are left out.
    kinds : mapping of str to str
        Kind of each column; guessed where it is left out.
    orders : mapping of str to sequence
        The values of a column in their order.
    hierarchies : mapping of str to HierarchySpec
        What a column is generalized to; also plain values, or the path of a file.
    sensitive_values : mapping of str to sequence
        The values of a sensitive column that need protection.
    unit : str, optional
        The column that says whose row it is, where one person may have several rows; see `Microdata`.
    dates : mapping of str to DateShift
        Columns of dates that are shifted by one random number of days per person before the table is tagged; also plain
        values, such as `{"shift": 30, "by": "patient"}`.
    pseudonyms : mapping of str to PseudonymKey
        The column of a person's id that is published as a pseudonym, and the file of its key; also plain values.
    measures : tuple of Measure
        What is measured of the release; also names, or tables of a name and arguments.
    numbers : {"text", "bounds", "midpoints"}
        How ranges of numbers are published, see `Release.tables`. A recipe that does not say it publishes text.
    guessable_seed : bool
        Whether `anoncore run` certifies the release although its random choices follow from a seed that the recipe
        gives, and that others can guess.
    output : Output, optional
        Where `anoncore run` puts the release; also the plain values, such as `{"path": "release"}`.
    dossier : Answers
        What only people know of the release, which `anoncore dossier` prints; also the plain values.
    format : int or None
        The format in which the recipe was written; None where it did not say so. Of format 1 a table with a column
        that has no role is refused: the format published it, and nobody decided so. It is not compared.
    folder : Path or None
        Where relative paths start, which is the folder of the recipe's file; None stands for the working directory. It
        is not compared.

    Raises
    ------
    RecipeError
        For anything that does not fit, with the key in question.

    Examples
    --------
    >>> from anoncore import Recipe
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> recipe = Recipe(
    ...     source={"path": "people.csv"},
    ...     roles={"age": "quasi-identifier"},
    ...     algorithm=Mondrian(requirements=[KAnonymity(k=10)]),
    ... )
    >>> print(recipe.dumps())
    format = 2
    <BLANKLINE>
    [source]
    path = "people.csv"
    <BLANKLINE>
    [roles]
    age = "quasi-identifier"
    <BLANKLINE>
    [algorithm]
    name = "mondrian"
    ...
    >>> Recipe.loads(recipe.dumps()) == recipe
    True
    """

    source: Source
    algorithm: Algorithm
    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    hierarchies: Mapping[str, HierarchySpec] = field(default_factory=dict)
    sensitive_values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    unit: str | None = None
    dates: Mapping[str, DateShift] = field(default_factory=dict)
    pseudonyms: Mapping[str, PseudonymKey] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    numbers: Numbers = "text"
    output: Output | None = None
    guessable_seed: bool = False
    dossier: Answers = field(default_factory=Answers)
    format: int | None = field(default=FORMAT, compare=False)
    folder: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_format(self.format)
        checked = {
            "source": _made("[source]", self.source, Source),
            "algorithm": _made("[algorithm]", self.algorithm, Algorithm, ALGORITHMS.build),  # type: ignore[type-abstract]
            "roles": _choices("roles", self.roles, [role.value for role in Role]),
            "kinds": _choices("kinds", self.kinds, [kind.value for kind in Kind]),
            "orders": _value_lists("orders", self.orders),
            "hierarchies": {
                str(name): _made(
                    f"hierarchies.{name}", {"path": spec} if isinstance(spec, str) else spec, HierarchySpec
                )
                for name, spec in _table("hierarchies", self.hierarchies).items()
            },
            "sensitive_values": _value_lists("sensitive_values", self.sensitive_values),
            "unit": _unit(self.unit),
            "dates": by_column("dates", self.dates, DateShift),
            "pseudonyms": by_column("pseudonyms", self.pseudonyms, PseudonymKey),
            "measures": _measures(self.measures),
            "numbers": _numbers(self.numbers),
            "output": None if self.output is None else _made("[output]", self.output, Output),
            "guessable_seed": _flag("guessable_seed", self.guessable_seed),
            "dossier": _made("[dossier]", self.dossier, Answers),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        source: Source | str | Path,
        data: Microdata,
        algorithm: ReleaseMethod | None,
        measures: Sequence[Measure | str] = (),
        numbers: Numbers = "text",
    ) -> Self:
        """The recipe that tags a table as a given one is tagged.

        Parameters
        ----------
        source : Source, str or Path
            Where the table came from; a text or path names a file.
        data : Microdata
            The table with its tags.
        algorithm : Algorithm
            The method to run, or that of a release, `release.algorithm`.
        measures : sequence of Measure or str
            What to measure of the release.
        numbers : {"text", "bounds", "midpoints"}
            How ranges of numbers are published.

        Returns
        -------
        Recipe
            The recipe, with every tag that was given written out: hierarchies by the rule that makes them, and by
            values only where none does; see `holds_values_of`.

        Raises
        ------
        RecipeError
            Where the method is that of a release of which nobody knows how it was made.
        """
        if not isinstance(algorithm, Algorithm):
            raise RecipeError(
                "Nobody knows which method made this release, so no recipe makes it again; give a method to run, such "
                "as Mondrian(requirements=[KAnonymity(k=10)])."
            )
        names = [name for name in data.attributes if data.domain[name].kind is not Kind.NUMERIC]
        return cls(
            source=source if isinstance(source, Source) else Source(path=str(source)),
            algorithm=algorithm,
            roles={name: role.value for name, role in data.roles.items() if name != data.pseudonym},
            kinds={name: data.domain[name].kind.value for name in data.attributes},
            orders={name: data.domain[name].values for name in names if _needs_order(data, name)},
            hierarchies={
                name: spec_by_rule(hierarchy, data.frame[name]) for name, hierarchy in data.hierarchies.items()
            },
            sensitive_values=data.sensitive_values,
            unit=data.unit,
            dates={}
            if data.shifts is None
            else {name: DateShift(shift=data.shifts.most, by=data.unit) for name in data.shifts.columns},
            pseudonyms={} if data.pseudonym is None else {data.pseudonym: PseudonymKey()},
            measures=tuple(Measure(measure) if isinstance(measure, str) else measure for measure in measures),
            numbers=numbers,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path | None = None) -> Self:
        """The recipe of plain values, such as `to_dict` gives.

        Parameters
        ----------
        values : mapping of str to object
            The keys of a recipe with plain values.
        folder : Path, optional
            Where relative paths start; by default in the working directory.

        Returns
        -------
        Recipe
            The recipe.

        Raises
        ------
        RecipeError
            For a key that is unknown or lacking, and for a value that does not fit.
        """
        values = _with_decisions(values)
        if "tables" in values:
            raise RecipeError(
                "This is a recipe of several tables, which are made and judged together: `anoncore run` runs it, and "
                "JoinedRecipe.load reads it."
            )
        unknown = [key for key in values if key not in KEYS]
        if unknown:
            meant = did_you_mean(unknown[0], KEYS)
            raise RecipeError(f"A recipe has no key {listing(unknown)}; it has {listing(KEYS, 20)}.{meant}")
        lacking = [key for key in ("source", "algorithm") if key not in values]
        if lacking:
            raise RecipeError(f"The recipe lacks {listing(lacking)}; it needs a table [{lacking[0]}].")
        _check_format(values.get("format"))
        return cls(**{"format": None, **values}, folder=folder)

    def publishing_untagged(self) -> Recipe:
        """The same recipe with the decision that every column without a role is published as it is.

        Returns
        -------
        Recipe
            The recipe, of the newest format.

        Raises
        ------
        RecipeError
            For a recipe that is not of format 1: there such columns are left out.
        """
        if self.format != FIRST:
            raise RecipeError(
                "Only recipes of format 1 published columns without a role. To publish them as they are, write "
                f"{EVERY_OTHER} into [roles]."
            )
        return replace(self, roles={OTHERS: Role.INSENSITIVE.value, **self.roles}, format=FORMAT)

    def require_decisions(self, columns: Sequence[str]) -> None:
        """Require that the recipe decides on every column of a table, where its format once published the others.

        Parameters
        ----------
        columns : sequence of str
            The columns of the table.

        Raises
        ------
        UndecidedError
            With the lines that decide on them, for columns without a role in a recipe of format 1.
        """
        if self.format != FIRST or OTHERS in self.roles:
            return
        left = [name for name in columns if name not in {*self.roles, *self.pseudonyms, self.unit}]
        if left:
            raise UndecidedError(
                f"Nobody decided on {listing(left, 30)}: the recipe is of format 1 and gives {_them(left)} no role. "
                f"Write format = {FORMAT} into its first line to leave {_them(left)} out, or {EVERY_OTHER} into "
                f"[roles] to publish {_them(left)} as {_they_are(left)} (on the command line: --publish-untagged)."
            )

    def with_unit(self, unit: str | None) -> Recipe:
        """The same recipe, counting the people that a column names.

        Parameters
        ----------
        unit : str or None
            The column that says whose row it is; None leaves the recipe as it is.

        Returns
        -------
        Recipe
            The recipe.
        """
        return self if unit is None else replace(self, unit=unit)

    def to_dict(self, with_seed: bool = False) -> dict[str, Any]:
        """The recipe as plain values.

        Parameters
        ----------
        with_seed : bool
            Whether the seeds of the algorithm are kept. They are left out by default, because with the seed of a
            published release a reader could undo its random choices. The seed of a generated table says which table it
            is, and stays.

        Returns
        -------
        dict of str to object
            Texts, numbers, lists and dictionaries by key. Every parameter that has a value stands there, so that the
            recipe makes the same release where a later version has other defaults.
        """
        algorithm = plain(self.algorithm.to_dict(complete=True), "algorithm")
        if not with_seed:
            algorithm = without_seeds(algorithm)
        values: dict[str, Any] = {
            "format": FIRST if self.format == FIRST else FORMAT,
            **({} if self.unit is None else {"unit": self.unit}),
            **({} if self.numbers == "text" else {"numbers": self.numbers}),
            **({"guessable_seed": True} if self.guessable_seed else {}),
            "source": written(self.source),
            **{name: dict(getattr(self, name)) for name in TAGS if getattr(self, name)},
            **{name: entries_written(getattr(self, name)) for name in PREPARATIONS if getattr(self, name)},
            "algorithm": algorithm,
        }
        if self.hierarchies:
            values["hierarchies"] = {name: written(spec) for name, spec in self.hierarchies.items()}
        if self.measures:
            values["measures"] = [{"name": one.name, **one.arguments, **_kept_tables(one)} for one in self.measures]
        if self.output is not None:
            values["output"] = written(self.output)
        if answers := self.dossier.to_dict():
            values["dossier"] = answers
        return values

    def dumps(self, with_seed: bool = False) -> str:
        """The recipe as a TOML text.

        Parameters
        ----------
        with_seed : bool
            Whether the seeds of the algorithm are kept; see `to_dict`.

        Returns
        -------
        str
            The text of a recipe's file.
        """
        warning = self.publication_warning
        text = dumps(self.to_dict(with_seed))
        return f"# {warning}\n{text}" if warning else text

    @property
    def publication_warning(self) -> str:
        """Why the recipe is not for publication, in one line; empty where it lists no values of the table."""
        held = self.holds_values_of
        # The name of a column must not end the line, which is a comment in a file.
        said = "".join(letter if letter.isprintable() else " " for letter in listing(held, len(held)))
        return f"Not for publication: it holds values of {said}." if held else ""

    @property
    def holds_values_of(self) -> tuple[str, ...]:
        """The attributes whose values the recipe lists, because no rule makes their hierarchy, or because their order
        or what needs protection was said by values.

        Such a recipe is not for publication: values that the release hides stand in it, each once. A built-in table is
        public, so that a recipe for one lists nothing.
        """
        if self.source.builtin is not None:
            return ()
        listed = [name for name, spec in self.hierarchies.items() if spec.lists_values]
        return tuple(dict.fromkeys([*listed, *self.orders, *self.sensitive_values]))

    def save(self, path: str | Path, with_seed: bool = False) -> None:
        """Write the recipe to a file; relative paths in it are rewritten to start at the file's folder.

        Parameters
        ----------
        path : str or Path
            The file to write.
        with_seed : bool
            Whether the seeds of the algorithm are kept; see `to_dict`.

        Raises
        ------
        RecipeError
            Where the file cannot be written.
        """
        file = Path(path)
        moved = self._moved_to(file.parent)
        try:
            file.write_text(moved.dumps(with_seed), encoding="utf-8", newline="\n")
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise RecipeError(f"The recipe {quoted(file.name)} cannot be written: {reason}.") from None

    def microdata(self, as_published: bool = False, shift_seed: int | None = None) -> Microdata:
        """Read the table and tag it.

        Parameters
        ----------
        as_published : bool
            Whether the table is that of a release which was made before, see `tagged`.
        shift_seed : int, optional
            Draws by how many days the dates of a person are shifted, the same in all tables that have it; by default
            the system's entropy does.

        Returns
        -------
        Microdata
            The tagged table.

        Raises
        ------
        DataError, RecipeError
            Where file, tags and table do not fit.
        """
        frame = load_source(self.source, self._folder)
        if self.source.builtin is not None and not any(getattr(self, name) for name in TAGS):
            table = self._prepared(frame, as_published, shift_seed=shift_seed)
            data = table.microdata(**own_tags(self.source.builtin))
        else:
            data = self._tagged(frame, as_published, shift_seed=shift_seed)
        data.further_table = partial(_further_table, self._folder)
        return data

    def tagged(self, frame: pd.DataFrame, as_published: bool = False, secret: bytes | None = None) -> Microdata:
        """Tag a table that was read already, whatever the recipe's own source is.

        Parameters
        ----------
        frame : DataFrame
            The table.
        as_published : bool
            Whether the table is that of a release which was made before: where the recipe is of format 1, columns
            without a role were published, and are `undecided`.
        secret : bytes, optional
            Dates are shifted and pseudonyms are made by it, as a saved session keeps it; by default they are made anew.

        Returns
        -------
        Microdata
            The tagged table.

        Raises
        ------
        DataError, RecipeError
            Where tags and table do not fit.
        """
        return self._tagged(frame, as_published, secret)

    def _tagged(
        self, frame: pd.DataFrame, as_published: bool, secret: bytes | None = None, shift_seed: int | None = None
    ) -> Microdata:
        if not as_published:
            self.require_decisions([str(name) for name in frame.columns])
        lacking = [name for name in self.hierarchies if name not in frame.columns]
        if lacking:
            meant = did_you_mean(lacking[0], [str(name) for name in frame.columns])
            raise RecipeError(f"hierarchies names {listing(lacking)}, which the table lacks.{meant}")
        table = self._prepared(frame, as_published, secret, shift_seed)
        hierarchies = {}
        for name, spec in self.hierarchies.items():
            with _at(f"hierarchies.{name}"):
                hierarchies[name] = spec.build(table.frame[name], self._folder)
        data = table.microdata(
            roles=self.roles,
            kinds=self.kinds,
            orders={name: [table_value(value) for value in values] for name, values in self.orders.items()},
            hierarchies=hierarchies,
            sensitive_values={
                name: [table_value(value) for value in values] for name, values in self.sensitive_values.items()
            },
        )
        return data.publishing(data.left_out) if self.format == FIRST and data.left_out else data

    def _prepared(
        self, frame: pd.DataFrame, as_published: bool, secret: bytes | None = None, shift_seed: int | None = None
    ) -> PreparedTable:
        """The table with shifted dates and pseudonyms; keys are written unless a release is only looked at again."""
        if secret is not None:
            return prepared_again(secret, frame, self.dates, self.pseudonyms, self.unit)
        is_here = self.output is not None and not is_address(self.output.path)
        published = self._folder / self.output.path if is_here and self.output is not None else None
        return prepared_frame(
            frame, self.dates, self.pseudonyms, self.unit, self._folder, published, not as_published, shift_seed
        )

    def further_table(self, source: Mapping[str, Any], data: Microdata) -> Microdata:
        """Read a table that a measure names, such as one of the population, and tag it as the recipe's own table is.

        Parameters
        ----------
        source : mapping of str to object
            Where the table comes from, with the keys of a recipe's source.
        data : Microdata
            The recipe's own table.

        Returns
        -------
        Microdata
            The table.

        Raises
        ------
        DataError, RecipeError
            Where the table cannot be read, or its columns do not fit.
        """
        return data.with_same_tags(load_source(_made("[source]", source, Source), self._folder))

    def run(self, progress: Progress | None = None, shift_seed: int | None = None) -> RecipeRun:
        """Read the table, make the release and take the measures.

        Parameters
        ----------
        progress : callable, optional
            Called with the share done and what is being done.
        shift_seed : int, optional
            Draws the shifts of dates, see `microdata`.

        Returns
        -------
        RecipeRun
            The release, its table, and the results of the measures.

        Raises
        ------
        AnonymizationError
            What reading the table, the algorithm and the measures raise.
        """
        report = progress if progress is not None else silent
        report(0.0, "Reading the table")
        data = self.microdata(shift_seed=shift_seed)
        made = self.algorithm.anonymize(data, part_of(report, 0.1, 0.7 if self.measures else 1.0))
        release = replace(made, numbers=self.numbers)
        names = [measure.name for measure in self.measures]
        results: dict[str, object] = {}
        for number, measure in enumerate(self.measures):
            low, high = (0.7 + 0.3 * (number + step) / len(names) for step in (0, 1))
            report(low, f"Measuring {measure.label}")
            key = measure.name if names.count(measure.name) == 1 else measure.label
            results[key] = measure.evaluate(
                release, part_of(report, low, high), lambda source: self.further_table(source, data)
            )
        report(1.0, "Done")
        return RecipeRun(release, data, results)

    @property
    def source_path(self) -> Path | None:
        """Where the table's file, folder or database lies on this machine; None for a built-in table.

        Raises RecipeError for a table that lies elsewhere: `brought_here` fetches it.
        """
        if self.source.is_elsewhere:
            raise RecipeError(f"The table lies at '{shown_address(str(self.source.path))}' and was not fetched yet.")
        return None if self.source.path is None else self._folder / self.source.path

    @contextmanager
    def brought_here(self, workspace: Path | None = None, progress: Progress | None = None) -> Iterator[Recipe]:
        """The recipe with its table on this machine, until the block ends; itself where the table is here already.

        Parameters
        ----------
        workspace : Path, optional
            Where a table that lies elsewhere is put meanwhile; by default the system's folder for such.
        progress : callable, optional
            Called with the share done and a text; it may raise CancelledError to stop.

        Returns
        -------
        iterator of Recipe
            A context manager that gives the recipe.

        Raises
        ------
        DataError
            For a table that cannot be fetched.

        Examples
        --------
        >>> from anoncore import Recipe
        >>> recipe = Recipe(source={"builtin": "census"}, algorithm={"name": "anatomy", "l": 2})
        >>> with recipe.brought_here() as here:
        ...     here is recipe
        True
        """
        with self.source.brought_here(workspace, progress) as source:
            yield self if source is self.source else replace(self, source=source)

    def reading_notes(self) -> tuple[str, ...]:
        """What should be known of how the recipe and its table are read, in sentences."""
        return tuple(note for note in (self._format_note, sheet_note(self.source, self._folder)) if note)

    @property
    def _format_note(self) -> str:
        if self.format is not None:
            return ""
        return (
            f"The recipe does not say in which format it is written, and is read as format {FORMAT}. Write format = "
            f"{FORMAT} into its first line, and later versions read it in the same way."
        )

    @property
    def _folder(self) -> Path:
        return self.folder if self.folder is not None else Path()

    def _moved_to(self, folder: Path) -> Recipe:
        """The same recipe with relative paths that start at another folder."""

        def moved(path: str | None) -> str | None:
            if (
                path is None
                or is_address(path)
                or Path(path).is_absolute()
                or self._folder.resolve() == folder.resolve()
            ):
                return path
            target = (self._folder / path).resolve()
            try:
                return Path(os.path.relpath(target, folder.resolve())).as_posix()
            except ValueError:  # on another drive
                return str(target)

        hierarchies = {name: spec.replace(path=moved(spec.path)) for name, spec in self.hierarchies.items()}
        values = {name: getattr(self, name) for name in KEYS}
        source = self.source.replace(path=moved(self.source.path))
        output = None if self.output is None else self.output.replace(path=moved(self.output.path))
        measures = []
        for measure in self.measures:
            tables = {
                name: {**one, "path": moved(one["path"])} for name, one in measure.tables.items() if "path" in one
            }
            measures.append(Measure(measure.name, {**_with_populations(measure.arguments, moved), **tables}))
        changed: dict[str, Any] = {"source": source, "output": output, "hierarchies": hierarchies}
        changed["measures"] = tuple(measures)
        changed["pseudonyms"] = {name: one.replace(key=moved(one.key)) for name, one in self.pseudonyms.items()}
        return Recipe(
            **{**values, **changed, "algorithm": _with_populations(self.algorithm, moved)},
            folder=folder,
        )


@contextmanager
def _at(key: str) -> Iterator[None]:
    """Put the key before the message of what goes wrong."""
    try:
        yield
    except (AnonymizationError, ValueError) as error:
        raise RecipeError(f"{key}: {error}") from None


def _check_format(value: Any) -> None:
    """Raise RecipeError for a format that this version does not read."""
    if value is None or (type(value) is int and FIRST <= value <= FORMAT):
        return
    if type(value) is int and value > FORMAT:
        raise RecipeError(
            f"The recipe has the format {value}, and this version of anoncore reads formats up to {FORMAT}; install a "
            "newer version."
        )
    raise RecipeError(f"format is {quoted(value)}; it should be {FORMAT}, or {FIRST} for an earlier recipe.")


def _with_decisions(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a recipe, in which those of the first format name columns to publish as they are by their roles."""
    if PUBLISHED not in values or values.get("format") not in (None, FIRST):
        return values
    names, roles = _names(PUBLISHED, values[PUBLISHED]), _table("roles", values.get("roles", {}))
    kept = {key: value for key, value in values.items() if key != PUBLISHED}
    return {**kept, "format": FIRST, "roles": {**dict.fromkeys(names, Role.INSENSITIVE.value), **roles}}


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _they_are(names: Sequence[str]) -> str:
    return "it is" if len(names) == 1 else "they are"


def _table(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RecipeError(f"{key} should be a table, not {quoted(value)}.")
    wrong = [name for name in value if not isinstance(name, str)]
    if wrong:
        raise RecipeError(f"{key} has the key {quoted(wrong[0])}; keys are texts.")
    return value


def _further_table(folder: Path, path: str) -> pd.DataFrame:
    return load_source(Source(path=path), folder)


def populations_in(values: Any) -> list[str]:
    """The paths of populations that models, or the plain values of some, name."""
    paths: list[str] = []

    def noted(path: str) -> str:
        paths.append(path)
        return path

    _with_populations(values, noted)
    return paths


def _with_populations(values: Any, moved: Callable[[str], str | None]) -> Any:
    """Models, or the plain values of some, with the paths of populations as `moved` gives them."""
    if isinstance(values, list | tuple):
        return type(values)(_with_populations(one, moved) for one in values)
    if not isinstance(values, Mapping | Model):
        return values
    fields = {name: _with_populations(value, moved) for name, value in dict(values).items()}
    name = values.get("name") if isinstance(values, Mapping) else values.name
    if name == DeltaPresence.name and isinstance(fields.get("population"), str):
        fields["population"] = moved(fields["population"])
    if isinstance(values, Mapping):
        return fields
    return values if fields == dict(values) else values.replace(**fields)


def _made(key: str, value: Any, kind: type[E], make: Callable[[Mapping[str, Any]], E] | None = None) -> E:
    """What a table of the recipe describes, where it is not that already; `key` is what messages call the table."""
    if isinstance(value, kind):
        return value
    with _at(key):
        values = _table(key.strip("[]"), value)
        return kind(**values) if make is None else make(values)


def _measures(values: Any) -> tuple[Measure, ...]:
    if not isinstance(values, list | tuple):
        raise RecipeError(f"measures should be a list, not {quoted(values)}.")
    measures: list[Measure] = []
    for number, value in enumerate(values, 1):
        if isinstance(value, Measure):
            measures.append(value)
            continue
        given = {"name": value} if isinstance(value, str) else dict(_table(f"measure {number}", value))
        with _at(f"measure {number}"):
            name = given.pop("name", "")
            measures.append(Measure(name if isinstance(name, str) else quoted(name), given))
            for source in measures[-1].tables.values():
                _made("[source]", source, Source)
    twice = [measure.label for number, measure in enumerate(measures) if measure in measures[:number]]
    if twice:
        raise RecipeError(f"measures asks {listing(twice)} twice.")
    return tuple(measures)


def _names(key: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise RecipeError(f"{key} should be a list of column names, not {quoted(values)}.")
    return tuple(dict.fromkeys(values))


def _choices(key: str, given: Any, choices: list[str]) -> dict[str, str]:
    for name, value in _table(key, given).items():
        if value not in choices:
            meant = did_you_mean(value, choices)
            raise RecipeError(f"{key}.{name} is {quoted(value)}; use one of {listing(choices)}.{meant}")
    return {str(name): str(value) for name, value in given.items()}


def _numbers(value: Any) -> Any:
    if not isinstance(value, str) or value not in get_args(Numbers):
        raise RecipeError(f"numbers is {quoted(value)}; use one of {listing(get_args(Numbers))}.")
    return value


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise RecipeError(f"{key} should be true or false, not {quoted(value)}.")
    return value


def _unit(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise RecipeError(f"unit should be the name of a column, not {quoted(value)}.")
    return value


def _value_lists(key: str, given: Any) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = {}
    for name, values in _table(key, given).items():
        if isinstance(values, str | Mapping) or not isinstance(values, Collection):
            raise RecipeError(f"{key}.{name} should be a list of values, not {quoted(values)}.")
        with _at(f"{key}.{name}"):
            lists[str(name)] = single_values(plain(values, "the list"))
    return lists


def _needs_order(data: Microdata, name: str) -> bool:
    """Whether the order of categories says more than sorting the values, or the hierarchy, would."""
    values = list(data.domain[name].values)
    hierarchy = data.hierarchies.get(name)
    usual = sorted_values(values) if hierarchy is None else hierarchy.order(values)
    is_ranked = hierarchy is None and data.domain[name].kind is Kind.ORDINAL
    return is_ranked or list(map(value_key, values)) != list(map(value_key, usual))


def _kept_tables(measure: Measure) -> dict[str, Any]:
    """The further tables of a measure whose addresses may not be written down as they are."""
    places = {name: one for name, one in measure.tables.items() if is_address(str(one.get("path", "")))}
    return {name: {**one, "path": kept_address(one["path"])} for name, one in places.items()}


def without_seeds(values: Any) -> Any:
    """Plain values of an algorithm without its seed and those of algorithms inside it."""
    if isinstance(values, Mapping):
        return {name: without_seeds(value) for name, value in values.items() if name != "seed"}
    return [without_seeds(value) for value in values] if isinstance(values, list | tuple) else values

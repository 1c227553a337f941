"""Recipes of several tables of the same people, which are made and judged together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from anoncore import privacy
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, InfeasibleError, RecipeError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.random_numbers import fresh_seed
from anoncore.base.showing import Shown
from anoncore.base.texts import did_you_mean, listing, quoted
from anoncore.base.toml import dumps
from anoncore.kernels.arrays import record
from anoncore.privacy.joined_people import JoinedTables
from anoncore.recipes.prepared_columns import PseudonymKey, by_column, entries_written
from anoncore.recipes.recipe import FORMAT, Recipe, RecipeRun
from anoncore.recipes.recipe_text import FromText
from anoncore.recipes.source import Output, written
from anoncore.requirements import KAnonymity

KEYS = ("format", "person", "pseudonyms", "tables", "output")
SHARED = ("format", "unit", "pseudonyms", "output")
"""Keys of a recipe that are said once for all tables."""
TABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
"""Names of tables become names of files."""


@record
class JoinedRun(Shown):
    """What running a recipe of several tables gave.

    Attributes
    ----------
    person : str
        The column that says whose row it is, in all tables.
    tables : dict of str to RecipeRun
        What running the recipe of each table gave.
    joined : JoinedTables
        What a reader has who joins the tables by the person.
    is_linked : bool
        Whether pseudonyms are published, by which every reader can join the tables.
    """

    person: str
    tables: dict[str, RecipeRun]
    joined: JoinedTables
    is_linked: bool

    @cached_property
    def promises(self) -> tuple[privacy.Guarantee, ...]:
        """What was promised of each table, and what is left of it where the tables are joined by the person."""
        return self.joined.guarantees()

    @property
    def broken(self) -> tuple[privacy.Guarantee, ...]:
        """What was promised and does not hold in the join."""
        return tuple(one for one in self.promises if not one.holds)

    @property
    def is_broken_by_decision(self) -> bool:
        """Whether whoever also knows the columns that are published by decision hides people among fewer than k."""
        asked = [one.asked for one in self.promises if isinstance(one.requirement, KAnonymity)]
        return self.joined.k_all < max(asked, default=0)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What holds of the joined tables, for people; the first sentence says whether what was promised holds."""
        if not self.broken:
            state = f"What is promised of each table holds also where they are joined by '{self.person}'."
        else:
            failing = "; ".join(f"{one.fragment}: {one.sentence.rstrip('.')}" for one in self.broken)
            state = (
                f"What is promised of each table holds only if nobody joins them by '{self.person}', which is not "
                f"published. Where somebody does, {failing}."
            )
        return (
            state,
            *(f"{one.fragment}, joined: {one.sentence}" for one in self.promises if one.holds),
            *self.joined.sentences,
        )

    def require_kept(self) -> None:
        """Require that the join gives no more than each table promises, where readers can make it.

        Raises
        ------
        InfeasibleError
            Where pseudonyms are published and something that was promised of a table does not hold in the join.
        """
        if not self.is_linked or not self.broken:
            return
        failing = " ".join(f"In {quoted(one.fragment)}, {one.sentence}" for one in self.broken)
        raise InfeasibleError(
            f"{listing(list(self.tables), 30)} give more together than each promises: they share pseudonyms of "
            f"'{self.person}', and joined by them, the {self.joined.n_people:,} people are in groups of at least "
            f"{int(self.joined.k):,} (by single rows of one table: {min(self.joined.k_alone.values()):,}). {failing} "
            "Nothing was written. Ask for coarser tables (a larger k, or fewer quasi-identifiers), leave [pseudonyms] "
            "out, publish one of the tables, or one table with a row per person (one_row_per_person)."
        )


@partial(checked_methods, left_out=("__init__",))
@dataclass(frozen=True)
class JoinedRecipe(FromText):
    """Several tables of the same people, each with a source, tags and a method of its own.

    Whether the tables together give more than each promises is counted before anything is published. Where
    pseudonyms of the person are published, which are the same in all tables, such a release is refused.

    Attributes
    ----------
    person : str
        The column that says whose row it is, in every table; it is the unit of each.
    tables : mapping of str to Recipe
        The recipe of each table by the table's name; also its plain values, without what is said for all.
    pseudonyms : mapping of str to PseudonymKey
        The person's column and the file of the key, where its pseudonyms are published; also plain values.
    output : Output, optional
        Where `anoncore run` puts the releases: a folder.
    folder : Path or None
        Where relative paths start; None stands for the working directory. It is not compared.

    Raises
    ------
    RecipeError
        For anything that does not fit, with the table and the key in question.

    Examples
    --------
    >>> from anoncore.recipes.joined_tables import JoinedRecipe
    >>> recipe = JoinedRecipe.loads('''
    ... format = 2
    ... person = "patient"
    ... [tables.patients]
    ... source = {path = "patients.csv"}
    ... roles = {age = "quasi-identifier"}
    ... algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 5}]}
    ... [tables.visits]
    ... source = {path = "visits.csv"}
    ... roles = {ward = "quasi-identifier", diagnosis = "sensitive"}
    ... algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 5}]}
    ... ''')
    >>> list(recipe.tables), recipe.tables["visits"].unit
    (['patients', 'visits'], 'patient')
    """

    person: str
    tables: Mapping[str, Recipe]
    pseudonyms: Mapping[str, PseudonymKey] = field(default_factory=dict)
    output: Output | None = None
    folder: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.person, str) or not self.person:
            raise RecipeError(f"person should be the name of a column, not {quoted(self.person)}.")
        pseudonyms = by_column("pseudonyms", self.pseudonyms, PseudonymKey)
        if set(pseudonyms) - {self.person}:
            raise RecipeError(
                f"pseudonyms names {listing(sorted(set(pseudonyms) - {self.person}))}, and tables are joined by the "
                f"person: name '{self.person}'."
            )
        if not isinstance(self.tables, Mapping) or len(self.tables) < 2:
            raise RecipeError("A recipe of several tables needs two or more; write each as [tables.NAME].")
        _require_names(list(self.tables))
        shared = {"format": FORMAT, "unit": self.person, "pseudonyms": pseudonyms, "output": self.output}
        tables = {name: self._table(name, values, shared) for name, values in self.tables.items()}
        shifts = {shift.shift for recipe in tables.values() for shift in recipe.dates.values()}
        if len(shifts) > 1:
            days = " and ".join(map(str, sorted(shifts)))
            raise RecipeError(
                f"Dates are shifted by up to {days} days, and a person has one number of days in all tables; name the "
                "same shift."
            )
        output = next(iter(tables.values())).output
        for name, value in {"pseudonyms": pseudonyms, "tables": tables, "output": output}.items():
            object.__setattr__(self, name, value)

    def _table(self, name: str, values: Any, shared: Mapping[str, Any]) -> Recipe:
        if isinstance(values, Recipe):
            return replace(values, **{**shared, "folder": self.folder})
        if not isinstance(values, Mapping):
            raise RecipeError(f"tables.{name} should be a table, not {quoted(values)}.")
        twice = [key for key in SHARED if key in values]
        if twice:
            raise RecipeError(
                f"tables.{name} says {listing(twice)}, which is said once for all tables: by format, person, "
                "[pseudonyms] and [output]."
            )
        given = {key: value for key, value in shared.items() if value is not None}
        try:
            return Recipe.from_dict({**given, **values}, self.folder)
        except AnonymizationError as error:
            raise RecipeError(f"tables.{name}: {error}") from None

    @staticmethod
    def is_one(values: Mapping[str, Any]) -> bool:
        """Whether plain values are those of a recipe of several tables.

        Parameters
        ----------
        values : mapping of str to object
            The keys of a recipe with plain values.

        Returns
        -------
        bool
            Whether they name tables.
        """
        return "tables" in values

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
        JoinedRecipe
            The recipe.

        Raises
        ------
        RecipeError
            For a key that is unknown or lacking, and for a value that does not fit.
        """
        unknown = [key for key in values if key not in KEYS]
        if unknown:
            meant = did_you_mean(unknown[0], KEYS)
            raise RecipeError(
                f"A recipe of several tables has no key {listing(unknown)}; it has {listing(KEYS)}, and each of its "
                f"tables the others.{meant}"
            )
        lacking = [key for key in ("person", "tables") if key not in values]
        if lacking:
            raise RecipeError(
                f"The recipe of several tables lacks {listing(lacking)}; write the column that says whose row it is as "
                'person = "patient", and each table as [tables.NAME].'
            )
        if values.get("format", FORMAT) != FORMAT:
            raise RecipeError(f"A recipe of several tables has the format {FORMAT}; write format = {FORMAT}.")
        return cls(**{key: value for key, value in values.items() if key != "format"}, folder=folder)

    def to_dict(self, with_seed: bool = False) -> dict[str, Any]:
        """The recipe as plain values.

        Parameters
        ----------
        with_seed : bool
            Whether the seeds of the methods are kept, see `Recipe.to_dict`.

        Returns
        -------
        dict of str to object
            Texts, numbers, lists and dictionaries by key.
        """
        tables = {
            name: {key: value for key, value in recipe.to_dict(with_seed).items() if key not in SHARED}
            for name, recipe in self.tables.items()
        }
        return {
            "format": FORMAT,
            "person": self.person,
            **({"pseudonyms": entries_written(self.pseudonyms)} if self.pseudonyms else {}),
            **({} if self.output is None else {"output": written(self.output)}),
            "tables": tables,
        }

    def dumps(self, with_seed: bool = False) -> str:
        """The recipe as a TOML text.

        Parameters
        ----------
        with_seed : bool
            Whether the seeds of the methods are kept.

        Returns
        -------
        str
            The text of a recipe's file.
        """
        warnings = dict.fromkeys(one.publication_warning for one in self.tables.values() if one.publication_warning)
        return "".join(f"# {warning}\n" for warning in warnings) + dumps(self.to_dict(with_seed))

    def run(self, progress: Progress | None = None) -> JoinedRun:
        """Make the release of every table, and join them by the person.

        Parameters
        ----------
        progress : callable, optional
            Called with the share done and what is being done.

        Returns
        -------
        JoinedRun
            The releases, and what a reader of all of them has.

        Raises
        ------
        InfeasibleError
            Where pseudonyms are published and the tables together give more than each of them promises.
        AnonymizationError
            What running the recipe of a table raises, with the table's name.
        """
        new_keys = [file for file in self.key_files if not file.exists()]
        try:
            return self._run(progress if progress is not None else silent)
        except BaseException:
            # A key that was made for what is not published is of no use.
            for file in new_keys:
                file.unlink(missing_ok=True)
            raise

    def _run(self, report: Progress) -> JoinedRun:
        # Dates of a person are shifted alike in all tables, so that the days between them stay.
        runs, shift_seed = {}, fresh_seed()
        for number, (name, recipe) in enumerate(self.tables.items()):
            low, high = (0.9 * (number + step) / len(self.tables) for step in (0, 1))
            try:
                runs[name] = recipe.run(part_of(report, low, high), shift_seed)
            except AnonymizationError as error:
                error.args = (f"Table {quoted(name)}: {error}", *error.args[1:])
                raise
        report(0.9, "Joining the tables")
        joined = privacy.joined({name: run.release for name, run in runs.items()}, self.person)
        run = JoinedRun(self.person, runs, joined, bool(self.pseudonyms))
        run.require_kept()
        report(1.0, "Done")
        return run

    @property
    def key_files(self) -> tuple[Path, ...]:
        """The file of the key of the pseudonyms; none where no pseudonyms are published."""
        return tuple((self.folder or Path()) / one.key for one in self.pseudonyms.values())

    @contextmanager
    def brought_here(self, workspace: Path | None = None, progress: Progress | None = None) -> Iterator[JoinedRecipe]:
        """The recipe with its tables on this machine, until the block ends.

        Parameters
        ----------
        workspace : Path, optional
            Where tables that lie elsewhere are put meanwhile; by default the system's folder for such.
        progress : callable, optional
            Called with the share done and a text; it may raise CancelledError to stop.

        Returns
        -------
        iterator of JoinedRecipe
            A context manager that gives the recipe.
        """
        with ExitStack() as kept_here:
            here = {
                name: kept_here.enter_context(recipe.brought_here(workspace, progress))
                for name, recipe in self.tables.items()
            }
            yield replace(self, tables=here)

    def reading_notes(self) -> tuple[str, ...]:
        """What should be known of how the recipe and its tables are read, in sentences."""
        notes = (f"{name}: {note}" for name, recipe in self.tables.items() for note in recipe.reading_notes())
        return tuple(dict.fromkeys(notes))


def _require_names(names: list[Any]) -> None:
    """Raise RecipeError for names of tables that make no names of files, or the same ones."""
    for name in names:
        if not isinstance(name, str) or not TABLE_NAME.fullmatch(name):
            raise RecipeError(
                f"The table {quoted(name)} has a name that makes no name of a file; write it in letters, digits, - and "
                "_, such as [tables.visits]."
            )
    if len({name.casefold() for name in names}) < len(names):
        raise RecipeError(f"{listing(names, 30)}: two tables have names that some systems take for one file.")

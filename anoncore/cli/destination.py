"""Where `anoncore run` puts a release: its options, the recipe's own wish, and what does not go together."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from anoncore.base.errors import ParameterError
from anoncore.cli.output import is_stream, path_or_address, require_one_output
from anoncore.cli.recipe_file import recipe_name
from anoncore.publishing.certification.scan import TABLE
from anoncore.publishing.databases.storing import places_of, stored_name
from anoncore.recipes.recipe import Recipe
from anoncore.sources.addresses import is_database, shown_address


@dataclass(frozen=True)
class Database:
    """A database that gets the release, and the name of the release there."""

    address: str
    name: str

    @property
    def shown(self) -> str:
        """The address as it may be told."""
        return shown_address(self.address)

    @property
    def check(self) -> str:
        """How the release is checked, as a sentence for those who made it."""
        return f"check it with: anoncore verify {self.shown} --table {self.name}"


def add_output_options(run: argparse.ArgumentParser) -> None:
    """Give the command the options that say where the release goes."""
    run.add_argument(
        "--output",
        type=path_or_address,
        help="folder or file to write to, - for the table on the standard output, or a database such as "
        "postgresql://ann@host/clinic (default: as the recipe says, else this folder). Give passwords as PGPASSWORD or "
        "in ~/.pgpass",
    )
    run.add_argument(
        "--output-table",
        metavar="NAME",
        help="name of the release in a database, schema.name for another schema than the user's own (default: as the "
        "recipe says, else made of its name)",
    )


def settle_output(arguments: argparse.Namespace, recipe: Recipe) -> None:
    """Put the path of the release into `arguments.output`, and the database, if there is one, into `.database`.

    Raises ParameterError for what does not go together.
    """
    wanted, table = arguments.output, arguments.output_table
    if wanted is None and recipe.output is not None:
        table = table or recipe.output.table
        wanted = path_or_address(recipe.output.path)
        wanted = wanted if isinstance(wanted, str) else (recipe.folder or Path()) / wanted
    arguments.database = None
    if not isinstance(wanted, str):
        if table is not None:
            raise ParameterError("--output-table names a release in a database; give its address as --output.")
        arguments.output = Path() if wanted is None else wanted
        if is_stream(wanted):
            _require_table_alone(arguments)
        return
    if not is_database(wanted):
        raise ParameterError(
            f"'{shown_address(wanted)}': releases are written to folders and files of this machine and to "
            "postgresql:// addresses."
        )
    if arguments.format is not None:
        raise ParameterError("--format is for files; a database holds tables, so leave it out.")
    if arguments.no_certificate:
        raise ParameterError("--no-certificate is for files; in a database a release always has its certificate.")
    arguments.database = Database(wanted, table or f"{stored_name(recipe_name(arguments.recipe))}_release")
    places_of(arguments.database.name, [TABLE])
    own = recipe.source
    is_same = own.path is not None and shown_address(own.path) == arguments.database.shown
    if is_same and own.table is not None and arguments.database.name in (own.table, f"public.{own.table}"):
        raise ParameterError(f"'{own.table}' is the table of the recipe itself; choose another --output-table.")
    # The report and the mapping, which stay with those who made the release, lie where the command is run.
    arguments.output = Path()


def _require_table_alone(arguments: argparse.Namespace) -> None:
    """Require that a release on the standard output is its table and nothing else; raises ParameterError."""
    require_one_output(arguments)
    if not arguments.no_certificate:
        raise ParameterError(
            "A table on the standard output has no certificate beside it; add --no-certificate, or name a file."
        )
    if arguments.report or arguments.mapping:
        raise ParameterError("--report and --mapping are files beside the release; name a file or folder as --output.")

"""Whether a recipe runs in memory or on disk, and the run on disk."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_tree import RothkoTree, unsuited
from anoncore.base.errors import DataError, RecipeError
from anoncore.base.extras import imported
from anoncore.base.memory import RUN_CELL_BYTES, free_memory
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing
from anoncore.engines.input_digest import table_digest
from anoncore.engines.large_run import USUAL, Cluster, LargeRun, RunSettings, anonymize_table, check_output
from anoncore.engines.spool import Tags
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.source import HierarchySpec, Source, table_value
from anoncore.sources.addresses import is_secret, parameters_of
from anoncore.sources.delimited import SAMPLE_BYTES, SEPARATORS
from anoncore.sources.large_table import LargeTable
from anoncore.sources.parquet import LARGEST_CELLS
from anoncore.sources.reader import UNPACKED_LIMIT
from anoncore.sources.table_files import DATABASES, table_files
from anoncore.table.domain import Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Role

Engine = Literal["memory", "disk", "spark"]

LOCAL = "local"
"""How the masters begin that do the work on this machine."""
MASTERS = ("spark://", "yarn", "k8s://", LOCAL)
"""How masters of Spark begin."""
CONNECT, CONNECT_PORT = "sc://", 15002
"""How the address of a server of Spark Connect begins, and where it listens if the address does not say."""
PARAMETER = re.compile(r"[a-z0-9_.\-]+")
"""Names that the protocol of Spark Connect takes; it tells those of others together with all that is sent."""
ANSWER = 10.0
"""Seconds that such a server has to answer; Spark itself would try for ten minutes without a word."""
PANDAS_NEWER = "PySpark does not yet fully support pandas"
"""How a warning of Spark begins about the pandas that we need. Rows go to Spark and come back as Arrow alone."""
PYTHON = "PYSPARK_PYTHON"
"""The variable that names the Python of the machines that do the work."""
PYTHON_OF_WORKERS = f"Install anoncore on all of them, and name the Python that has it by setting {PYTHON}."
"""What helps where these machines lack a package."""
TRACEBACK = "Traceback (most recent call last)"
"""How the traceback of a worker begins, inside an error of Spark."""
MOST_TOLD = 300
"""Characters of an error of Spark that are repeated."""
MEMORY_SHARE = 0.9
"""Share of the free memory that a run in memory may need."""
GZIP, GZIPPED = 31, b"\x1f\x8b"
"""What zlib calls the format of gzip, and how such a file begins."""
DATABASE_CELL = 8
"""Bytes that a cell of a database takes on the disk, as a rule of thumb."""


@dataclass(frozen=True)
class EngineChoice:
    """Where a recipe runs, and why, as one sentence."""

    engine: Engine
    reason: str


def choose_engine(recipe: Recipe, forced: Engine | None = None) -> EngineChoice:
    """The engine that suits the size of the recipe's table and the free memory, unless another one is forced.

    Raises RecipeError where disk or Spark is asked for and the source is a built-in table.
    """
    path = recipe.source_path
    if path is None:
        if forced in ("disk", "spark"):
            raise RecipeError(f"A built-in table is made in memory; the engine {forced} needs source.path.")
        return EngineChoice("memory", "A built-in table is made in memory.")
    if forced is not None:
        return EngineChoice(forced, "As asked for.")
    if not os.path.exists(path) or path.suffix.lower() in (".xlsx", ".xlsm"):
        return EngineChoice("memory", "Workbooks are read as a whole.")
    needed, free = memory_needed(path), free_memory()
    what = f"'{path.name}' needs about {needed / 1e9:.1f} GB in memory, and {free / 1e9:.1f} GB are free"
    if needed > MEMORY_SHARE * free or (path.is_file() and _beyond_the_reader(path)):
        return EngineChoice("disk", f"{what}: it is read piece by piece.")
    return EngineChoice("memory", f"{what}.")


def memory_needed(path: Path) -> int:
    """About how many bytes a run in memory takes for a table, by its cells; 0 where its files cannot be read."""
    try:
        return int(sum(map(_cells, table_files(path))) * RUN_CELL_BYTES)
    except (OSError, ValueError, zlib.error):
        return 0


def _cells(file: Path) -> float:
    """How many cells a file has: what Parquet says, and of other files about as many as their beginning has."""
    try:
        metadata = pq.read_metadata(file)
    except (OSError, pa.ArrowException):
        size = file.stat().st_size
    else:
        return float(metadata.num_rows * metadata.num_columns)
    with file.open("rb") as opened:
        begin = opened.read(SAMPLE_BYTES)
    text = zlib.decompressobj(GZIP).decompress(begin) if begin.startswith(GZIPPED) else begin
    if b"\0" in text:
        return size / DATABASE_CELL
    # Before the first cell of a row the row above it has ended, and before every other one there is a separator.
    cells = text.count(b"\n") + max(text.count(separator.encode()) for separator in SEPARATORS)
    return cells * size / max(len(begin), 1)


def _beyond_the_reader(path: Path) -> bool:
    try:
        metadata = pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return path.stat().st_size > UNPACKED_LIMIT
    unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return unpacked > UNPACKED_LIMIT or metadata.num_rows * metadata.num_columns > LARGEST_CELLS


def run_on_disk(recipe: Recipe, output: Path, settings: RunSettings = USUAL) -> LargeRun:
    """The release of a recipe's table, read piece by piece, as a folder of Parquet files; see `anonymize_table`.

    Mondrian with strict cuts runs as RothkoTree, which gives the same. Raises RecipeError for any other algorithm.
    """
    source, path = recipe.source, recipe.source_path
    if path is None:
        raise RecipeError("A built-in table is made in memory; the engine disk needs source.path.")
    check_output(output, path)
    reader = partial(_open, path, source)
    return anonymize_table(reader, tags_of(recipe), on_disk(recipe), output, settings)


def input_digest(recipe: Recipe, key: str, names: Sequence[str]) -> str:
    """The keyed hash of some columns of a recipe's table, read piece by piece, as a run on disk takes it.

    Raises RecipeError for a built-in table, and DataError where the table lacks one of the columns.
    """
    if recipe.source.builtin is not None:
        raise RecipeError("A built-in table is made in memory, and no release in parts is made of one.")
    with (
        recipe.brought_here() as here,
        temporary_directory() as workspace,
        closing(_open(Path(here.source_path or ""), here.source, workspace)) as table,
    ):
        missing = [name for name in names if name not in table.names]
        if missing:
            raise DataError(f"The table of the recipe lacks {listing(missing)}; it has {listing(table.names, 30)}.")
        return table_digest(table, key, names)


def run_on_spark(recipe: Recipe, output: Path, settings: RunSettings = USUAL) -> LargeRun:
    """Let Spark anonymize a recipe's Parquet or CSV files, in the session there is or on this machine; see
    `anonymize_on_spark`.

    Raises RecipeError where Spark does not read the source, and MissingPackageError where it is not installed.
    """
    path, algorithm = recipe.source_path, on_disk(recipe)
    if path is None or path.suffix.lower() in DATABASES:
        raise RecipeError("The engine spark reads Parquet and CSV files and folders of them; name one as source.path.")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS_NEWER, FutureWarning)
        spark_errors = imported("pyspark.errors", "The engine spark")
        try:
            return _on_cluster(recipe, path, algorithm, output, settings)
        except spark_errors.PySparkException as error:
            reason = reason_of(settings.cluster.without_secrets(str(error)))
            raise RecipeError(f"Spark could not finish: {reason}") from None


def reason_of(text: str) -> str:
    """The line of an error of Spark that says why: the first one, or what stands below the traceback of a worker.

    Where a worker lacks a package, a sentence says what helps.
    """
    lines = text.splitlines()
    traceback = next((place for place, line in enumerate(lines) if line.startswith(TRACEBACK)), None)
    if traceback is None:
        return lines[0][:MOST_TOLD]
    told = [line for line in lines[traceback + 1 :] if line and not line[0].isspace()]
    reason = (told or lines)[0][:MOST_TOLD]
    if reason.startswith(ModuleNotFoundError.__name__):
        return f"{reason}, for the Python of the machines that do the work. {PYTHON_OF_WORKERS}"
    return reason


def _on_cluster(recipe: Recipe, path: Path, algorithm: Rothko, output: Path, settings: RunSettings) -> LargeRun:
    """The run of a recipe in the session of Spark that the settings name."""
    from pyspark.sql import SparkSession

    from anoncore.engines.spark_run import anonymize_on_spark, open_on_spark

    source = recipe.source
    session = _spark_session(SparkSession.builder.appName("anoncore"), settings.cluster)
    if settings.workspace is not None:
        settings.workspace.mkdir(parents=True, exist_ok=True)
    check_output(output, path)
    with tempfile.TemporaryDirectory(dir=settings.workspace) as folder:
        frame = open_on_spark(session, path, Path(folder), source.encoding, source.rules)
        here = replace(settings, workspace=Path(folder))
        return anonymize_on_spark(frame, tags_of(recipe), algorithm, output, here)


def _spark_session(builder: Any, cluster: Cluster) -> Any:
    """The session of a cluster. Raises RecipeError for a master that is none."""
    if cluster.master is not None:
        if cluster.master.startswith(CONNECT):
            return _connect_session(builder, cluster.master, cluster)
        if not cluster.master.startswith(MASTERS):
            beginnings = listing([*MASTERS, CONNECT], 10)
            raise RecipeError(f"'{cluster.shown_master}' is no master of Spark; it begins with {beginnings}.")
        builder = builder.master(cluster.master)
    for name, value in cluster.options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # A session of Spark Connect, which the environment may name, has no context here.
    context = getattr(session, "sparkContext", None)
    if context is not None and context.master.startswith(LOCAL) and PYTHON not in os.environ:
        # Spark would take the first `python3` that it finds, which lacks anoncore unless its environment is activated.
        context.pythonExec = sys.executable
    return session


def _connect_session(builder: Any, address: str, cluster: Cluster) -> Any:
    """A session at a server of Spark Connect, with the options that a session may set.

    Raises RecipeError where no server answers, where a package is missing, and for an option that only the start of the
    server can set: Spark itself would pass over it without a word. No sentence has a parameter of the address, which
    may be a token.
    """
    _check_parameters(address, cluster.shown_master)
    try:
        parts = urlsplit(address)
        host, port = None if ";" in parts.netloc else parts.hostname, parts.port or CONNECT_PORT
    except ValueError:
        host, port = None, CONNECT_PORT
    if host is None:
        wanted = (
            f"write sc://host:{CONNECT_PORT}, and parameters behind it as in sc://host:{CONNECT_PORT}/;use_ssl=true"
        )
        raise RecipeError(f"'{cluster.shown_master}' names no server of Spark Connect; {wanted}.")
    try:
        socket.create_connection((host, port), ANSWER).close()
    except (OSError, UnicodeError) as error:
        reason = ((isinstance(error, OSError) and error.strerror) or str(error)).lower()
        raise RecipeError(f"No server of Spark Connect answers at {host}:{port} ({reason}); start it first.") from None
    try:
        session = builder.remote(address).getOrCreate()
    except ImportError as error:
        needed = cluster.without_secrets(str(error)).splitlines()[0]
        raise RecipeError(
            f"Spark Connect needs more packages; install them with: pip install 'anoncore[spark-connect]' ({needed})"
        ) from None
    for name, value in cluster.options.items():
        if not session.conf.isModifiable(name):
            setting = f"--conf {name}" if is_secret(name) else f"--conf {name}={value}"
            raise RecipeError(
                f"--spark-option {name}: a session of Spark Connect cannot set it; leave it out here, and start the "
                f"server with {setting}."
            )
        session.conf.set(name, value)
    return session


def _check_parameters(address: str, shown: str) -> None:
    """Raise RecipeError for a parameter of an address that Spark or what it speaks with would refuse by its value."""
    for place, parameter in enumerate(parameters_of(address), 1):
        name, is_set, value = parameter.partition("=")
        if not is_set or "=" in value:
            raise RecipeError(
                f"Parameter {place} of the address '{shown}' is not written name=value; write = in a "
                "value as %3D, and ; as %3B."
            )
        if not PARAMETER.fullmatch(name) or not (unquote(value).isascii() and unquote(value).isprintable()):
            raise RecipeError(
                f"Parameter {place} of the address '{shown}' cannot be sent to a server; its name has "
                "small letters, digits, - _ and . alone, and its value printable letters of ASCII."
            )


def on_disk(recipe: Recipe) -> Rothko:
    """The algorithm that a run on disk uses for a recipe.

    Raises RecipeError where there is none, and where people are to be counted.
    """
    algorithm = recipe.algorithm
    if recipe.dates or recipe.pseudonyms:
        raise RecipeError(
            "Only the engine memory shifts dates and makes pseudonyms, as both need all rows of a person. Force the "
            "engine memory, or take [dates] and [pseudonyms] out of the recipe."
        )
    if recipe.unit is not None:
        raise RecipeError(
            "Only the engine memory counts people: disk and Spark read a table piece by piece and count rows, so they "
            f"cannot keep a promise about the people of '{recipe.unit}'. Force the engine memory, or write a table "
            "with one row per person."
        )
    if isinstance(algorithm, Rothko):
        return algorithm
    if isinstance(algorithm, Mondrian) and algorithm.strict and not algorithm.refine and unsuited(algorithm) is None:
        fields = {name: getattr(algorithm, name) for name in type(algorithm).model_fields}
        return RothkoTree(**fields)
    advice = " (or set strict = true and refine = false)" if isinstance(algorithm, Mondrian) else ""
    raise RecipeError(
        f"{algorithm.title} needs the whole table in memory; use the algorithm rothko-sampling or rothko-tree{advice}, "
        "or force the engine memory."
    )


def tags_of(recipe: Recipe) -> Tags:
    """The tags of a recipe, for a table that is read piece by piece."""
    folder = recipe.folder or Path()
    return Tags(
        roles={name: Role(role) for name, role in recipe.roles.items()},
        kinds={name: Kind(kind) for name, kind in recipe.kinds.items()},
        orders={name: [table_value(value) for value in values] for name, values in recipe.orders.items()},
        hierarchies={name: _maker(spec, folder) for name, spec in recipe.hierarchies.items()},
        sensitive_values={
            name: [table_value(value) for value in values] for name, values in recipe.sensitive_values.items()
        },
        check_columns=recipe.require_decisions,
    )


def _maker(spec: HierarchySpec, folder: Path) -> Callable[[pd.Series[Any]], Hierarchy]:
    return lambda column: spec.build(column, folder)


def _open(path: Path, source: Source, workspace: Path) -> LargeTable:
    return LargeTable(
        path,
        workspace,
        source.table,
        source.encoding,
        source.missing,
        decimal=source.decimal,
        dates=source.dates,
    )

"""A session of Spark for all tests of it: to start one takes longer than most of them."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Java's second compiler pays off after minutes; tests of seconds take twice as long with it.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """Spark in its local mode with two workers."""
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed; the extra 'spark' brings it")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = pyspark.SparkSession.builder.master("local[2]").appName("anoncore-tests")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()

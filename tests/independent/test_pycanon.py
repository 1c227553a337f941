"""Levels beside pycanon 1.3.5 where it can be trusted: fresh index, nothing missing, several sensitive values.

It pins older numpy and pandas, so that it usually stands in the environment that tests/benchmarks/peers.py makes; it
gets all tables in one process. Left out is what it gets wrong: entropy and recursive diversity, labels, missing values.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.privacy import profile
from tests.benchmarks.peers import peer_folder, python_of
from tests.privacy.releases import generalized

N_TABLES = 100
SCRIPT = """
import json, sys
import pandas as pd
from pycanon import anonymity
found = []
for table in json.load(sys.stdin):
    frame = pd.DataFrame(table)
    known = [name for name in frame if name != "secret"]
    found.append([
        anonymity.k_anonymity(frame, known),
        anonymity.l_diversity(frame, known, ["secret"]),
        anonymity.alpha_k_anonymity(frame, known, ["secret"])[0],
        anonymity.t_closeness(frame, known, ["secret"]),
    ])
print(json.dumps([[float(level) for level in levels] for levels in found]))
"""


def python_with_pycanon() -> Path:
    if find_spec("pycanon") is not None:
        return Path(sys.executable)
    python = python_of(peer_folder())
    if not python.exists():
        pytest.skip("pycanon is not installed; python -m tests.benchmarks.peers makes an environment that has it")
    return python


def random_table(seed: int) -> dict[str, list[object]]:
    random = Random(seed)
    n = random.choice([2, 5, 20, 60])
    text = seed % 2 == 0
    secrets: list[object] = ["flu", "\u6d41\u611f", "gout, old", "ulcer"] if text else [0, 3, 4, 10**9]
    table: dict[str, list[object]] = {
        "town": [random.choice(["K\u00f6ln", "Ulm", "\u6771\u4eac"]) for _ in range(n)],
        "age": [random.randint(20, 20 + random.choice([0, 1, 60])) for _ in range(n)],
        "secret": [random.choice(secrets) for _ in range(n)],
    }
    table["secret"][:2] = secrets[:2]
    return table


def own_levels(table: dict[str, list[object]]) -> list[float]:
    frame = pd.DataFrame(table)
    known = ["town", "age"]
    data = Microdata(frame, roles={**dict.fromkeys(known, "quasi-identifier"), "secret": "sensitive"})
    found = profile(generalized(data, frame.groupby(known).ngroup().tolist()))
    distance = "t-ordered" if data.domain["secret"].kind == "numeric" else "t-equal"
    return [float(found.score(name)) for name in ("k", "distinct-l", "max-share", distance)]


def test_k_l_alpha_and_t_are_those_of_pycanon():
    python = python_with_pycanon()
    tables = [random_table(seed) for seed in range(N_TABLES)]
    done = subprocess.run(
        [str(python), "-c", SCRIPT], input=json.dumps(tables), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-500:]
    theirs = json.loads(done.stdout.strip().splitlines()[-1])
    ours = [own_levels(table) for table in tables]
    assert len(theirs) == N_TABLES
    np.testing.assert_allclose(ours, theirs, atol=1e-9)

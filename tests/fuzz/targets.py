"""Every target of the fuzzer by name, and its share of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.fuzz import certificates, files, parameters, recipes, releases, sameness
from tests.fuzz.case import Target

TARGETS: Mapping[str, Target] = {
    "csv": files.delimited,
    "parquet": files.parquet,
    "excel": files.excel,
    "recipe": recipes.recipe,
    "hierarchy": recipes.hierarchy,
    "parameters": parameters.parameters,
    "certificate": certificates.certificate,
    "release": releases.release,
    "sameness": sameness.sameness,
}
WEIGHTS = {"csv": 25, "parquet": 15, "excel": 5, "recipe": 15, "hierarchy": 15, "parameters": 16, "certificate": 5}
"""Parts of all inputs; a release, which takes the longest, has the rest."""
REST = 4


def shares(names: Sequence[str], inputs: int) -> dict[str, int]:
    """So many inputs, divided by weight; every target gets one at least."""
    weights = {name: WEIGHTS.get(name, REST) for name in names}
    counts = {name: max(1, inputs * weight // sum(weights.values())) for name, weight in weights.items()}
    counts[names[0]] += max(0, inputs - sum(counts.values()))
    return counts

"""Patients and their visits, with the recipe that publishes both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

RECIPE = """
format = 2
person = "patient"

[tables.patients]
source = {path = "patients.csv"}
roles = {age = "quasi-identifier", sex = "quasi-identifier"}
algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 5}]}

[tables.visits]
source = {path = "visits.csv"}
roles = {year = "quasi-identifier", diagnosis = "sensitive"}
algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 5}]}
"""
LINKED = "[pseudonyms]\npatient = {}\n"


def write_tables(folder: Path, telling: bool = False) -> None:
    """Forty patients of four ages; half of each two ages came in 2015, in any year where visits are telling."""
    n = 40
    patients = pd.DataFrame({"patient": np.arange(n) * 7 % n + 1000, "age": np.arange(n) // 10 * 10 + 20, "sex": "f"})
    years = np.arange(n) % 5 + 2011 if telling else np.arange(n) // 20 + 2015
    visits = patients[["patient"]].assign(year=years, diagnosis=["flu", "cold", "gout", "HIV"] * 10)
    patients.to_csv(folder / "patients.csv", index=False)
    visits.sample(frac=1, random_state=1).to_csv(folder / "visits.csv", index=False)


def write_recipe(folder: Path, telling: bool = False, linked: bool = True, more: str = "") -> Path:
    """The recipe beside its tables."""
    write_tables(folder, telling)
    path = folder / "hospital.toml"
    path.write_text(RECIPE + (LINKED if linked else "") + more, encoding="utf-8")
    return path

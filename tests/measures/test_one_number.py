"""One question has one number: board, Search, command line, report and attack, on samples of Adult."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Recipe, attacks
from anoncore.algorithms import Algorithm, Anatomy, Mondrian, Slicing, StackAndDeal
from anoncore.cli import main
from anoncore.publishing.report import Subject
from anoncore.requirements import KAnonymity
from anoncore.search.keeping import possible_instead
from anoncore.search.sweeping import measure
from dashboard.board import facts
from tests.shared_data import require

KNOWN = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
METHODS: dict[str, Algorithm] = {
    "Anatomy": Anatomy(l=3, seed=1),
    "Slicing": Slicing(l=2),
    "Mondrian": Mondrian(requirements=(KAnonymity(k=5),)),
    "Stack & Deal": StackAndDeal(k=10, seed=1),
}
EXCESS = "foreground-excess"


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_face_gives_one_number_beside_its_control(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(require("adult.csv"))[[*KNOWN, "occupation"]]
    frame = frame.sample(500, random_state=0)
    path = tmp_path / "people.parquet"
    frame.reset_index(drop=True).to_parquet(path)
    data = Microdata(pd.read_parquet(path), dict.fromkeys(KNOWN, "quasi-identifier") | {"occupation": "sensitive"})
    # Slicing takes the columns with which small tables can keep its l.
    algorithm = possible_instead(METHODS[method], data) or METHODS[method]
    release = algorithm.anonymize(data)
    found = attacks.foreground_knowledge(release, "occupation", r=2)
    board = facts.given_away(release, "occupation", 2, lambda share, text: None)
    assert (board["value"], board["control"], board["excess"]) == (found.recall, found.control, found.excess)
    assert (board["excess_low"], board["excess_high"]) == found.excess_interval
    assert measure(data, algorithm, [EXCESS]).values[EXCESS] == pytest.approx(float(found.excess))
    assert Subject("One", release).numbers("occupation")[EXCESS] == pytest.approx(float(found.excess))
    recipe = tmp_path / "recipe.toml"
    Recipe.of(str(path), data, algorithm).save(recipe, with_seed=True)
    attack = 'attacks.foreground_knowledge(attribute = "occupation")'
    main(["evaluate", str(recipe), "--json", "--measure", EXCESS, "--measure", attack])
    (told,) = json.loads(capsys.readouterr().out).values()
    assert told[EXCESS] == pytest.approx(float(found.excess))
    (attacked,) = (one for name, one in told.items() if name != EXCESS)
    assert [attacked[name] for name in ("recall", "control")] == pytest.approx([found.recall, found.control])
    assert np.isfinite([found.recall, found.control, found.excess]).all()

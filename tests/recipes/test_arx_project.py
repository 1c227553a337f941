"""Projects of ARX read as recipes.

The projects are made here by the format that ARX writes (WorkerSave, Vocabulary_V2 and the models' toString in its
sources): a ZIP archive with metadata.xml, project.xml, config.xml and definition.xml for input and output, hierarchies
as CSV with the separator of project.xml, and the tables under data/. The Java objects beside them, which ARX writes
too, are there as bytes that nothing may read.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pandas as pd
import pytest

from anoncore import DataError, Recipe, Release, privacy
from anoncore.cli import main
from anoncore.recipes.arx_project import read_arx_project
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)

PEOPLE = pd.DataFrame(
    {
        "name": [f"P{row}" for row in range(12)],
        "age": [21, 22, 23, 24, 35, 36, 37, 38, 51, 52, 53, 80],
        "town, part": ["Ulm", "Bonn"] * 6,
        "disease": ["flu", "cold", "gout"] * 4,
    }
)
TYPES = {
    "name": ("IDENTIFYING_ATTRIBUTE", "String"),
    "age": ("QUASI_IDENTIFYING_ATTRIBUTE", "Integer"),
    "town, part": ("QUASI_IDENTIFYING_ATTRIBUTE", "String"),
    "disease": ("SENSITIVE_ATTRIBUTE", "String"),
}
AGES = [[str(age), f"{age // 20 * 20}-{age // 20 * 20 + 19}", "*"] for age in PEOPLE["age"]]
TOWNS = [["Bonn", "*"], ["Ulm", "*"]]
HIERARCHIES = {"age": AGES, "town, part": TOWNS}


def element(name, value):
    return f"<{name}>{escape(str(value))}</{name}>"


def deid(path: Path, **changed) -> Path:
    """A project with k = 3 and at most 10% suppressed; `changed` replaces what is said there, or an entry's content."""
    said = {
        "criteria": ["3-anonymity"],
        "suppression": "0.1",
        "metric": "Loss (0.0)",
        "separator": ";",
        "hierarchies": HIERARCHIES,
        "limits": {},
        "extra": {},
        "types": TYPES,
        "weights": {"age": 0.5, "town, part": 0.5},
        "suppressed": ["QUASI_IDENTIFYING_ATTRIBUTE"],
        "entries": {},
    } | changed
    columns = "".join(
        "<assigment>"
        + element("name", name)
        + element("type", kind)
        + element("datatype", datatype)
        + (
            element("ref", f"hierarchies/{name}.csv")
            + "".join(map(element, ("min", "max"), said["limits"].get(name, ("All", "All"))))
            if name in said["hierarchies"] and kind.startswith("QUASI")
            else ""
        )
        + said["extra"].get(name, "")
        + "</assigment>"
        for name, (kind, datatype) in said["types"].items()
    )
    weights = "".join(
        f"<attributeWeight>{element('attribute', name)}{element('weight', weight)}</attributeWeight>"
        for name, weight in said["weights"].items()
    )
    config = (
        "<config>"
        + element("suppressTuplesInNonAnonymousOutput", "true")
        + f"<suppressedAttributeTypes>{''.join(element('type', one) for one in said['suppressed'])}"
        + "</suppressedAttributeTypes>"
        + element("practicalMonotonicity", "false")
        + element("relativeMaxOutliers", said["suppression"])
        + element("metric", said["metric"])
        + f"<attributeWeights>{weights}</attributeWeights>"
        + f"<criteria>{''.join(element('criterion', one) for one in said['criteria'])}</criteria></config>"
    )
    separator = said["separator"]
    entries = {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.dat": b"\xac\xed a Java object",
        "project.xml": f"<project>{element('name', 'study')}{element('separator', separator)}</project>",
        "data/input.csv": PEOPLE.to_csv(index=False, sep=separator),
        "data/output.csv": PEOPLE.assign(name="*", age="*").to_csv(index=False, sep=separator),
    }
    for part in ("input/", "output/"):
        entries |= {
            f"{part}config.dat": b"\xac\xed a Java object",
            f"{part}config.xml": config,
            f"{part}definition.xml": f"<definition>{columns}</definition>",
        }
        for name, lines in said["hierarchies"].items():
            entries[f"{part}hierarchies/{name}.csv"] = "".join(f"{separator.join(line)}\n" for line in lines)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (entries | said["entries"]).items():
            if content is not None:
                archive.writestr(name, content)
    return path


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_a_project_becomes_a_recipe_that_runs(tmp_path, monkeypatch, capsys, separator):
    monkeypatch.chdir(tmp_path)
    project = deid(Path("study.deid"), separator=separator)
    if separator == ",":
        quoted = "\n".join(f'"{a}",{b}' for a, b in TOWNS)
        project = deid(Path("study.deid"), separator=",", entries={"output/hierarchies/town, part.csv": f"{quoted}\n"})
    assert main(["init", "study.deid"]) == 0
    assert "What ARX published: study-arx/published.csv" in capsys.readouterr().out
    recipe = Recipe.load("study.toml")
    assert recipe.algorithm.requirements == (KAnonymity(k=3),)
    assert recipe.algorithm.max_suppression == 0.1
    assert recipe.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "town, part": "quasi-identifier",
        "disease": "sensitive",
    }
    assert recipe.kinds == {"age": "numeric", "town, part": "nominal", "disease": "nominal"}
    run = recipe.run()
    assert privacy.profile(run.release).k >= 3
    assert run.data.hierarchies["age"].height == 2
    pd.testing.assert_frame_equal(run.data.frame, PEOPLE, check_dtype=False)
    assert project.exists()


def test_what_arx_published_is_judged_beside_the_original(tmp_path):
    project = read_arx_project(deid(tmp_path / "study.deid"), str(tmp_path / "arx"))
    for name, content in project.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    published = pd.read_csv(project.published, sep=";").drop(columns="name")
    release = Release.from_published(published, original=project.recipe.microdata())
    assert privacy.profile(release).k == 6


@pytest.mark.parametrize(
    ("written", "requirement"),
    [
        ("7-anonymity", KAnonymity(k=7)),
        ("distinct-3-diversity for attribute 'disease'", DistinctDiversity(l=3, attribute="disease")),
        ("entropy-1.5-diversity for attribute 'disease'", EntropyDiversity(l=1.5, attribute="disease")),
        ("shannon-entropy-2.0-diversity for attribute 'disease'", EntropyDiversity(l=2.0, attribute="disease")),
        ("recursive-(3.0,2)-diversity for attribute 'disease'", RecursiveDiversity(c=3.0, l=2, attribute="disease")),
        (
            "0.2-closeness with equal distance for attribute 'disease'",
            TCloseness(t=0.2, ground="equal", attribute="disease"),
        ),
        (
            "1.0E-1-closeness with ordered distance for attribute 'disease'",
            TCloseness(t=0.1, ground="ordered", attribute="disease"),
        ),
    ],
)
def test_models_become_the_requirements_of_the_same_definition(tmp_path, written, requirement):
    project = read_arx_project(deid(tmp_path / "study.deid", criteria=["2-anonymity", written]))
    assert project.recipe.algorithm.requirements == (KAnonymity(k=2), requirement)


def test_the_hierarchical_distance_brings_the_hierarchy_of_the_secret(tmp_path):
    written = ["0.3-closeness with hierarchical distance for attribute 'disease'"]
    diseases = [["flu", "airways", "*"], ["cold", "airways", "*"], ["gout", "joints", "*"]]
    with pytest.raises(DataError, match="lacks the hierarchy of 'disease'"):
        read_arx_project(deid(tmp_path / "study.deid", criteria=written))
    hierarchies = HIERARCHIES | {"disease": diseases}
    project = read_arx_project(deid(tmp_path / "study.deid", criteria=written, hierarchies=hierarchies))
    assert project.recipe.algorithm.requirements == (TCloseness(t=0.3, ground="hierarchical", attribute="disease"),)
    assert set(project.recipe.hierarchies) == {"age", "town, part", "disease"}


def test_the_settings_of_the_published_table_count_and_without_one_those_of_the_input(tmp_path):
    other = (
        "<config><relativeMaxOutliers>0</relativeMaxOutliers><criteria><criterion>9-anonymity</criterion></criteria>"
    )
    other += "</config>"
    both = read_arx_project(deid(tmp_path / "both.deid", entries={"input/config.xml": other}))
    assert both.recipe.algorithm.requirements == (KAnonymity(k=3),)
    gone = dict.fromkeys(["output/config.xml", "output/definition.xml", "data/output.csv"])
    alone = read_arx_project(deid(tmp_path / "alone.deid", entries={"input/config.xml": other} | gone))
    assert (alone.recipe.algorithm.requirements, alone.published) == ((KAnonymity(k=9),), None)


def test_what_is_not_carried_over_is_said(tmp_path):
    project = read_arx_project(
        deid(
            tmp_path / "study.deid",
            suppression="1.0",
            weights={"age": 0.9, "town, part": 0.5},
            suppressed=["QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"],
            hierarchies={"age": AGES},
            types=TYPES | {"disease": ("SENSITIVE_ATTRIBUTE", "Ordinal")},
        )
    )
    assert 0.99 < project.recipe.algorithm.max_suppression < 1
    assert project.notes == (
        "'town, part' has no hierarchy in the project; it is kept exact or suppressed.",
        "ARX chose among the releases that keep the promise by 'Loss (0.0)'; optimal recoding takes the one with the "
        "least information loss.",
        "The weights of 'age' are not carried over; all attributes count alike here.",
        "ARX also suppressed attributes that nobody knows; here they stay as they are.",
        "The order of the values of 'disease' is not in the XML; say it under [orders].",
    )


AVERAGED = {"age": element("microAggregationFunction", "Arithmetic mean")}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"criteria": ["3-anonymity", "(0.1,0.2)-presence"]}, r"asks for '\(0.1,0.2\)-presence', which is no requir"),
        (
            {"criteria": ["(e=1.0,d=1.0E-6)-differential privacy"]},
            "differential privacy', which is no requirement here",
        ),
        ({"criteria": ["grassberger-entropy-2.0-diversity for attribute 'disease'"]}, "grassberger"),
        ({"criteria": []}, "asks for no privacy model"),
        ({"criteria": ["distinct-2-diversity for attribute 'age'"]}, "is about 'age', which is not sensitive there"),
        ({"limits": {"age": ("1", "All")}}, "may publish 'age' at the levels 1 to All of its 2 only"),
        ({"limits": {"age": ("All", "1")}}, "may publish 'age' at the levels All to 1 of its 2 only"),
        (
            {"extra": AVERAGED, "hierarchies": {"town, part": TOWNS}},
            "publishes the Arithmetic mean of each class for 'age'",
        ),
        ({"suppression": "much"}, "The suppression limit of .* is 'much', which is no number"),
        ({"suppression": "1.5"}, "is 1.5; it is a share from 0 to 1"),
        ({"types": TYPES | {"age": ("SECRET", "Integer")}}, "'age' has the type 'SECRET'"),
        ({"entries": {"metadata.xml": "<metadata><vocabulary>7.0</vocabulary></metadata>"}}, "vocabulary 7.0"),
        ({"entries": {"data/input.csv": None}}, "lacks data/input.csv; save the project"),
        ({"entries": {"output/config.xml": "<config>"}}, "output/config.xml of .* is no XML"),
        (
            {"entries": {"output/config.xml": '<!DOCTYPE a [<!ENTITY b "c">]><config>&b;</config>'}},
            "defines entities, which ARX does not write",
        ),
    ],
)
def test_what_a_recipe_cannot_say_is_refused_by_name(tmp_path, changed, sentence):
    with pytest.raises(DataError, match=sentence):
        read_arx_project(deid(tmp_path / "study.deid", **changed))


def test_other_files_are_no_projects(tmp_path):
    (tmp_path / "text.deid").write_text("no archive")
    with pytest.raises(DataError, match=r"'text\.deid' is no project of ARX: it is no ZIP archive"):
        read_arx_project(tmp_path / "text.deid")
    with zipfile.ZipFile(tmp_path / "zip.deid", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match=r"it lacks input/config\.xml"):
        read_arx_project(tmp_path / "zip.deid")
    with pytest.raises(DataError, match="cannot be read: no such file"):
        read_arx_project(tmp_path / "gone.deid")


def test_files_are_not_overwritten_and_stay_in_their_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "../../age"
    types = TYPES | {name: TYPES["age"]}
    deid(Path("study.deid"), types=types, hierarchies=HIERARCHIES | {name: AGES})
    assert main(["init", "study.deid"]) == 0
    assert sorted(path.name for path in Path("study-arx/hierarchies").iterdir()) == [
        "2-age.csv",
        "3-town-part.csv",
        "5-age.csv",
    ]
    assert main(["init", "study.deid"]) != 0
    assert "exists" in capsys.readouterr().err

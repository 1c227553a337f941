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
    BetaLikeness,
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
        ("enhanced-0.5-likeness for attribute 'disease'", BetaLikeness(beta=0.5, attribute="disease")),
        (
            "0.2-closeness with equal distance for attribute 'disease'",
            TCloseness(t=0.2, ground="equal", attribute="disease"),
        ),
        (
            "1.0E-1-closeness with ordered distance for attribute 'disease'",
            TCloseness(t=0.1, ground="ordered", attribute="disease"),
        ),
        (
            "0.2-closeness with equal ground-distance for attribute 'disease'",
            TCloseness(t=0.2, ground="equal", attribute="disease"),
        ),
    ],
)
def test_models_become_the_requirements_of_the_same_definition(tmp_path, written, requirement):
    project = read_arx_project(deid(tmp_path / "study.deid", criteria=["2-anonymity", written]))
    assert project.recipe.algorithm.requirements == (KAnonymity(k=2), requirement)


@pytest.mark.parametrize("distance", ["distance", "ground-distance"])
def test_the_hierarchical_distance_brings_the_hierarchy_of_the_secret(tmp_path, distance):
    written = [f"0.3-closeness with hierarchical {distance} for attribute 'disease'"]
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
        "The project names no order for the values of 'disease', which ARX then orders by the alphabet; say another "
        "one under [orders].",
    )


AVERAGED = {
    "age": element("microaggregationFunction", "Arithmetic mean") + element("microaggregationIgnoreMissingData", "true")
}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        # ARX writes the hierarchy beside the function wherever there is one.
        ({"extra": AVERAGED}, "publishes the Arithmetic mean of each group for 'age'"),
        ({"criteria": ["3-anonymity", "Inclusion"]}, "asks for 'Inclusion', which is no requirement here"),
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
            "publishes the Arithmetic mean of each group for 'age'",
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


GRADES = pd.DataFrame(
    {
        "id": [f"P{row}" for row in range(12)],
        "age": [21, 22, 23, 24, 35, 36, 37, 38, 51, 52, 53, 80],
        "town": ["Köln", "Ulm"] * 6,
        "grade": ["low", "mid", "high"] * 4,
        "stage": [3, 1, 2] * 4,
        "disease": ["flu", "cold", "gout"] * 4,
    }
)


class Xml:
    """XML as ARX writes it: an element a line, tabs in front, and nothing above the root."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open: list[str] = []

    def begin(self, name: str) -> None:
        self.lines.append("\t" * len(self.open) + f"<{name}>")
        self.open.append(name)

    def end(self) -> None:
        name = self.open.pop()
        self.lines.append("\t" * len(self.open) + f"</{name}>")

    def write(self, name: str, value: object) -> None:
        # Characters beyond ASCII, quotes and apostrophes become entities.
        text = escape(str(value), {"'": "&apos;", '"': "&quot;"}).encode("ascii", "xmlcharrefreplace").decode()
        self.lines.append("\t" * len(self.open) + f"<{name}>{text}</{name}>")

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


def settings(criteria: list[str]) -> str:
    xml = Xml()
    xml.begin("config")
    xml.write("suppressTuplesInNonAnonymousOutput", "true")
    xml.begin("suppressedAttributeTypes")
    xml.write("type", "QUASI_IDENTIFYING_ATTRIBUTE")
    xml.end()
    xml.write("practicalMonotonicity", "false")
    xml.write("relativeMaxOutliers", "0.05")
    xml.write("metric", "Loss (0.5) (Geometric mean)")
    xml.begin("attributeWeights")
    for name in ("age", "town"):
        xml.begin("attributeWeight")
        xml.write("attribute", name)
        xml.write("weight", 0.5)
        xml.end()
    xml.end()
    xml.begin("criteria")
    for one in criteria:
        xml.write("criterion", one)
    xml.end()
    xml.end()
    return str(xml)


def definition() -> str:
    """Types, data types with their formats and languages, and the response variable that a classifier predicts."""
    xml = Xml()
    xml.begin("definition")
    for name, kind, datatype, more in (
        ("id", "IDENTIFYING_ATTRIBUTE", "String", {}),
        ("age", "QUASI_IDENTIFYING_ATTRIBUTE", "Integer", {"ref": "hierarchies/age.csv"}),
        ("town", "QUASI_IDENTIFYING_ATTRIBUTE", "String", {"ref": "hierarchies/town.csv"}),
        ("grade", "QUASI_IDENTIFYING_ATTRIBUTE", "Ordinal", {"format": "low\nmid\nhigh", "locale": "DE"}),
        ("stage", "INSENSITIVE_ATTRIBUTE", "Ordinal", {"format": "3\n2\n1", "locale": "DE"}),
        ("disease", "SENSITIVE_ATTRIBUTE", "String", {"response": "true"}),
    ):
        xml.begin("assigment")
        xml.write("name", name)
        xml.write("type", kind)
        xml.write("datatype", datatype)
        if "QUASI" in kind:
            more = {"ref": f"hierarchies/{name}.csv"} | more | {"min": "All", "max": "All"}
        for one in ("format", "locale", "response", "ref", "min", "max"):
            if one in more:
                xml.write(one, more[one])
        xml.end()
    xml.end()
    return str(xml)


def project_settings() -> str:
    xml = Xml()
    xml.begin("project")
    for name, value in (
        ("name", "Study"),
        ("separator", ";"),
        ("escape", '"'),
        ("quote", '"'),
        ("linebreak", "UNIX"),
        ("description", "Patients of Köln"),
        ("locale", "DE"),
        ("historySize", 200),
        ("snapshotSizeDataset", 0.2),
        ("snapshotSizeSnapshot", 0.8),
        ("initialNodesInViewer", 100),
        ("maxNodesInViewer", 700),
        ("selectedAttribute", "age"),
        ("inputBytes", 337),
    ):
        xml.write(name, value)
    xml.end()
    return str(xml)


def as_written(path: Path, criteria: list[str]) -> Path:
    """A project with every entry that a current version of ARX writes, in its order, on a machine with Windows.

    The table is UTF-8, hierarchies are in the encoding of the machine, and what was published is a Java object.
    """
    java = b"\xac\xed\x00\x05 a Java object"
    metadata = "<metadata>\n\t<version>3.0.9</version>\n\t<vocabulary>2.0</vocabulary>\n</metadata>\n"
    lattice = '<!-- ARX XML Vocabulary Version 2.0 -->\n<lattice><level depth="0"></level></lattice>'
    ages = "".join(f"{age};{age // 20 * 20}-{age // 20 * 20 + 19};*\n" for age in GRADES["age"])
    hierarchies = {"age": ages, "town": "Köln;*\nUlm;*\n", "grade": "low\nmid\nhigh\n"}
    entries: dict[str, str | bytes] = {
        "metadata.xml": metadata,
        "project.dat": java,
        "project.xml": project_settings(),
        "data/input.csv": GRADES.to_csv(index=False, sep=";", lineterminator="\n").encode("utf-8"),
        "data/output.dat": java,
    }
    for part in ("input/", "output/"):
        entries |= {f"{part}config.dat": java, f"{part}config.xml": settings(criteria)}
        entries[f"{part}definition.xml"] = definition()
        entries |= {f"{part}hierarchies/{name}.csv": text.encode("cp1252") for name, text in hierarchies.items()}
    entries |= {"lattice.xml": lattice, "lattice.dat": java, "infoloss.dat": java, "attributes.dat": java}
    entries |= {"clipboard.xml": "<clipboard>\n\t<node>[1, 1, 0]</node>\n</clipboard>\n", "filter.dat": java}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_a_project_with_everything_that_arx_writes_becomes_a_recipe_that_runs(tmp_path, monkeypatch, capsys):
    criteria = [
        "2-anonymity",
        "distinct-2-diversity for attribute 'disease'",
        "shannon-entropy-1.5-diversity for attribute 'disease'",
        "recursive-(4.0,2)-diversity for attribute 'disease'",
        "0.5-closeness with equal ground-distance for attribute 'disease'",
    ]
    monkeypatch.chdir(tmp_path)
    as_written(Path("study.deid"), criteria)
    assert main(["init", "study.deid"]) == 0
    printed = capsys.readouterr()
    assert "What ARX published" not in printed.out
    said = " ".join(printed.err.split())
    assert "lies in the project as a Java object, which is not read; export it from ARX as CSV" in said
    assert "output/hierarchies/town.csv is not in UTF-8; it is read as Windows-1252" in said
    assert "'grade' has no hierarchy in the project; it is kept exact or suppressed" in said
    assert "names no order" not in said
    recipe = Recipe.load("study.toml")
    assert recipe.algorithm.requirements == (
        KAnonymity(k=2),
        DistinctDiversity(l=2, attribute="disease"),
        EntropyDiversity(l=1.5, attribute="disease"),
        RecursiveDiversity(c=4.0, l=2, attribute="disease"),
        TCloseness(t=0.5, ground="equal", attribute="disease"),
    )
    assert recipe.algorithm.max_suppression == 0.05
    assert set(recipe.hierarchies) == {"age", "town"}
    data = recipe.microdata()
    pd.testing.assert_frame_equal(data.frame, GRADES, check_dtype=False)
    assert list(data.domain["grade"].values) == ["low", "mid", "high"]
    assert list(data.domain["stage"].values) == [3, 2, 1]
    release = recipe.run().release
    assert privacy.check(release, recipe.algorithm.requirements) == ()


def test_numbers_with_a_format_of_their_own_are_named(tmp_path):
    formats = {"age": element("format", "#,##0")}
    project = read_arx_project(deid(tmp_path / "study.deid", extra=formats))
    assert "ARX reads the numbers of 'age' (#,##0) by a format of their own" in " ".join(project.notes)


@pytest.mark.parametrize("order", ["", "Default"])
def test_an_ordinal_attribute_without_an_order_of_its_own_says_so(tmp_path, order):
    types = TYPES | {"disease": ("SENSITIVE_ATTRIBUTE", "Ordinal")}
    formats = {"disease": element("format", order)}
    project = read_arx_project(deid(tmp_path / "study.deid", types=types, extra=formats))
    assert project.recipe.orders == {}
    assert "names no order for the values of 'disease'" in " ".join(project.notes)


def test_a_hierarchy_in_no_known_encoding_is_refused(tmp_path):
    entries = {"output/hierarchies/town, part.csv": b"Bonn;*\nU\x81lm;*\n"}
    with pytest.raises(DataError, match=r"town, part\.csv of .* cannot be read as CSV"):
        read_arx_project(deid(tmp_path / "study.deid", entries=entries))

"""Public data: the files on this machine, OpenML's form brought to the same shape, and clear refusals."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from anoncore.base.errors import DataError
from anoncore.datasets import table
from anoncore.datasets.adult import load_adult
from anoncore.datasets.catalog import taxonomy_values
from anoncore.datasets.measurements import load_heart, load_musk
from anoncore.datasets.public import data_folder
from tests.shared_data import require

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class"),
)
HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"),
    "target",
)
MUSK_FEATURES = tuple(f"f{number}" for number in range(1, 167))
MUSK_COLUMNS = ("molecule_name", "conformation_name", *MUSK_FEATURES, "class")
DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def local(monkeypatch) -> None:
    monkeypatch.delenv("ANONCORE_DATA", raising=False)
    require("adult.csv")


@pytest.fixture
def empty_folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("ANONCORE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def openml(monkeypatch, empty_folder) -> Callable[[dict[str, pd.DataFrame]], list[tuple[str, int]]]:
    """Replaces the download by given tables; returns the list of what was asked for."""

    def install(frames: dict[str, pd.DataFrame]) -> list[tuple[str, int]]:
        asked: list[tuple[str, int]] = []

        def fetch_openml(name, *, version, as_frame, **options):
            assert as_frame is True
            assert options.get("cache", True)
            asked.append((name, version))
            return Bunch(frame=frames[name], details={"name": name, "version": str(version)})

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        return asked

    return install


@pytest.fixture
def offline(monkeypatch, empty_folder) -> None:
    def fetch_openml(*args, **options):
        raise URLError("[Errno -2] Name or service not known")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)


def openml_adult() -> pd.DataFrame:
    """Six records as OpenML has them: categories, missing values, `class`, floats."""
    frame = pd.DataFrame(
        [
            (25.0, "Private", 226802.0, "11th", 7.0, "Never-married", "Machine-op-inspct", "Own-child", "Black"),
            (38.0, "Private", 89814.0, "HS-grad", 9.0, "Married-civ-spouse", "Farming-fishing", "Husband", "White"),
            (18.0, None, 103497.0, "Some-college", 10.0, "Never-married", None, "Own-child", "White"),
            (44.0, " Private", 160323.0, "Some-college", 10.0, "Married-civ-spouse", "Sales", "Husband", "Black"),
            (29.0, "?", 227026.0, "HS-grad", 9.0, "Never-married", "?", "Unmarried", "Black"),
            (63.0, "Self-emp-not-inc", 104626.0, "Prof-school", 15.0, "Divorced", "Prof-specialty", "Husband", "White"),
        ],
        columns=list(COLUMNS[:9]),
        index=[5, 3, 3, 8, 9, 11],
    )
    frame["sex"] = "Male"
    frame["capital-gain"] = [0.0, 0.0, 0.0, 7688.0, 0.0, 3103.0]
    frame["capital-loss"] = 0.0
    frame["hours-per-week"] = 40.0
    frame["native-country"] = "United-States"
    frame["class"] = ["<=50K", "<=50K", "<=50K", ">50K", "<=50K", ">50K."]
    texts = [column for column in frame.columns if frame[column].dtype != np.float64]
    return frame.astype(dict.fromkeys(texts, "category"))


def openml_musk(class_values: list[object], names: list[object]) -> pd.DataFrame:
    features = {feature: np.arange(len(names), dtype=float) - 3 for feature in MUSK_FEATURES}
    identifiers = {"ID": range(len(names)), "molecule_name": names, "conformation_name": names}
    return pd.DataFrame(identifiers | features | {"class": pd.Categorical(class_values)})


def test_adult_from_the_file(local):
    frame = load_adult()
    assert frame.shape == (45_222, 15)
    assert tuple(frame.columns) == COLUMNS
    assert not frame.isna().any().any()
    distinct = {
        "age": 74,
        "workclass": 7,
        "fnlwgt": 26_741,
        "education": 16,
        "education-num": 16,
        "marital-status": 7,
        "occupation": 14,
        "relationship": 6,
        "race": 5,
        "sex": 2,
        "capital-gain": 121,
        "capital-loss": 97,
        "hours-per-week": 96,
        "native-country": 41,
        "salary-class": 2,
    }
    assert frame.nunique().to_dict() == distinct
    assert frame["salary-class"].value_counts().to_dict() == {"<=50K": 34_014, ">50K": 11_208}
    primary = set(taxonomy_values({"x": table("adult").taxonomies["education"]["School"]["Primary school"]}))
    assert frame["education"].isin(primary).sum() == 1_566


def test_musk_from_the_file(local):
    frame = load_musk()
    assert frame.shape == (7_074, 169)
    assert tuple(frame.columns) == MUSK_COLUMNS
    assert frame["class"].head(476).value_counts().to_dict() == {"non-musk": 269, "musk": 207}
    assert frame["class"].iloc[476:].value_counts().to_dict() == {"non-musk": 5_581, "musk": 1_017}
    features = frame[list(MUSK_FEATURES)]
    assert (features.dtypes == np.int64).all()
    assert (features.min().min(), features.max().max()) == (-471, 625)
    assert frame["conformation_name"].nunique() == 6_699


def test_heart_from_the_file(local):
    frame = load_heart()
    assert frame.shape == (1_025, 14)
    assert len(frame.drop_duplicates()) == 302
    distinct = dict(zip(HEART_COLUMNS, (41, 2, 4, 49, 152, 2, 3, 91, 2, 40, 3, 5, 4, 2), strict=True))
    assert frame.nunique().to_dict() == distinct
    assert frame["target"].value_counts().to_dict() == {1: 526, 0: 499}


@pytest.mark.parametrize("name", ["adult", "heart", "musk"])
def test_public_tables_have_roles_and_taxonomies_for_exactly_their_values(name, local):
    entry = table(name)
    frame = entry.load()
    assert set(entry.roles) == set(frame.columns)
    for column, taxonomy in entry.taxonomies.items():
        assert set(taxonomy_values(taxonomy)) == set(frame[column]), column
    for column, order in entry.orders.items():
        assert set(order) == set(frame[column]), column


def test_the_order_of_education_is_that_of_its_years(local):
    years = load_adult().groupby("education")["education-num"].agg(["min", "max"])
    assert (years["min"] == years["max"]).all()
    assert years["min"].sort_values().index.tolist() == list(table("adult").orders["education"])


def test_roles_of_the_public_tables():
    adult = table("adult").roles
    assert [c for c in COLUMNS if adult[c] == "quasi-identifier"] == (
        ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    )
    assert [c for c in COLUMNS if adult[c] == "sensitive"] == ["salary-class"]
    musk = table("musk").roles
    assert [c for c in MUSK_COLUMNS if musk[c] == "identifier"] == ["molecule_name", "conformation_name"]
    assert sum(role == "quasi-identifier" for role in musk.values()) == 166
    assert musk["class"] == "sensitive"
    heart = table("heart").roles
    assert [c for c in HEART_COLUMNS if heart[c] == "sensitive"] == ["trestbps", "chol"]
    assert [c for c in HEART_COLUMNS if heart[c] == "insensitive"] == ["target"]


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ANONCORE_DATA", raising=False)
    assert data_folder() == DEFAULT_FOLDER
    monkeypatch.setenv("ANONCORE_DATA", str(tmp_path))
    assert data_folder() == tmp_path


def test_a_file_is_preferred_to_a_download_and_may_be_compressed(offline, empty_folder):
    heart = pd.DataFrame([range(14), range(1, 15)], columns=list(HEART_COLUMNS))
    heart.assign(extra=1)[["extra", *reversed(HEART_COLUMNS)]].to_csv(empty_folder / "heart.csv.gz", index=False)
    pd.testing.assert_frame_equal(load_heart(), heart)
    heart.head(1).to_csv(empty_folder / "heart.csv", index=False)
    assert len(load_heart()) == 1


def test_a_file_without_a_column_is_refused(empty_folder):
    pd.DataFrame({"age": [1], "sex": [0]}).to_csv(empty_folder / "heart.csv", index=False)
    with pytest.raises(DataError, match=r"heart\.csv in .* has no column 'cp'; its columns are age, sex"):
        load_heart()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00broken", b'age,"sex\n1,2'])
def test_a_file_that_is_no_csv_is_refused(empty_folder, content):
    (empty_folder / "heart.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"heart\.csv"):
        load_heart()


def test_a_broken_archive_is_refused(empty_folder):
    (empty_folder / "musk.csv.gz").write_bytes(b"\x1f\x8b\x08\x00 cut short")
    with pytest.raises(DataError, match=r"musk\.csv\.gz cannot be read"):
        load_musk()


def test_adult_from_openml_is_cleaned_like_the_file(openml):
    source = openml_adult()
    before = source.copy()
    asked = openml({"adult": source})
    frame = load_adult()
    assert asked == [("adult", 2)]
    assert tuple(frame.columns) == COLUMNS
    assert frame.index.tolist() == [0, 1, 2, 3], "the two records with missing values are left out"
    assert frame["age"].tolist() == [25, 38, 44, 63]
    assert frame["workclass"].tolist() == ["Private", "Private", "Private", "Self-emp-not-inc"]
    assert frame["salary-class"].tolist() == ["<=50K", "<=50K", ">50K", ">50K"]
    numbers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert (frame[numbers].dtypes == np.int64).all()
    assert all(pd.api.types.is_string_dtype(frame[c]) for c in COLUMNS if c not in numbers)
    pd.testing.assert_frame_equal(source, before)


def test_adult_from_openml_has_the_types_of_the_file(openml, empty_folder):
    openml({"adult": openml_adult()})
    downloaded = load_adult()
    downloaded.to_csv(empty_folder / "adult.csv", index=False)
    pd.testing.assert_frame_equal(load_adult(), downloaded)


def test_musk_from_openml_is_both_versions(openml):
    first = openml_musk(["1", "0"], ["MUSK-188", "NON-MUSK-199"])
    second = openml_musk([0.0, 1.0, 1.0], ["NON-MUSK-252", "MUSK-211", "MUSK-212"])
    asked = openml({"clean1": first, "musk": second})
    frame = load_musk()
    assert asked == [("clean1", 1), ("musk", 1)]
    assert tuple(frame.columns) == MUSK_COLUMNS
    assert frame["class"].tolist() == ["musk", "non-musk", "non-musk", "musk", "musk"]
    assert frame["molecule_name"].tolist() == [*first["molecule_name"], *second["molecule_name"]]
    assert frame["f166"].tolist() == [-3, -2, -3, -2, -1]
    assert (frame[list(MUSK_FEATURES)].dtypes == np.int64).all()


def test_heart_from_openml(openml):
    source = pd.DataFrame([[52.0, 1, 0, 125, 212, 0, 1, 168, 0, 1.5, 2, 2, 3, 0]], columns=list(HEART_COLUMNS))
    openml({"heart-disease": source.astype({"sex": "category", "target": "category"})})
    frame = load_heart()
    assert frame.iloc[0].tolist() == [52, 1, 0, 125, 212, 0, 1, 168, 0, 1.5, 2, 2, 3, 0]
    assert frame.dtypes.drop("oldpeak").unique().tolist() == [np.dtype("int64")]
    assert frame["oldpeak"].dtype == np.float64


@pytest.mark.parametrize(
    ("frames", "load", "message"),
    [
        ({"adult": openml_adult().drop(columns="class")}, load_adult, "data set adult has no column 'salary-class'"),
        ({"clean1": openml_musk(["maybe"], ["a"])}, load_musk, "clean1 has the unknown class 'maybe'"),
        ({"heart-disease": pd.DataFrame({"age": [1]})}, load_heart, "heart-disease has no column 'sex'"),
    ],
)
def test_a_download_of_another_form_is_refused(openml, frames, load, message):
    openml(frames)
    with pytest.raises(DataError, match=message):
        load()


@pytest.mark.parametrize(
    ("load", "title", "file_name"),
    [(load_adult, "Adult", "adult.csv"), (load_musk, "Musk", "musk.csv"), (load_heart, "Heart", "heart.csv")],
)
def test_offline_and_without_a_file_one_sentence_says_what_to_do(offline, load, title, file_name):
    with pytest.raises(DataError) as raised:
        load()
    message = str(raised.value)
    assert message.startswith(f"{title} is not on this machine and could not be downloaded: ")
    assert "Name or service not known" in message
    assert message.endswith(f"Put {file_name} into a folder and set ANONCORE_DATA to it.")


def test_without_a_network_the_real_download_ends_in_the_same_sentence(monkeypatch, empty_folder):
    def no_network(*args, **options):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(empty_folder / "cache"))
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    with pytest.raises(DataError, match=r"Adult is not on this machine.*Name or service not known.*set ANONCORE_DATA"):
        load_adult()

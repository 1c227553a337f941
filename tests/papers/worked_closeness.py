"""The worked examples of the dissertation on t-closeness, run through the library."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore import Hierarchy, privacy
from anoncore.algorithms import Anatomy, SensitiveSpaceFragmentation, StackAndDeal
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.datasets import published_groups, table
from anoncore.kernels.sensitive_space import ORDERED, Cells, find_fragmentation
from tests.papers import oracles
from tests.papers.findings import Statements, listed
from tests.papers.oracles import SAME
from tests.papers.tables import four_fragments
from tests.privacy.releases import builtin, generalized

SALARIES = [70_000, 75_000, 85_000, 55_000, 50_000, 65_000, 80_000, 60_000, 90_000, 95_000]
FREQUENCIES = [42, 39, 37, 31, 24, 20, 17, 16, 15, 9]
DEALT = [
    [9, 8, 7, 6, 5, 4, 3, 4, 3, 1],
    [9, 7, 8, 6, 5, 4, 3, 3, 3, 2],
    [8, 8, 8, 6, 5, 4, 3, 3, 3, 2],
    [8, 8, 7, 7, 4, 4, 4, 3, 3, 2],
    [8, 8, 7, 6, 5, 4, 4, 3, 3, 2],
]
PRINTED_EMD = [0.009778, 0.005778, 0.005338, 0.006664, 0.007995]
NEAR = 1e-9
ROUNDING = 0.00001
"""The text's distances are sums of rounded steps."""


def closeness(said: Statements) -> None:
    """Chapters 2 to 5."""
    said.oracle = "the printed tables and the class of every row"
    _patients(said)
    _anonymized(said)
    _salaries(said)
    _sensitive_space(said)
    _two_attributes(said)


def _patients(said: Statements) -> None:
    data = builtin("t-closeness-table-2.1")
    release = Anatomy(l=2, seed=0).anonymize(data)
    tables = release.tables()
    names = {column for frame in tables.values() for column in frame.columns}
    gone = set(data.frame.columns) - names
    text = "name and SSN identify people and are not published"
    said.add("table 2.1", text, {"name", "ssn"} <= {one.lower() for one in gone}, ", ".join(sorted(gone)), by_hand=True)
    shown = [frame for frame in tables.values() if "group" in frame.columns]
    (secret,) = (frame for frame in shown if "disease" in frame.columns)
    most = int(secret.value_counts(["group", "disease"]).max())
    number = secret["group"].nunique()
    for label, frame, what in zip(
        ("table 2.4", "table 2.5"), shown, ("exact quasi-identifiers", "sensitive values"), strict=True
    ):
        names_shown = [one for one in frame.columns if one != "group"]
        same = sorted(map(str, frame[names_shown].to_numpy().tolist())) == sorted(
            map(str, data.frame[names_shown].to_numpy().tolist())
        )
        said.add(
            label,
            f"Anatomy publishes {what} with a group ID, in groups in which every disease occurs once",
            [same, "group" in frame.columns, most == 1, number == data.n_rows // 2],
            f"{', '.join(frame.columns)}; {number} groups, a disease at most {most} times",
            least=SAME,
        )
    trees = {name: Hierarchy.from_nested(tree) for name, tree in table("t-closeness-table-2.6").taxonomies.items()}
    jobs = {one: trees["job"].path_of(one)[0] for one in ("Engineer", "Lawyer", "Dancer", "Writer")}
    said.add(
        "figure 2.3",
        "engineer and lawyer are professionals, dancer and writer artists",
        list(jobs.values()) == ["Professional"] * 2 + ["Artist"] * 2,
        ", ".join(f"{one}: {other}" for one, other in jobs.items()),
        least=SAME,
    )
    people, patients = (table(f"t-closeness-table-{number}").load() for number in ("2.6", "2.7"))
    linked = patients.merge(people, on=["job", "age", "sex"])
    unique = int((linked.groupby(["job", "age", "sex"]).size() == 1).sum())
    text = "people of the external table can be linked with patients by job, age and sex"
    detail = f"{len(linked)} patients have a match, {unique} of them one only"
    for label in ("table 2.6", "table 2.7"):
        said.add(label, text, len(linked) > 0, detail, by_hand=True)


def _anonymized(said: Statements) -> None:
    boxes = {}
    for number, after in (("2.8", "2.9"), ("2.10", "2.11")):
        data = builtin(f"t-closeness-table-{number}")
        release = boxes[after] = generalized(data, published_groups(data_name := f"t-closeness-table-{number}"))
        said.add(
            f"table {number}",
            "nine people can be published in three classes of three",
            release.partition.sizes.tolist() == [3, 3, 3],
            f"{data_name}: classes of {release.partition.sizes.tolist()}",
            by_hand=True,
        )
    for after, release in boxes.items():
        codes = list(dict.fromkeys(release.tables()["release"].iloc[:, 0]))
        said.add(
            f"table {after}",
            "zip codes 476**, 4790* and, once in the third class, 479**",
            [one in codes for one in ("476**", "4790*", "479**")],
            ", ".join(map(str, codes)),
            "a misprint: the zip code 47605 is in 476** like the others of its class",
            "the printed rows themselves",
            least=SAME,
        )
    shown = boxes["2.9"].tables()["release"]
    disease = next(name for name in shown.columns if name.lower() == "disease")
    classes = dict(list(shown.groupby(list(shown.columns[:2]), sort=False)[disease]))
    diseases = next(iter(classes.values())).tolist()
    said.add(
        "table 2.9",
        "in the first class everyone has heart disease (homogeneity), in another one not",
        diseases == ["Heart Disease"] * 3 and max(one.nunique() for one in classes.values()) > 1,
        f"{', '.join(map(str, diseases))}; other classes have up to "
        f"{max(one.nunique() for one in classes.values())} diseases",
        least=SAME,
    )
    shown = boxes["2.11"].tables()["release"]
    known = [name for name in shown.columns if name not in boxes["2.11"].data.sensitive]
    for name in boxes["2.11"].data.sensitive:
        values = shown.groupby(known)[name].agg(["size", "nunique"])
        said.add(
            "table 2.11",
            f"every class has three values of {name}",
            len(values) == 3 and (values == 3).all(axis=None),
            f"{len(values)} classes as published, with {values['nunique'].min()} to {values['nunique'].max()} values",
            least=SAME,
        )


def _salaries(said: Statements) -> None:
    data = builtin("t-closeness-salaries")
    counts = data.frame["salary"].value_counts().loc[SALARIES].to_numpy()
    stack = StackAndDeal(k=50).stack_of(data)
    stacked = stack.multiplicity.counts[stack.order].tolist()
    plainly = data.frame["salary"].value_counts().tolist()
    text = "frequencies of ten salaries, the largest first"
    said.add("table 3.2", text, stacked == plainly == FREQUENCIES, str(stacked), least=SAME)
    release = StackAndDeal(k=50, seed=0).anonymize(data)
    dealt = pd.crosstab(release.partition.group, data.frame["salary"]).reindex(columns=SALARIES).to_numpy()
    said.add(
        "table 3.3",
        "five classes with these frequencies",
        (dealt == DEALT).all(axis=1),
        "all fifty numbers compared",
        least=SAME,
    )
    whole = counts / counts.sum()
    gaps = np.cumsum(dealt / dealt.sum(axis=1, keepdims=True) - whole, axis=1)[:, :-1]
    found = np.abs(gaps).sum(axis=1) / (len(SALARIES) - 1)
    said.add(
        "table 3.4",
        "distances along the stack",
        np.abs(found - PRINTED_EMD) < ROUNDING,
        listed(found, 6),
        least="the paper's rounding, 0.00001",
    )
    true = oracles.ordered_distance(data.frame["salary"], release.partition.group.tolist())
    said.add(
        "table 3.4",
        "so the classes are 0.009778-close",
        float(true.max()) <= PRINTED_EMD[0],
        f"{true.max():.6f} in the order of the salaries, counted in the classes",
        "the text lets mass move along the stack; the ordered distance of its own definition follows the salaries",
        "the distances along the stack, above",
        least="the paper's rounding, 0.00001",
    )


def _sensitive_space(said: Statements) -> None:
    data = builtin("t-closeness-figure-4.1")
    release = SensitiveSpaceFragmentation(t=dict.fromkeys(data.sensitive, 0.2), seed=0).anonymize(data)
    groups = release.partition.group.tolist()
    for name, shares in zip(data.sensitive, ([0.35, 0.2, 0.3, 0.15], [0.25, 0.2, 0.55]), strict=True):
        ours = data.frame[name].value_counts(normalize=True).sort_index().to_numpy()
        said.add("figure 4.1", f"the distribution of {name}", np.isclose(ours, shares), listed(ours, 2), by_hand=True)
        plainly = oracles.ordered_distance(data.frame[name], groups)
        same = bool(np.allclose(privacy.emd(release, name, ground="ordered"), plainly, atol=NEAR))
        text = f"it can be cut into at least ten classes that are 0.2-close in {name}, some of them not at 0"
        said.add(
            "figure 4.1",
            text,
            same and 0 < plainly.max() <= 0.2 and len(plainly) >= 10,
            f"{len(plainly)} classes, the farthest {plainly.max():.3f} away, counted in the classes",
            least="ten classes, a distance above 0",
        )
    # The text gives the sums of this matrix only: .5 and .5, .3 and .7.
    cells = _cells([[0.1, 0.4], [0.2, 0.3]])
    _, _, whole = find_fragmentation(cells, np.array([1.0, 1.0]))
    _, _, cut = find_fragmentation(cells, np.array([1.0, 0.5]))
    bounds = [*whole, *cut]
    said.add(
        "figure 4.6",
        "the bounds 0.5 and 0.7 become 0.6 and 0 by one cut",
        np.isclose(bounds, [0.5, 0.7, 0.6, 0.0]),
        listed(bounds, 2),
        least=SAME,
    )
    _exact_size(said)


def _exact_size(said: Statements) -> None:
    frame, data = four_fragments()
    model = SensitiveSpaceFragmentation(t={"X": 0.0, "Y": 0.0}, sizing="exact", seed=0)
    parts: SensitiveFragmentation = model.fragmentation(data)
    groups = model.anonymize(data).partition.group
    counts = pd.crosstab(groups, frame["X"] + frame["Y"])
    sizes = np.unique(counts.sum(axis=1)).tolist()
    said.add(
        "figure 4.8",
        "fragments of 250, 100, 350 and 300 rows allow 50 classes of 20",
        [
            sorted(np.bincount(parts.of_row).tolist()) == [100, 250, 300, 350],
            sizes == [20] and len(counts) == 50,
            (counts == counts.iloc[0]).all(axis=None) and sorted(counts.iloc[0].tolist()) == [2, 5, 6, 7],
        ],
        f"fragments of {parts.counts.tolist()}, {len(counts)} classes of {sizes} rows, from the fragments "
        f"{counts.iloc[0].tolist()}",
        least=SAME,
    )


def _two_attributes(said: Statements) -> None:
    data = builtin("t-closeness-table-5.1")
    plainly = pd.crosstab(*(data.frame[name] for name in data.sensitive)).to_numpy().tolist()
    found = Multiplicity.of(data)
    matrix = np.zeros(tuple(found.sizes), dtype=int)
    matrix[tuple(found.cells.T)] = found.counts
    said.add(
        "table 5.1",
        "fifteen records of two and three values",
        data.n_rows == 15,
        f"{data.n_rows} records",
        by_hand=True,
    )
    printed = [[2, 3, 0], [5, 1, 4]]
    said.add("table 5.2", "2 3 0 and 5 1 4", matrix.tolist() == plainly == printed, str(matrix.tolist()), least=SAME)
    stack = StackAndDeal(k=3).stack_of(data)
    pairs = [" ".join(stack.multiplicity.labels(cell)) for cell in stack.order]
    said.add(
        "table 5.3",
        "the stack begins with a2 b1 five times, a2 b3 four, a1 b2 three, a1 b1 twice",
        pairs[:4] == ["a2 b1", "a2 b3", "a1 b2", "a1 b1"],
        ", ".join(pairs),
        least=SAME,
    )


def _cells(matrix: list[list[float]]) -> Cells:
    shares = np.array(matrix)
    place = np.argwhere(shares > 0)
    ground = np.full(shares.ndim, ORDERED, dtype=np.int64)
    return Cells(place.astype(np.int32), shares[tuple(place.T)], np.array(shares.shape, dtype=np.int64), ground)

"""What is lost for the same promise: refined classes, proven optima and single cells, each figure beside its bound.

Run: python -m tests.benchmarks.less_lost [--only 1 4] [--markdown tests/benchmarks/results.md]. The parts are

1. refine: Mondrian on 30,162 rows of Adult with 8 quasi-identifiers, by k, order of the categories and requirement
2. refine: 1,000,000 rows
3. refine: 500 random tables, none of which may lose more than before
4. optimal recoding: the same rows with ARX's hierarchies, 4,320 combinations, on a table object that nothing was asked
   of before and on one that was searched before
5. optimal recoding: 11 quasi-identifiers
6. local suppression, where `*` is a value of its own and where it is any value: sdcMicro's francdat, its testdata made
   anew from what is printed of it, 300 random tables, 1,000,000 rows
7. refined, optimal and suppressed releases as the board makes them, and in the search for a method
8. centroid microaggregation on the three test tables of sdcMicro: squares within the clusters in percent of all, beside
   plain MDAV
9. the least loss that is possible, as far as it is proven within 20 seconds and within 5 minutes, beside what refined
   Mondrian reaches
10. the search after refining: the same rows of Adult by k and by what is asked for the occupation, three other tables,
    and 500 random tables, none of which may lose more than refined
11. what is kept close to the table on purpose: local recoding from dealt classes on all of Adult with 10 known
    attributes and occupation secret, and Stack & Deal with two secrets
12. optimal ranges beside optimal levels

Everything runs once before it is measured, so that nothing is compiled in what counts. Times are medians of five runs;
those with 1,000,000 rows and with 11 quasi-identifiers are of one run.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from anoncore import Hierarchy, InfeasibleError, Microdata, Release, datasets, privacy
from anoncore.algorithms import (
    CentroidMicroaggregation,
    LocalSuppression,
    Mondrian,
    OptimalRecoding,
    StackAndDeal,
    Suppression,
)
from anoncore.datasets.census import load_census
from anoncore.requirements import FrequencyDiversity, KAnonymity, Requirement, TCloseness
from anoncore.search.keeping import keeping
from anoncore.search.targets import search
from anoncore.utility import information_loss, least_loss, two_way_error
from tests.algorithms.test_local_suppression import SDC_MICRO, household_survey, n_suppressed, tagged
from tests.algorithms.test_within_squares import BEST_KNOWN, MDAV, NOT_USED, known, plain_mdav, points, squares
from tests.benchmarks.mondrian import ARX_QUASI, DATA, fresh_run, hierarchy, seconds
from tests.benchmarks.page import write_chapter
from tests.benchmarks.peers import as_markdown
from tests.benchmarks.rebuilt_survey import SDC_MICRO_CELLS, as_sdcmicro_suppresses, rebuilt
from tests.benchmarks.search import KNOWN, SECRET, SPARED, TARGETS
from tests.benchmarks.search import adult as whole_adult

Line = list[str]
"""What was measured, what was found, what it was before or is beside, the seconds, the bound, and whether it is met."""
HEADER = ["what", "found", "beside", "s", "bound", "met"]
JOB = "occupation"
ELEVEN = [*ARX_QUASI, JOB, "relationship", "hours-per-week"]
"""All attributes of Adult but the weight, the number of the education and the two of capital."""
ANY = "local suppression, * as any value"
CENSUS_KEYS = ["sex", "race", "marital-status", "education", "age"]
"""Quasi-identifiers of the made-up census in which some of a million people are alone."""

ACS_KEYS = ["AGEP", "SEX", "MSP", "HISP", "RAC1P", "EDU"]
"""Age, sex, marriage, origin, race and education in the American Community Survey."""


def line(what: str, found: str, beside: str, took: float | None, bound: str, met: bool | None) -> Line:
    """A line of the table; without `met` there is nothing to keep."""
    return [
        what,
        found,
        beside,
        "" if took is None else f"{took:.3g}",
        bound,
        {True: "yes", False: "**no**"}.get(met, ""),
    ]


def part_of_adult(rows: int | None = 30_162) -> pd.DataFrame:
    """The first rows of Adult."""
    adult = pd.read_csv(DATA / "adult.csv")
    return adult if rows is None else adult.head(rows)


def refined() -> Iterator[Line]:
    """Losses of Mondrian's classes, refined and not."""
    adult = part_of_adult()
    roles = dict.fromkeys(ARX_QUASI, "quasi-identifier")
    orders = {name: hierarchy(name).leaves for name in ARX_QUASI if name != "age"}
    tables = {"unordered": Microdata(adult, roles), "ARX's order": Microdata(adult, roles, orders=orders)}
    bounds = {
        ("unordered", 5): 0.0125,
        ("unordered", 10): 0.0246,
        ("ARX's order", 5): 0.0118,
        ("ARX's order", 10): 0.0228,
    }
    for (order, k), bound in bounds.items():
        plain = Mondrian(requirements=[KAnonymity(k=k)], split="loss")
        model, data = plain.replace(refine=True), tables[order]
        before, after = (information_loss(one.anonymize(data)) for one in (plain, model))
        took = seconds(lambda model=model, data=data: fresh_run(model, data))  # type: ignore[misc]
        met = after <= bound and took < 1.5
        yield line(f"refine, k = {k}, {order}", f"{after:.5f}", f"{before:.5f} without", took, f"{bound}, < 1.5 s", met)
    data = Microdata(adult, {**roles, JOB: "sensitive"})
    asked: list[Requirement] = [
        FrequencyDiversity(l=4),
        TCloseness(t=0.3, ground="equal"),
    ]
    for requirement in asked:
        plain = Mondrian(requirements=[requirement], split="loss")
        model = plain.replace(refine=True)
        before, after = (information_loss(one.anonymize(data)) for one in (plain, model))
        took = seconds(lambda model=model: fresh_run(model, data), 3)  # type: ignore[misc]
        saved, label = 1 - after / before, requirement.label()
        what, beside = f"refine, {label} on {JOB}", f"{before:.5f} without, {saved:.0%} less"
        yield line(what, f"{after:.5f}", beside, took, "10 % less", saved >= 0.1)


def refined_million() -> Iterator[Line]:
    """The time of refining 1,000,000 rows: drawn from Adult with an age at most two years off; the census-like table,
    whose people are drawn one by one; and the same with the hours of work known too, which leaves few people alike.
    """
    rng = np.random.default_rng(0)
    adult = part_of_adult(None)
    drawn = adult.iloc[rng.integers(0, len(adult), 1_000_000)].reset_index(drop=True)
    drawn["age"] += rng.integers(-2, 3, len(drawn))
    entry = datasets.table("census")
    known = [name for name, role in entry.roles.items() if role == "quasi-identifier"]
    census, secret = load_census(1_000_000), {"diagnosis": "sensitive"}
    tables = {
        "drawn from Adult": (drawn, dict.fromkeys(ARX_QUASI, "quasi-identifier")),
        "census-like": (census, dict.fromkeys(known, "quasi-identifier") | secret),
        "census-like and hours": (census, dict.fromkeys([*known, "hours-per-week"], "quasi-identifier") | secret),
    }
    k, l = KAnonymity(k=5), FrequencyDiversity(l=3)
    cases: list[tuple[str, Requirement]] = [
        ("drawn from Adult", k),
        ("census-like", k),
        ("census-like", l),
        ("census-like and hours", k),
    ]
    for title, requirement in cases:
        frame, roles = tables[title]
        plain, data = Mondrian(requirements=[requirement], split="loss"), Microdata(frame[list(roles)], roles)
        begin = time.perf_counter()
        release = plain.replace(refine=True).anonymize(data)
        took = time.perf_counter() - begin
        before, after = information_loss(plain.anonymize(data)), information_loss(release)
        what, beside = f"refine, 1,000,000 rows {title}, {requirement.label()}", f"{before:.5f} without"
        yield line(what, f"{after:.5f}", beside, took, "< 15 s", took < 15)


def random_table(rng: np.random.Generator) -> Microdata:
    """A small table of numbers, unordered categories and values in a hierarchy, with a secret."""
    n = int(rng.integers(6, 120))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, rng.integers(25, 90), n),
            "town": rng.choice(list("uvwxyz"), n),
            "grade": rng.choice(list("abcde"), n),
            "ill": rng.choice(list("pqrs"), n),
        }
    )
    grades = Hierarchy.from_nested({"low": ["a", "b"], "high": {"odd": ["c"], "even": ["d", "e"]}})
    trees = {"grade": grades} if rng.random() < 0.5 else {}
    return Microdata(frame, {**dict.fromkeys(frame, "quasi-identifier"), "ill": "sensitive"}, hierarchies=trees)


def random_tables(search_steps: int = 0) -> Iterator[Line]:
    """Random tables of which the refined release loses more, or breaks its promise; or that which is searched on."""
    rng = np.random.default_rng(21)
    asked: list[tuple[Requirement, ...]] = [
        (KAnonymity(k=2),),
        (KAnonymity(k=5),),
        (FrequencyDiversity(l=2), KAnonymity(k=3)),
        (TCloseness(t=0.35),),
    ]
    made = worse = broken = 0
    saved = []
    while made < 500:
        data, requirements = random_table(rng), asked[made % len(asked)]
        plain = Mondrian(requirements=requirements, split=("median", "loss")[made // len(asked) % 2])
        try:
            before = information_loss(plain.replace(refine=search_steps > 0).anonymize(data))
        except InfeasibleError:
            continue
        release = plain.replace(refine=True, search_steps=search_steps).anonymize(data)
        after = information_loss(release)
        made, worse = made + 1, worse + (after > before + 1e-12)
        broken += bool(privacy.check(release, requirements))
        saved.append(1 - after / before if before else 0.0)
    found = f"{worse} lose more, {broken} break their promise"
    beside = f"{np.mean(saved):.0%} less on average"
    yield line(
        f"{'search' if search_steps else 'refine'}, 500 random tables",
        found,
        beside,
        None,
        "0, 0",
        not worse and not broken,
    )


def arx_data(names: Sequence[str], **more: Hierarchy) -> Callable[[], Microdata]:
    """What makes a table object of the rows with ARX's hierarchies and others."""
    adult = part_of_adult()
    trees = {name: hierarchy(name) for name in names if name not in ("relationship", "hours-per-week")} | more
    return lambda: Microdata(adult, dict.fromkeys(names, "quasi-identifier"), hierarchies=trees)


def first_and_warm(model: OptimalRecoding, table: Callable[[], Microdata]) -> tuple[float, float]:
    """Median seconds of a release of a table object of which nothing was asked before, and of another of the same."""
    times = []
    for _ in range(5):
        data = table()
        for _ in range(2):
            begin = time.perf_counter()
            model.anonymize(data)
            times.append(time.perf_counter() - begin)
    return float(np.median(times[::2])), float(np.median(times[1::2]))


def optimal() -> Iterator[Line]:
    """Times of optimal recoding on 4,320 combinations."""
    table = arx_data(ARX_QUASI)
    for share, name, bound in ((0.9999, "uncapped", 0.1), (0.04, "4 %", 0.1), (0.0, "0 %", 0.5)):
        model = OptimalRecoding(requirements=[KAnonymity(k=5)], max_suppression=share)
        found = model.search(table())
        first, warm = first_and_warm(model, table)
        losses = f"{found.loss:.4f}, {'proven' if found.optimal else 'not proven'}"
        beside = f"{found.n_checked:,} of {found.n_nodes:,} combinations looked at, again {warm:.3f} s"
        met = found.optimal and first <= bound
        yield line(f"optimal, {name} suppressed", losses, beside, first, f"{bound} s", met)


def optimal_eleven() -> Iterator[Line]:
    """Optimal recoding with all of Adult's quasi-identifiers."""
    hours = Hierarchy.by_width(part_of_adult()["hours-per-week"], width=10)
    families = Hierarchy.from_nested(
        {
            "family": {"couple": ["Husband", "Wife"], "kin": ["Own-child", "Other-relative"]},
            "alone": ["Unmarried", "Not-in-family"],
        }
    )
    tables = {
        "ARX's hierarchies": arx_data(ELEVEN, **{"hours-per-week": hours, "relationship": families}),
        "no hierarchies": lambda: Microdata(part_of_adult(), dict.fromkeys(ELEVEN, "quasi-identifier")),
    }
    for title, table in tables.items():
        for share, name in ((0.9999, "uncapped"), (0.04, "4 %"), (0.0, "0 %")):
            model, data = OptimalRecoding(requirements=[KAnonymity(k=5)], max_suppression=share), table()
            begin = time.perf_counter()
            found = model.search(data)
            took = time.perf_counter() - begin
            loss = f"{found.loss:.4f}, " + ("proven" if found.optimal else f"gap {found.gap:.1%}")
            beside = f"{found.n_checked:,} of {found.n_nodes:,} combinations looked at"
            met = took <= 20 or found.gap < 0.05
            yield line(f"optimal, 11 attributes, {title}, {name}", loss, beside, took, "20 s or gap < 5 %", met)


def suppressed() -> Iterator[Line]:
    """Cells that local suppression takes."""
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(tagged(SDC_MICRO))
    cells = n_suppressed(release)
    yield line("local suppression, francdat, k = 2", f"{cells} cells", "sdcMicro 4", None, "4", cells <= 4)
    for seed in (1, 2, 3):
        yield from rebuilt_suppressed(seed)
    model = LocalSuppression(requirements=[KAnonymity(k=3)])
    rng = np.random.default_rng(300)
    violators = sum(len(privacy.check(one, one.algorithm.promises(one.data))) for one in random_suppressed(rng, 300))
    yield line("local suppression, 300 random tables", f"{violators} violators", "", None, "0", not violators)
    violators = sum(slow_violators(random_table(rng), k) for k in (2, 3, 4) for _ in range(100))
    yield line(f"{ANY}, 300 random tables", f"{violators} violators", "counted row by row", None, "0", not violators)
    adult = part_of_adult(None)
    many = adult.iloc[rng.integers(0, len(adult), 1_000_000)].reset_index(drop=True)[ARX_QUASI]
    rare = load_census(1_000_000)[CENSUS_KEYS]
    for title, frame in (("households", household_survey(1_000_000)), ("Adult", many), ("census", rare)):
        for what, one in (("local suppression", model), (ANY, model.replace(suppressed="any"))):
            data = tagged(frame)
            begin = time.perf_counter()
            release = one.anonymize(data)
            took = time.perf_counter() - begin
            found = f"{n_suppressed(release) / frame.size:.2%} of the cells"
            yield line(f"{what}, 1,000,000 rows of {title}", found, "", took, "2 s", took < 2)


def rebuilt_suppressed(seed: int) -> Iterator[Line]:
    """Cells that both readings of `*` take in sdcMicro's table made anew, beside its own way on the same rows."""
    people, counted = rebuilt(seed)
    codes = people.to_numpy(dtype=np.int32)
    missed = [f"{what} {found} ({wanted})" for what, found, wanted in counted.differences() if found != wanted]
    what = f"testdata made anew ({seed}), {len(people):,} rows, 7 keys, k = 3"
    met = f"{sum(1 for _ in counted.differences()) - len(missed)} printed numbers met"
    yield line(what, met, "; ".join(missed) or "none missed", None, "", None)
    others, rounds = as_sdcmicro_suppresses(codes, 3)
    theirs = int((others < 0).sum())
    unfit = sum(int(((codes == row) | (row < 0)).all(axis=1).sum() < 3) for row in others)
    beside = f"rows by round: {rounds}; {unfit} rows fit fewer than 3 people"
    yield line("sdcMicro's way, on the same rows", f"{theirs} cells", beside, None, "", None)
    data = tagged(people)
    for title, suppressed in ((ANY, "any"), ("local suppression", "value")):
        model = LocalSuppression(requirements=[KAnonymity(k=3)], suppressed=suppressed)
        release = model.anonymize(data)
        cells, took = n_suppressed(release), seconds(lambda model=model: fresh_run(model, data))  # type: ignore[misc]
        share = f"{cells} cells, {cells / people.size:.3%}"
        beside = f"sdcMicro prints {SDC_MICRO_CELLS} of its own table"
        yield line(f"{title}, on the same rows", share, beside, took, str(SDC_MICRO_CELLS), cells <= SDC_MICRO_CELLS)


def slow_violators(data: Microdata, k: int) -> int:
    """Rows of a release with `*` as any value that agree with fewer than k rows, or fit fewer than k people."""
    release = LocalSuppression(requirements=[KAnonymity(k=k)], suppressed="any").anonymize(data)
    names = data.quasi_identifiers
    own = np.column_stack([data.codes[name] for name in names])
    cells = own.copy()
    for a, name in enumerate(names):
        low, high = release.recoding(name).bounds()
        cells[low < high, a] = -1
    found = 0
    for row in cells:
        agree = ((cells == row) | (cells < 0) | (row < 0)).all(axis=1).sum()
        fit = ((own == row) | (row < 0)).all(axis=1).sum()
        found += bool(min(agree, fit) < k)
    return found


def random_suppressed(rng: np.random.Generator, count: int) -> Iterator[Release]:
    """Releases of random tables with the requirements that they keep."""
    asked: list[tuple[Requirement, ...]] = [
        (KAnonymity(k=2),),
        (KAnonymity(k=4),),
        (FrequencyDiversity(l=2),),
        (KAnonymity(k=3), TCloseness(t=0.4)),
    ]
    made = 0
    while made < count:
        data = random_table(rng)
        try:
            yield LocalSuppression(requirements=asked[made % len(asked)]).anonymize(data)
        except InfeasibleError:
            continue
        made += 1


def places() -> Iterator[Line]:
    """What the board makes of each method at its first promise, and what the search for a method tried."""
    data = whole_adult(KNOWN, SECRET)
    ways = {
        "Mondrian": ("mondrian", {}),
        "Mondrian, refined": ("mondrian", {"split": "loss", "refine": True}),
        "optimal recoding": ("optimal-recoding", {}),
        "local suppression": ("local-suppression", {}),
    }
    for title, (name, fields) in ways.items():
        model = keeping(name, fields, {"k": 10, "t": 0.3}, (), data)
        release = model.anonymize(data)
        took = seconds(lambda model=model: fresh_run(model, data), 3)  # type: ignore[misc]
        kept = not privacy.check(release, model.promises(data))
        yield line(
            f"board, k = 10, t = 0.3: {title}", f"two-way error {two_way_error(release):.4f}", "", took, "", kept
        )
    found = search(data, TARGETS, SPARED)
    for title, wanted in (
        ("refined", lambda one: getattr(one, "refine", False)),
        ("optimal", lambda one: isinstance(one, OptimalRecoding)),
        ("suppressed", lambda one: isinstance(one, LocalSuppression | Suppression)),
    ):
        tried = [point for point in found.points if wanted(point.algorithm) and SPARED in point.values]
        best = min((point.values[SPARED] for point in tried), default=float("nan"))
        yield line(f"search: {title}", f"{len(tried)} releases", f"least error {best:.4f}", None, "tried", bool(tried))


def microaggregated() -> Iterator[Line]:
    """Squares within the clusters of centroid microaggregation, beside plain MDAV; bound: the best known before."""
    for table, reached in BEST_KNOWN.items():
        frame = pd.read_csv(DATA / table)
        frame = frame.drop(columns=[name for name in NOT_USED if name in frame])
        place = points(frame)
        whole = squares(place, np.zeros(len(place)))

        def share(group: np.ndarray, place: np.ndarray = place, whole: float = whole) -> float:
            return 100 * squares(place, group) / whole

        for k, bound in reached.items():
            model = CentroidMicroaggregation(k=k, seed=0)
            data, begin = known(frame), time.perf_counter()
            release = model.anonymize(data)
            took = time.perf_counter() - begin
            plain = np.empty(len(frame), dtype=np.int64)
            for number, rows in enumerate(plain_mdav(place, list(range(len(frame))), k)):
                plain[list(rows)] = number
            found = share(release.partition.group)
            yield line(
                f"{table.removesuffix('.csv')}, k = {k}",
                f"{found:.2f} %",
                f"plain MDAV {share(plain):.2f} %, as published {MDAV[table][k]:.2f} %",
                took,
                f"< {bound:.2f} %, 5 s",
                found < bound and took < 5,
            )


def least() -> Iterator[Line]:
    """Proven bounds of the loss by the least boxes and by prices, and what refined Mondrian loses."""
    data = Microdata(part_of_adult()[ARX_QUASI], dict.fromkeys(ARX_QUASI, "quasi-identifier"))
    bounds = {2: (0.0016, 0.00206), 5: (0.0046, 0.0078), 10: (0.0074, 0.0105), 25: (0.0, 0.0143)}
    least_loss(data, 2, seconds=0.1)
    for k, (least_box, of_prices) in bounds.items():
        reached = float(
            information_loss(Mondrian(requirements=[KAnonymity(k=k)], split="loss", refine=True).anonymize(data))
        )
        quick = least_loss(data, k, seconds=20)
        beside = f"{quick.bound:.6f} in the rest of the time"
        met = quick.least_box >= least_box
        yield line(f"least box, k = {k}", f"{quick.least_box:.6f}", beside, quick.seconds, f"{least_box} in 20 s", met)
        begin, cpu = time.perf_counter(), time.process_time()
        found = least_loss(data, k, seconds=300)
        took, cpu = time.perf_counter() - begin, time.process_time() - cpu
        beside = f"{found.bound / reached:.0%} of the {reached:.6f} of refined Mondrian; {cpu:.0f} s of a processor"
        met = found.bound >= of_prices and took < 301
        yield line(f"least loss, k = {k}", f"{found.bound:.6f}", beside, took, f"{of_prices} in 300 s", met)


def searched_on() -> Iterator[Line]:
    """Losses of Mondrian's classes that are searched on after refining, beside those of refined ones."""
    adult, roles = part_of_adult(), dict.fromkeys(ARX_QUASI, "quasi-identifier")
    plain, with_job = Microdata(adult, roles), Microdata(adult, {**roles, JOB: "sensitive"})
    census, casc = datasets.table("census"), pd.read_csv(DATA / "CASCrefmicrodata.csv")
    acs = pd.read_csv(DATA / "acs_national_2019.csv.gz", usecols=ACS_KEYS, nrows=20_000)
    known = {name: role for name, role in census.roles.items() if role == "quasi-identifier"}
    cases: list[tuple[str, Microdata, Requirement, int, float | None]] = [
        ("Adult", plain, KAnonymity(k=2), 250, 0.00220),
        ("Adult", plain, KAnonymity(k=5), 100, 0.01045),
        ("Adult", plain, KAnonymity(k=10), 100, 0.0219),
        ("Adult", with_job, FrequencyDiversity(l=4), 30, None),
        ("Adult", with_job, TCloseness(t=0.3, ground="equal"), 30, None),
        (
            "20,000 rows of the census",
            Microdata(census.load(n_rows=20_000)[list(known)], known),
            KAnonymity(k=5),
            50,
            None,
        ),
        ("20,000 rows of the ACS", Microdata(acs, dict.fromkeys(acs, "quasi-identifier")), KAnonymity(k=5), 50, None),
        ("CASC census", Microdata(casc, dict.fromkeys(casc, "quasi-identifier")), KAnonymity(k=3), 50, None),
    ]
    for title, data, requirement, millions, bound in cases:
        model = Mondrian(requirements=[requirement], split="loss", refine=True)
        model.replace(search_steps=1).anonymize(data)
        before = float(information_loss(model.anonymize(data)))
        begin, cpu, reports = time.perf_counter(), time.process_time(), [""]
        release = model.replace(search_steps=millions).anonymize(
            data, lambda _, text, reports=reports: reports.append(text)
        )
        took, cpu = time.perf_counter() - begin, time.process_time() - cpu
        after = float(information_loss(release))
        above = next(text for text in reversed(reports) if text.startswith("Best")).partition(",")
        beside = f"{before:.5f} refined, {1 - after / before:.0%} less; {cpu:.0f} s of a processor"
        met = after < before if bound is None else after <= bound and cpu < 180
        asked = "less" if bound is None else f"{bound:.5f}, 180 s"
        what = f"{title}, {requirement.label()}, {millions} million steps"
        yield line(
            what,
            f"{after:.6f}{''.join(above[1:])}",
            beside,
            took,
            asked,
            met and not privacy.check(release, [requirement]),
        )
    yield from random_tables(search_steps=1)


def close_to_the_table() -> Iterator[Line]:
    """Two-way errors of classes that are dealt and refined, beside those of Mondrian and of classes that are dealt."""
    known = [*ARX_QUASI, "relationship", "hours-per-week"]
    data = Microdata(part_of_adult(None), dict.fromkeys(known, "quasi-identifier") | {JOB: "sensitive"})
    for k, l, t in ((10, 3, 0.3), (5, 2, 0.2), (20, 4, 0.15)):
        errors, took = [], 0.0
        for name, fields in (("mondrian", {"split": "loss", "refine": True}), ("local-recoding", {"start": "deal"})):
            model = keeping(name, fields, {"k": k, "l": l, "t": t}, (), data)
            begin = time.perf_counter()
            errors.append(float(two_way_error(model.anonymize(data))))
            took = time.perf_counter() - begin
        what = f"dealt and refined, k = {k}, l = {l}, t = {t}"
        yield line(what, f"{errors[1]:.4f}", f"Mondrian, refined {errors[0]:.4f}", took, "less", errors[1] < errors[0])
    secrets = {JOB: "sensitive", "education": "sensitive"}
    data = Microdata(part_of_adult(15_000), dict.fromkeys(known, "quasi-identifier") | secrets)
    dealt, refined_ = (
        float(two_way_error(StackAndDeal(k=10, seed=1, refine=refine).anonymize(data))) for refine in (False, True)
    )
    yield line(
        "Stack & Deal, two secrets, k = 10", f"{refined_:.4f}", f"dealt {dealt:.4f}", None, "less", refined_ < dealt
    )


def ranges() -> Iterator[Line]:
    """The least losses of ranges and of levels."""
    trees = {name: hierarchy(name) for name in ARX_QUASI}
    for names, k in ((ARX_QUASI, 5), (["sex", "race", "education"], 10)):
        data = Microdata(
            part_of_adult(), dict.fromkeys(names, "quasi-identifier"), hierarchies={name: trees[name] for name in names}
        )
        for share in (0.0, 0.04):
            levels = OptimalRecoding(requirements=[KAnonymity(k=k)], max_suppression=share)
            begin = time.perf_counter()
            found = levels.replace(recoding="ranges", most_checked=2_000).search(data)
            took, beside = time.perf_counter() - begin, levels.search(data).loss
            what = f"{len(names)} quasi-identifiers, k = {k}, at most {share:.0%} suppressed"
            bound = "proven" if found.optimal else f"none below {found.bound:.4f}"
            yield line(what, f"{found.loss:.4f}", f"levels {beside:.4f}", took, bound, found.loss < beside)


PARTS: dict[int, tuple[str, Callable[[], Iterator[Line]]]] = {
    1: ("Refined classes", refined),
    2: ("Refined classes of many rows", refined_million),
    3: ("Refined classes of random tables", random_tables),
    4: ("Optimal recoding", optimal),
    5: ("Optimal recoding with 11 quasi-identifiers", optimal_eleven),
    6: ("Local suppression", suppressed),
    7: ("On the board and in Search", places),
    8: ("Centroid microaggregation", microaggregated),
    9: ("The least loss that is possible", least),
    10: ("Classes that are searched on after refining", searched_on),
    11: ("Close to the table on purpose", close_to_the_table),
    12: ("Optimal ranges", ranges),
}
"""What is measured, by number: a title and what gives the lines."""

PREFACE = """# Less lost for the same promise

`python -m tests.benchmarks.less_lost --markdown tests/benchmarks/results.md` makes this chapter. Loss is the mean share
of the domain that a cell covers; Adult is its first 30,162 rows with 8 quasi-identifiers where nothing else is said."""


def main() -> None:
    """Print the lines, and write them as Markdown where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="+", choices=sorted(PARTS), default=sorted(PARTS), help="these parts")
    parser.add_argument("--markdown", type=Path, help="file for the tables as Markdown")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit("The data folder ../shared/data is absent; the benchmark needs its adult.csv.")
    about = f"Measured on {os.cpu_count()} cores; load at the start {os.getloadavg()[0]:.1f}."
    chapter = [PREFACE, about]
    for number in arguments.only:
        title, work = PARTS[number]
        print(f"{number}. {title}", flush=True)
        lines = []
        for one in work():
            print("  " + "  ".join(cell for cell in one if cell), flush=True)
            lines.append(one)
        chapter.append(f"## {title}\n\n{as_markdown(HEADER, lines)}")
    if arguments.markdown is not None:
        write_chapter(arguments.markdown, "\n\n".join(chapter))


if __name__ == "__main__":
    main()

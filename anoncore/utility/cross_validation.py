"""What a classifier may learn from a release, and its cross-validation.

Classifiers learn from linked rows of published cells with their class, and predict the original rows that are held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import cached_property, partial
from itertools import pairwise
from os import cpu_count

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.base.progress import Progress
from anoncore.base.random_numbers import drawn_along
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Rows, record
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.classifiers import CLASSIFIERS, Bounds, Classifier, ClassifierName, Features

EVERY_ROW = slice(None)
LEARNED_PIECES = 4
"""Pieces of a table that a run on a sample of its rows learns from, for one that it predicts."""
Predicted = tuple[Int64, Codes, Codes]
"""Rows that were held out, and their classes after learning from all rows of a sample, and from half of them."""


@record
class TrainingTable:
    """Rows of published cells and the class of each, int32 (n_records,); in the order of the original rows, but where
    rows are nobody's.
    """

    cells: dict[str, Bounds]
    labels: Codes

    def take(self, rows: Rows | slice) -> TrainingTable:
        """Some of the rows, in the given order."""
        cells = {name: Bounds(cell.low[rows], cell.high[rows], cell.single) for name, cell in self.cells.items()}
        return TrainingTable(cells, self.labels[rows])

    def test_cells(self, data: Microdata, rows: Rows | slice = EVERY_ROW) -> dict[str, Bounds]:
        """Original rows in the same form: exact values, lower and upper bound alike."""
        exact = {name: data.codes[name][rows] for name in self.cells}
        return {name: Bounds(exact[name], exact[name], cell.single) for name, cell in self.cells.items()}


def original_table(release: Release, target: str) -> TrainingTable:
    """The original values of the published attributes, in the order of the table."""
    data = release.data
    names = _in_order([name for name in release.attributes if name != target], data)
    return TrainingTable({name: Bounds(data.codes[name], data.codes[name], True) for name in names}, data.codes[target])


def _in_order(names: Iterable[str], data: Microdata) -> list[str]:
    """Attributes in the order of the table: of equally good splits, none is taken for the order of the fragments."""
    order = {name: number for number, name in enumerate(data.attributes)}
    return sorted(names, key=order.__getitem__)


def released_tables(release: Release, target: str, rng: np.random.Generator) -> tuple[TrainingTable, ...]:
    """What can be learned from: one table where fragments share a partition, else one per fragment with the target.

    Rows of a group in different fragments are linked at random; row i is the one whose cells in the first fragment are
    those of original row i. A target that is published by region takes a random value of its row's region. Raises
    ReleaseError if no fragment, or linking of fragments, has the target and something to predict it from.
    """
    release.fragment_of(target)
    if release.is_shared:
        tables = [_linked_table(release, target, rng)]
    else:
        own = np.arange(release.data.n_rows)
        tables = [
            _table(release, fragment.recodings, dict.fromkeys(fragment.attributes, own), target, rng)
            for fragment in release.fragments
            if target in fragment.recodings
        ]
    usable = tuple(table for table in tables if table.cells)
    if not usable:
        raise ReleaseError(f"The release publishes nothing together with '{target}' that could predict it.")
    return usable


def is_random(release: Release, target: str) -> bool:
    """Whether two draws of the training tables may differ."""
    linked = release.is_shared and len(release.fragments) > 1
    regional = any(
        isinstance(fragment.recodings.get(target), Generalized | GroupValues | ColumnRegions)
        for fragment in release.fragments
    )
    return linked or regional


def _linked_table(release: Release, target: str, rng: np.random.Generator) -> TrainingTable:
    links = release.linking(rng)
    recodings, rows = {}, {}
    for name in release.attributes:
        fragment = release.fragment_of(name)
        recodings[name] = fragment.recodings[name]
        rows[name] = links[release.fragments.index(fragment)]
    return _table(release, recodings, rows, target, rng)


def _table(
    release: Release,
    recodings: Mapping[str, Recoding],
    rows: Mapping[str, Rows],
    target: str,
    rng: np.random.Generator,
) -> TrainingTable:
    cells = {}
    for name in _in_order(recodings, release.data):
        if name == target:
            continue
        recoding = recodings[name]
        single = not isinstance(recoding, Generalized | GroupValues | ColumnRegions)
        if isinstance(recoding, Generalized):
            of_rows = recoding.partition.group[rows[name]]
            low, high = recoding.low[of_rows], recoding.high[of_rows]
        else:
            low, high = (bound[rows[name]] for bound in recoding.bounds())
        cells[name] = Bounds(low, high, single)
    labels = recodings[target]
    if isinstance(labels, Generalized | GroupValues | ColumnRegions):
        return TrainingTable(cells, _values(labels, release.records_order, rng)[rows[target]])
    return TrainingTable(cells, labels.bounds()[0][rows[target]])


def _values(recoding: Recoding, along: Rows, rng: np.random.Generator) -> Codes:
    """The published value of each row, or a random one of its region, drawn for the rows along an order."""
    if isinstance(recoding, ColumnRegions):
        return _values(recoding.classes, along, rng)
    if not isinstance(recoding, Generalized | GroupValues):
        return recoding.bounds()[0]
    group = recoding.partition.group
    pick = (drawn_along(along, rng) * recoding.sizes[group]).astype(np.int64)
    if recoding.offsets is not None and recoding.members is not None:
        return recoding.members[recoding.offsets[group] + pick]
    return (recoding.low[group] + pick).astype(np.int32)


@record
class _Learner:
    """A classifier of one training table, with the features of its rows and of the original rows."""

    method: Classifier
    table: TrainingTable
    features: Features
    test_features: Features

    def votes(self, learned: Bools, held_out: Bools, size: int, seed: int) -> Floats:
        """Class probabilities of the held-out original rows after training on others, (n_held_out, size)."""
        model = self.method.train(self.features[learned], self.table.labels[learned], self.table.cells, seed)
        votes = np.zeros((int(held_out.sum()), size))
        votes[:, model.classes_] = model.predict_proba(self.test_features[held_out])
        return votes


@record
class _Run:
    """One training and prediction of all rows, by one learner or by several that vote."""

    learners: tuple[_Learner, ...]

    @classmethod
    def of(
        cls,
        method: Classifier,
        tables: Sequence[TrainingTable],
        data: Microdata,
        records: Int64 | slice = EVERY_ROW,
        rows: Int64 | slice = EVERY_ROW,
    ) -> _Run:
        """The learners of some of the published rows, which predict some of the original rows."""
        return cls(
            tuple(
                _Learner(method, taken, method.features(taken.cells), method.features(table.test_cells(data, rows)))
                for table, taken in ((table, table.take(records)) for table in tables)
            )
        )

    def predict(self, learned: Bools, held_out: Bools, seed: int) -> Codes:
        """Class of each held-out row after training on the rows that are learned from."""
        size = max(int(learner.table.labels.max()) for learner in self.learners) + 1
        votes = sum(learner.votes(learned, held_out, size, seed) for learner in self.learners)
        return np.argmax(votes, axis=1).astype(np.int32)


class Trial:
    """One release, target, classifier and seed: the folds of the rows, and what is learned while one is held out.

    Of a release whose rows are nobody's nothing is held out: its rows are learned once and predict all folds.

    The linkings of rows are drawn one after the other from the seed, so the first ones do not depend on how many are
    asked for.
    """

    def __init__(self, release: Release, target: str, classifier: ClassifierName, folds: int, seed: int) -> None:
        self.release = release
        self.target = target
        self.method = CLASSIFIERS[classifier](release.data)
        self.folds = folds
        self.seed = seed
        self._rng = np.random.default_rng(seed)
        codes, order = release.data.codes[target], release.data.canonical_order
        draw = self._rng.permutation(len(codes))
        self._original_fold = _folds(codes, folds, order[draw])
        # Rows that are equal in the table and differ in the release are told apart by what is published.
        self.fold = self._original_fold if release.is_synthetic else _folds(codes, folds, release.records_order[draw])
        self._runs: list[_Run] = []
        names = tuple(original_table(release, target).cells)
        self._asked = (target, classifier, folds, seed, names)

    def predict(
        self, parts: Sequence[tuple[int, int]], original: Iterable[int], progress: Progress | None
    ) -> tuple[Codes, Codes]:
        """Hold out one fold after another and predict its original rows.

        `parts` are numbers of a linking and of a fold, `original` those of the folds of the original table. The
        predictions are int32 (n_linkings, n_rows) and (n_rows,), with -1 for what was not held out.
        """
        n_runs = 1 + max(run for run, _ in parts)
        while len(self._runs) < n_runs:
            tables = released_tables(self.release, self.target, self._rng)
            self._runs.append(_Run.of(self.method, tables, self.release.data))
        predicted = np.full((n_runs, len(self.fold)), -1, np.int32)
        from_original = np.full(len(self._original_fold), -1, np.int32)

        def learn(run: int, part: int) -> None:
            held_out = self.fold == part
            predicted[run, held_out] = self._runs[run].predict(~held_out, held_out, self.seed)

        def learn_original(part: int) -> None:
            held_out = self._original_fold == part

            def predict() -> Codes:
                return self._original_run.predict(~held_out, held_out, self.seed)

            # The same for every release that publishes the same attributes.
            from_original[held_out] = cached(self.release.data, "original folds", (*self._asked, part), predict)

        def learn_all(run: int) -> None:
            tested = np.isin(self.fold, [part for one, part in parts if one == run])
            every = np.ones(self.release.n_records, np.bool_)
            predicted[run, tested] = self._runs[run].predict(every, tested, self.seed)

        if self.release.is_synthetic:
            work = [partial(learn_all, run) for run in sorted({run for run, _ in parts})]
        else:
            work = [partial(learn, *part) for part in parts]
        _do(work + [partial(learn_original, part) for part in original], progress)
        return predicted, from_original

    @cached_property
    def _original_run(self) -> _Run:
        return _Run.of(self.method, (original_table(self.release, self.target),), self.release.data)


def runs_of_release(
    release: Release,
    target: str,
    classifier: ClassifierName,
    runs: int,
    linkings: int,
    n_rows: int,
    seed: int,
    progress: Progress | None,
) -> list[Predicted]:
    """What is predicted in each run of those that learn from a sample of a release; linkings of rows take turns.

    The rows are cut into small pieces of equal class shares. A run holds one piece out and learns from the next four.
    Of a release whose rows are nobody's, its own rows are cut into pieces from which is learned.
    """
    rng, data = np.random.default_rng(seed), release.data
    order = data.canonical_order if release.is_synthetic else release.records_order
    pieces = records = _pieces(data.codes[target], n_rows, order, rng)
    if release.is_synthetic:
        (table,) = released_tables(release, target, rng)
        records = _pieces(table.labels, n_rows, release.records_order, rng)
    drawn = [released_tables(release, target, rng) for _ in range(min(linkings, runs))]
    method = CLASSIFIERS[classifier](data)
    return _in_runs(data, method, [drawn[run % len(drawn)] for run in range(runs)], records, pieces, seed, progress)


def runs_of_some_rows(
    release: Release,
    target: str,
    classifier: ClassifierName,
    runs: int,
    n_rows: int,
    seed: int,
    progress: Progress | None,
) -> list[Predicted]:
    """The same of a release of people in which no attribute stands twice (`is_linked_by_groups`), by so many rows alone
    as the runs need, drawn from the whole table.

    No run has a row in common with another one, so that one linking serves all of them. Each row is linked with any one
    of its group: few of a group are drawn.
    """
    rng, data = np.random.default_rng(seed), release.data
    n_drawn = runs * (LEARNED_PIECES + 1) * (n_rows // LEARNED_PIECES)
    rows = data.canonical_order[rng.choice(data.n_rows, min(n_drawn, data.n_rows), replace=False)]
    pieces = _pieces(data.codes[target][rows], n_rows, np.arange(len(rows)), rng)
    tables = _tables_of_rows(release, target, rows, rng)
    held_out = [rows[piece] for piece in pieces]
    return _in_runs(data, CLASSIFIERS[classifier](data), [tables] * runs, pieces, held_out, seed, progress)


def is_linked_by_groups(release: Release) -> bool:
    """Whether nothing but groups says which rows of people belong together, as no attribute stands in two fragments."""
    names = [name for fragment in release.fragments for name in fragment.attributes]
    return not release.is_synthetic and release.is_shared and len(names) == len(set(names))


def _tables_of_rows(release: Release, target: str, rows: Int64, rng: np.random.Generator) -> tuple[TrainingTable, ...]:
    """What `released_tables` gives of some rows, where nothing but groups links them."""
    partition = release.partition
    group, linked = partition.group[rows], dict[str, Int64]()
    for number, fragment in enumerate(release.fragments):
        place = (rng.random(len(rows)) * partition.sizes[group]).astype(np.int64)
        of_fragment = rows if number == 0 else partition.order[partition.starts[group] + place]
        linked |= dict.fromkeys(fragment.attributes, of_fragment)
    recodings = {name: release.recoding(name) for name in release.attributes}
    table = _table(release, recodings, linked, target, rng)
    if not table.cells:
        raise ReleaseError(f"The release publishes nothing together with '{target}' that could predict it.")
    return (table,)


def runs_of_original(
    release: Release,
    target: str,
    classifier: ClassifierName,
    runs: int,
    n_rows: int,
    seed: int,
    progress: Progress | None,
) -> list[Predicted]:
    """The same of the original table, for every release alike that publishes the same attributes."""
    data, whole = release.data, (original_table(release, target),)

    def predict() -> list[Predicted]:
        pieces = _pieces(data.codes[target], n_rows, data.canonical_order, np.random.default_rng(seed))
        return _in_runs(data, CLASSIFIERS[classifier](data), [whole] * runs, pieces, pieces, seed, progress)

    asked = (target, classifier, runs, n_rows, seed, tuple(whole[0].cells))
    return cached(data, "original runs", asked, predict)


def _in_runs(
    data: Microdata,
    method: Classifier,
    tables: Sequence[Sequence[TrainingTable]],
    records: list[Int64],
    pieces: list[Int64],
    seed: int,
    progress: Progress | None,
) -> list[Predicted]:
    """What is predicted of the held-out rows of each run, which learns from the tables' rows in some of the pieces."""
    found: dict[int, Predicted] = {}

    def learn(run: int) -> None:
        first = run * (LEARNED_PIECES + 1)
        held_out = pieces[first % len(pieces)]
        learned = [records[number % len(records)] for number in range(first + 1, first + 1 + LEARNED_PIECES)]
        rows = np.concatenate(learned)
        half = np.arange(len(rows)) < sum(len(piece) for piece in learned[: LEARNED_PIECES // 2])
        learners = _Run.of(method, tables[run], data, rows, held_out)
        every, tested = np.ones_like(half), np.ones(len(held_out), np.bool_)
        found[run] = held_out, learners.predict(every, tested, seed), learners.predict(half, tested, seed)

    _do([partial(learn, run) for run in range(len(tables))], progress)
    return [found[run] for run in range(len(tables))]


def _pieces(codes: Codes, n_rows: int, order: Int64, rng: np.random.Generator) -> list[Int64]:
    """The rows in pieces of equal class shares, drawn along an order; `LEARNED_PIECES` have about `n_rows` rows."""
    n_pieces = max(len(codes) * LEARNED_PIECES // n_rows, LEARNED_PIECES + 1)
    along = order[rng.permutation(len(codes))]
    cut = along[np.argsort(_folds(codes, n_pieces, along)[along], kind="stable")]
    ends = np.linspace(0, len(codes), n_pieces + 1).astype(np.int64)
    return [cut[begin:end] for begin, end in pairwise(ends)]


def _folds(codes: Codes, folds: int, order: Int64) -> Int64:
    """Fold of every row, with each class spread evenly over the folds, along an order of the rows."""
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.int64)
    fold[order] = np.arange(len(codes)) % folds
    return fold


def _do(work: Sequence[Callable[[], None]], progress: Progress | None) -> None:
    """Train on all processors, and report what is finished; raise what a training, or the progress callback, raises."""
    with ThreadPoolExecutor(cpu_count()) as pool:
        tasks: list[Future[None]] = [pool.submit(one) for one in work]
        try:
            for done, task in enumerate(as_completed(tasks), start=1):
                task.result()
                if progress is not None:
                    progress(done / len(tasks), f"Trained {done} of {len(tasks)} classifiers")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise

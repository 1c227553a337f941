"""A process that makes a differentially private table for another one, with OpenDP's mechanisms and nothing else.

It runs by itself and imports nothing of anoncore: OpenDP brings JAX, which takes hundreds of megabytes and seconds to
import, and a fit that nothing can interrupt. Orders come on the standard input: a line of JSON, then the cells of the
table as a NumPy array. Answers are lines of JSON, the last of which is followed by the cells of the new table.
Selection, noise and the account of the budget are OpenDP's; only numbers of cells that are public come in here.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import IO, Any

import numpy as np
import numpy.typing as npt

MEASURED = 0.9
"""The share of what is left after single attributes that goes into measuring pairs; the rest selects them."""
SPLIT_STEP, MOST_SPLITS = 1e-5, 2_000
ITERATIONS = 1_000
COUNTED, FITTED, SELECTED = 0.2, 0.25, 0.85
"""How far the table is when single attributes are counted, a model is fitted to them, and pairs are selected."""
LEAST_SCALE, LARGEST_SCALE = 0.15, 1e9
"""Noise among which that of a budget is looked for; the least stands for a rho above 20."""


class Answers:
    """What is written to the process that waits."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._fits = self._iterations = 0

    def tell(self, **answer: Any) -> None:
        """Send a line; ends the process where nobody reads any more."""
        try:
            self._stream.write(json.dumps(answer).encode() + b"\n")
            self._stream.flush()
        except OSError:
            os._exit(1)

    def begins_fit(self) -> None:
        """Remember that another fit begins: the first is to single attributes, the second to the selected pairs."""
        self._fits, self._iterations = self._fits + 1, 0

    def iterated(self, _marginals: Any) -> None:
        """Tell from time to time how far a fit is."""
        self._iterations += 1
        if self._iterations % 100 == 0:
            begin, end = (COUNTED, FITTED) if self._fits == 1 else (SELECTED, 1.0)
            share = begin + (end - begin) * min(self._iterations / ITERATIONS, 1.0)
            self.tell(share=share, text="Fitting a model to the noisy counts")

    def fitted(self) -> None:
        """Tell that a fit is done."""
        if self._fits == 1:
            self.tell(share=FITTED, text="Selecting pairs of attributes")


def budget(dp: Any, epsilon: float, delta: float) -> Any:
    """The loss that OpenDP's mechanisms may spend: epsilon by itself, or the rho whose Gaussian noise keeps both.

    With a delta, OpenDP's own conversion says which epsilon a rho of zero-concentrated differential privacy is.
    """
    if delta == 0:
        return dp.loss_of(epsilon=epsilon)
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def measurement(scale: float) -> Any:
        return dp.m.make_gaussian(*space, scale)

    def keeps(scale: float) -> bool:
        return bool(dp.c.make_zCDP_to_approxDP(measurement(scale)).map(1.0).epsilon(delta) <= epsilon)

    scale = LEAST_SCALE if keeps(LEAST_SCALE) else dp.binary_search(keeps, bounds=(LEAST_SCALE, LARGEST_SCALE))
    return dp.loss_of(rho=measurement(scale).map(1.0))


def selection(dp: Any, loss: Any, n_pairs: int) -> tuple[int, float]:
    """How many pairs MST selects, and the share for measuring them with which that keeps within its part of the budget.

    MST (OpenDP 0.16) divides the budget of its selections by their number and adds the parts up again, rounding upwards
    each time. With many attributes the sum may come out above the whole by the last digit, and OpenDP then refuses
    after it has measured the single attributes. Whether it does depends on the budget and the number alone, so both are
    chosen before anything of the table is looked at: of 8, 16 or 28 pairs, with which often no share helps, the last
    one, which tells least, is left out.
    """
    measure, whole = loss
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)

    def prior(value: float) -> float:
        return float(np.nextafter(value, -np.inf))

    left = prior(prior(whole - whole * 0.5))
    for n_selected in (n_pairs, n_pairs - 1):
        for step in range(MOST_SPLITS):
            share = MEASURED - step * SPLIT_STEP
            selecting = prior(prior(left - left * share))
            parts = [prior(selecting / n_selected)] * n_selected
            if dp.c.make_adaptive_composition(*space, measure, d_in=1.0, d_mids=parts).map(1.0) <= selecting:
                return n_selected, share
    raise ValueError("no share of the budget for selecting pairs adds up")


def synthesized(
    cells: npt.NDArray[np.int32],
    sizes: list[int],
    epsilon: float,
    delta: float,
    contributions: int,
    answers: Answers,
) -> npt.NDArray[np.int32]:
    """A table of cells, int32 (rows, attributes), whose number of rows is noisy too; every size is at least 2.

    Raises OpenDP's errors.
    """
    import opendp.prelude as dp
    import polars as pl
    from mbi.estimation import mirror_descent
    from opendp.extras.mbi import MST

    dp.enable_features("contrib")
    answers.tell(share=0.0, text="Counting with noise")

    def fitted(domain: Any, counts: Any, *, potentials: Any = None) -> Any:
        answers.begins_fit()
        model = mirror_descent(domain, counts, potentials=potentials, iters=ITERATIONS, callback_fn=answers.iterated)
        answers.fitted()
        return model

    loss = budget(dp, epsilon, delta)
    n_selected, share = selection(dp, loss, len(sizes) - 1)
    names = [f"attribute {number}" for number in range(len(sizes))]
    frame = pl.DataFrame({name: cells[:, number] for number, name in enumerate(names)})
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=loss,
        split_evenly_over=1,
    )
    # A cut after every cell but the last makes each cell a bin of its own, so no budget goes into finding them, and
    # none is kept for missing cells, which have a cell of their own where there are any.
    query = context.query().contingency_table(
        cuts={name: list(range(size - 1)) for name, size in zip(names, sizes, strict=True)},
        algorithm=MST(estimator=fitted, measure_split=share, num_selections=n_selected),
    )
    table = query.release().synthesize()
    answers.tell(share=1.0, text="Drawing rows")
    return np.stack([table[name].to_numpy() for name in names], axis=1).astype(np.int32)


def main() -> None:
    """Do one order."""
    # JAX compiles a thousand small functions, each of which runs once or for a moment: quickly is better than well.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    orders, stream = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not come between the answers.
    os.dup2(2, 1)
    order = json.loads(orders.readline())
    cells = np.load(io.BytesIO(orders.read()), allow_pickle=False)
    answers = Answers(stream)
    answers.tell(share=0.0, text="Loading OpenDP")
    try:
        made = synthesized(cells, answers=answers, **order)
    except Exception as error:
        answers.tell(problem=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}")
        return
    content = io.BytesIO()
    np.save(content, made, allow_pickle=False)
    answers.tell(table=len(content.getvalue()))
    stream.write(content.getvalue())
    stream.flush()


if __name__ == "__main__":
    main()

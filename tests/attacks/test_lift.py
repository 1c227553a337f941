"""The chance of a right guess by hand: ties count as equally likely, whatever the size of the beliefs."""

from __future__ import annotations

import numpy as np
import pytest

from anoncore.attacks.lift import interval_of_mean, right_guesses


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-15])
def test_the_likeliest_value_is_guessed_whatever_the_size_of_the_beliefs(scale: float) -> None:
    belief = scale * np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.4, 0.4 * (1 + 1e-14), 0.2]])
    assert right_guesses(belief, np.array([0, 0, 0])).tolist() == [1.0, 0.5, 0.5]
    assert right_guesses(belief, np.array([1, 2, 1])).tolist() == [0.0, 0.0, 0.5]


def test_one_group_says_nothing_about_others() -> None:
    assert interval_of_mean(np.array([0.1, 0.2]), np.array([4, 4])) == (-1.0, 1.0)

"""Seeds that are filled in where a method draws at random, also in a method inside another one."""

from anoncore.algorithms import Anatomy, Mondrian, StackAndDeal, Suppression
from anoncore.requirements import KAnonymity
from anoncore.search.candidates import is_drawn_from, seeded


def test_an_algorithm_is_drawn_from_the_same_one_without_its_seed() -> None:
    wanted = Suppression(method=StackAndDeal(k=4), max_suppression=0.05)
    assert is_drawn_from(seeded(wanted, 7), wanted)
    assert is_drawn_from(wanted, wanted)
    assert not is_drawn_from(wanted, seeded(wanted, 7)), "a seed that was asked for must be there"
    assert not is_drawn_from(seeded(wanted, 8), seeded(wanted, 7))
    assert not is_drawn_from(seeded(wanted.replace(max_suppression=0.1), 7), wanted)
    assert not is_drawn_from(StackAndDeal(k=4, seed=7), wanted)


def test_methods_that_draw_nothing_are_compared_as_they_are() -> None:
    wanted = Mondrian(requirements=[KAnonymity(k=3)])
    assert is_drawn_from(Mondrian(requirements=[KAnonymity(k=3)]), wanted)
    assert not is_drawn_from(Mondrian(requirements=[KAnonymity(k=4)]), wanted)
    assert not is_drawn_from(Anatomy(l=3, seed=1), wanted)

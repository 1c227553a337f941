"""What stays is set aside from the collector, and what became garbage meanwhile is found again."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

from dashboard.serving import quotas
from dashboard.tasks import warmup


class Knot:
    """Holds itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def nothing_set_aside() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
def test_what_stays_is_set_aside_and_garbage_is_not() -> None:
    kept, dropped = Knot(), Knot()
    watched = [weakref.ref(kept), weakref.ref(dropped)]
    del dropped
    quotas.set_aside()
    assert [one() for one in watched] == [kept, None]
    assert gc.get_freeze_count() > 10_000
    assert not any(one is kept for one in gc.get_objects())


@pytest.mark.slow
@pytest.mark.parametrize("collect", [quotas.set_aside, quotas.give_back])
def test_what_became_garbage_after_it_was_set_aside_is_collected(collect: object) -> None:
    knot = Knot()
    watched = weakref.ref(knot)
    quotas.set_aside()
    del knot
    gc.collect()
    assert watched() is not None, "it was not set aside"
    assert callable(collect)
    collect()
    assert watched() is None


@pytest.mark.slow
def test_everything_is_set_aside_once_all_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Knot] = []
    monkeypatch.setattr(warmup, "_drawn", threading.Event())
    monkeypatch.setattr(warmup.compiled_code, "load_compiler", lambda: loaded.append(Knot()))
    for modules in ("FIRST_MODULES", "LATER_MODULES"):
        monkeypatch.setattr(warmup, modules, ())
    warmup.set_drawn()
    warmup.load_modules()
    assert len(loaded) == 1
    assert not any(isinstance(one, Knot) for one in gc.get_objects())

"""Getting ready happens once, in the background, and never fails loudly."""

from __future__ import annotations

import logging

import pytest

from anoncore.algorithms import ALGORITHMS
from dashboard import warmup
from dashboard.first_method import first_method


def test_it_starts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr(warmup, "_thread", None)
    monkeypatch.setattr(warmup, "_warm_up", lambda: started.append(1))
    thread = warmup.start()
    assert warmup.start() is thread
    assert thread.daemon
    thread.join(10)
    assert started == [1]


def test_the_first_method_is_ready_first() -> None:
    names: list[str] = []
    warmup._warm_up(names.extend)
    assert names[0] == first_method()
    assert sorted(names) == sorted(ALGORITHMS)


def test_a_failure_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(names: list[str]) -> None:
        raise RuntimeError("no compiler")

    with caplog.at_level(logging.ERROR):
        warmup._warm_up(broken)
    assert "The warm-up failed" in caplog.text
    assert warmup.is_ready(), "nobody is told to wait for what will not come"


def test_the_first_method_is_anonymized_for_real(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=warmup.__name__):
        warmup._run([first_method()])
    assert "was not warmed up" not in caplog.text

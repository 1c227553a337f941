"""Getting ready happens once, in the background, and never fails loudly."""

from __future__ import annotations

import logging

import pytest

from anoncore.algorithms import ALGORITHMS
from dashboard import warmup
from dashboard.runner import first_method


def test_it_starts_once_and_finishes() -> None:
    thread = warmup.start()
    assert warmup.start() is thread
    assert thread.daemon
    assert warmup._ready.wait(180)
    assert warmup.is_ready()


def test_the_first_method_is_ready_first(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr(warmup, "_run", names.extend)
    warmup._warm_up()
    assert names[0] == first_method()
    assert sorted(names) == sorted(ALGORITHMS)


def test_a_failure_is_only_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(names: list[str]) -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(warmup, "_run", broken)
    with caplog.at_level(logging.ERROR):
        warmup._warm_up()
    assert "The warm-up failed" in caplog.text
    assert warmup.is_ready(), "nobody is told to wait for what will not come"


def test_the_first_method_is_anonymized_for_real(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=warmup.__name__):
        warmup._run([first_method()])
    assert "was not warmed up" not in caplog.text

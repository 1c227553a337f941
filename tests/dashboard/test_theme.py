"""The colours of the settings: captions, which Streamlit draws in the text colour at 60 %, can be read."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
FADED = 0.6
"""How much of the text colour there is in a caption; the rest is the background."""
LEAST = 4.5
"""Least contrast of small text (Web Content Accessibility Guidelines 2.2, 1.4.3)."""


def _channels(colour: str) -> list[float]:
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def _luminance(channels: list[float]) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("background", ["backgroundColor", "secondaryBackgroundColor"])
def test_captions_have_contrast_enough(theme: str, background: str) -> None:
    colours = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    text, below = _channels(colours["textColor"]), _channels(colours[background])
    faded = [FADED * one + (1 - FADED) * other for one, other in zip(text, below, strict=True)]
    darker, lighter = sorted((_luminance(faded), _luminance(below)))
    assert (lighter + 0.05) / (darker + 0.05) >= LEAST

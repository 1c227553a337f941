"""The drawing of the rooms of anoncore, made from the list of layers that the contract test holds."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = ROOT / "tests" / "contracts" / "test_layering.py"

ABOUT: Mapping[str, str] = {
    "dashboard": "the pages in the browser; a program of its own on top of anoncore",
    "cli": "the commands of anoncore",
    "front": "the two calls that most people need, the estimator, dossiers, policies, and compiling beforehand",
    "publishing": "tables as files, certificates and their check, reports",
    "search": "many releases at once: sweeps, targets, the choice of k",
    "recipes": "everything that makes a release again, as a file",
    "engines": "large tables on disk and on Spark: reading and writing rows",
    "measures": "every number: its name, title, unit, direction and meaning",
    "algorithms": "the methods that turn a table into a release",
    "utility": "what a release costs",
    "attacks": "what an adversary gets",
    "privacy": "what a release protects",
    "requirements": "conditions on groups: k-anonymity, l-diversity, t-closeness",
    "release": "fragments, partitions, recodings: what every method publishes",
    "sources": "one reader for files, folders and databases",
    "datasets": "built-in tables",
    "table": "a table of people: roles, values with codes, hierarchies",
    "kernels": "compiled inner loops on arrays",
    "base": "errors, checked models, progress: used by all, using nobody",
}
"""One line on each room, for people who do not know the code."""

ROW, GAP, BOX, WIDTH = 30, 8, 124, 700


def layers() -> tuple[tuple[str, ...], ...]:
    """The rooms from the top layer down, as the contract test lists them, below the dashboard."""
    for node in ast.parse(CONTRACT.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS":
            return (("dashboard",), *ast.literal_eval(node.value))
    raise LookupError(f"{CONTRACT.name} holds no list LAYERS.")


def drawing() -> str:
    """The drawing as SVG text; its colours are those of the page, light or dark."""
    parts: list[str] = []
    y = GAP
    for layer in layers():
        height = ROW * len(layer) + GAP
        parts.append(f'<rect class="layer" x="34" y="{y}" width="{WIDTH - 34}" height="{height}" rx="5"/>')
        for place, room in enumerate(layer):
            top = y + GAP // 2 + ROW * place
            middle = top + ROW // 2 + 4
            parts += [
                f'<rect class="room" x="42" y="{top + 3}" width="{BOX}" height="{ROW - 6}" rx="4"/>',
                f'<text class="name" x="{42 + BOX // 2}" y="{middle}" text-anchor="middle">{escape(room)}</text>',
                f'<text x="{42 + BOX + 14}" y="{middle}">{escape(ABOUT[room])}</text>',
            ]
        y += height + GAP
    parts += [
        f'<line class="way" x1="16" y1="{GAP}" x2="16" y2="{y - GAP - 8}"/>',
        f'<path class="head" d="M9 {y - GAP - 12} L23 {y - GAP - 12} L16 {y - GAP} Z"/>',
    ]
    title = "The rooms of anoncore in layers; every room imports only from layers below its own."
    return (
        f'<div class="drawing"><svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg></div>"
    )

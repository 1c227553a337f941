"""Code on pages that is run while the site is built, and what it shows: texts, tables and pictures."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

OUTPUT = "<!-- output -->"
"""Stands on a line of its own behind a block of Python, in the place of what the block shows."""
_BLOCK = re.compile(rf"^```python[^\n]*\n(?P<code>.*?)^```$(?P<shown>\n+{OUTPUT}$)?", re.MULTILINE | re.DOTALL)
_PLACE = "shown-code-{}-of-{}"
PLOTLY = "assets/plotly.min.js"
HEIGHT = 280
"""Pixels of a picture."""


class ShownCode:
    """The outputs of the pages, kept from when their code was run until their text has become HTML."""

    def __init__(self) -> None:
        self._outputs: dict[str, str] = {}

    def run(self, markdown: str, page: str) -> str:
        """The text of a page with a place for each output; all blocks of Python are run from top to bottom."""
        names: dict[str, Any] = {"__name__": "__main__"}
        number = 0

        def ran(block: re.Match[str]) -> str:
            nonlocal number
            shown = _shown(block["code"], names)
            if block["shown"] is None:
                return block[0]
            number += 1
            place = _PLACE.format(number, re.sub(r"\W", "-", page))
            self._outputs[place] = shown
            return f"{block[0].removesuffix(OUTPUT)}<div>{place}</div>"

        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            return _BLOCK.sub(ran, markdown)

    def fill(self, html: str, to_root: str) -> str:
        """The HTML of a page with its outputs."""
        if "<div>shown-code-" not in html:
            return html
        for place, output in self._outputs.items():
            html = html.replace(f"<div>{place}</div>", f'<div class="shown">{output}</div>')
        return f'<script src="{to_root}{PLOTLY}"></script>\n{html}' if "plotly-graph-div" in html else html


def _shown(code: str, names: dict[str, Any]) -> str:
    """What a block shows, as HTML: what it prints, then the value of its last line."""
    lines = ast.parse(code).body
    last = lines.pop() if lines and isinstance(lines[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        exec(compile(ast.Module(lines, []), "<page>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names) if last is not None else None
    text = f"<pre>{escape(printed.getvalue().rstrip())}</pre>" if printed.getvalue().strip() else ""
    return text + ("" if value is None else _displayed(value))


def _displayed(value: Any) -> str:
    """A value as a notebook would show it."""
    if type(value).__module__.startswith("plotly."):
        return _picture(value)
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_()).replace("\n", "")
    return f"<pre>{escape(repr(value))}</pre>"


def _picture(figure: Any) -> str:
    """A picture that is drawn by the reader's browser, without a background of its own."""
    has_legend = figure.layout.showlegend is not False and len(figure.data) > 1
    figure.update_layout(
        height=HEIGHT + 60 * has_legend,
        margin={"l": 50, "r": 10, "t": 40, "b": 40 + 60 * has_legend},
        # Below the picture, because beside it a phone has no room for it.
        legend={"orientation": "h", "x": 0, "yref": "container", "y": 0, "yanchor": "bottom"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 12},
    )
    figure.update_xaxes(gridcolor="rgba(128,128,128,0.3)", zerolinecolor="rgba(128,128,128,0.6)")
    figure.update_yaxes(gridcolor="rgba(128,128,128,0.3)", zerolinecolor="rgba(128,128,128,0.6)")
    settings = {"displayModeBar": False, "responsive": True}
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=settings))


def plotly_file(config: MkDocsConfig) -> File:
    """The program that draws pictures, so that no page fetches it from another host."""
    import plotly

    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return File.generated(config, PLOTLY, abs_src_path=os.fspath(script))


def notebook_pages(config: MkDocsConfig, files: Files) -> list[File]:
    """A page for every notebook: its text, its code, and what the code shows."""
    pages = []
    for file in files:
        if file.src_uri.endswith(".ipynb") and file.abs_src_path is not None:
            path = Path(file.abs_src_path)
            pages.append(File.generated(config, f"{file.src_uri.removesuffix('.ipynb')}.md", content=_page(path)))
    return pages


def _page(path: Path) -> str:
    title, *cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = ["".join(title["source"]), f"[Download the notebook]({path.name})"]
    for cell in cells:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```\n\n{OUTPUT}")
    return "\n\n".join(parts) + "\n"

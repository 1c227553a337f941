"""The page of results: chapters that several benchmarks write, each its own."""

from __future__ import annotations

import re
from pathlib import Path


def write_chapter(page: Path, text: str) -> None:
    """Put a chapter, whose first line is its heading `# ...`, on the page in place of the one with that heading."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    chapters = [chapter.strip() for chapter in re.split(r"^(?=# )", old, flags=re.MULTILINE) if chapter.strip()]
    headings = [chapter.partition("\n")[0] for chapter in chapters]
    heading = text.partition("\n")[0]
    if heading in headings:
        chapters[headings.index(heading)] = text.strip()
    else:
        chapters.append(text.strip())
    page.write_text("\n\n".join(chapters) + "\n", encoding="utf-8")

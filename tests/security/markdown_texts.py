"""What a page says where Markdown is read, and what would become a link, an image or a formula there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped]
from google.protobuf.message import Message  # type: ignore[import-untyped]

PLAIN = {
    "id",
    "element_id",
    "widget_id",
    "form_id",
    "key",
    "alt",
    "placeholder",
    "default",
    "value",
    "url",
    "spec",
    "query_string",
    "url_path",
    "page_script_hash",
    "script_hash",
    "file_name",
    "data",
    "script_path",
    "anchor",
    "raw_text_value",
    "fragment_id",
    "session_id",
    "aria_label",
}
"""Fields of what Streamlit sends that no Markdown is read from."""
PLAIN_OF = {
    ("Selectbox", "options"),
    ("Selectbox", "raw_value"),
    ("MultiSelect", "options"),
    ("Slider", "options"),
    ("BidiComponent", "json"),
    ("BidiComponent", "js_content"),
    ("Code", "code_text"),
}
"""The same of one kind of element."""
LINK = re.compile(r"!?\[[^\]]*\]\(")
ADDRESS = re.compile(r"(?:https?://|www\.)[-.\w]*evil|[-.\w+]+@[-\w]*evil", re.IGNORECASE)
"""What a reader of GitHub's Markdown makes a link of, also after backslashes are gone."""
DIRECTIVE = re.compile(r":[a-z]+\[x\]|:material/add:|:streamlit:|\$x\^2\$")


def texts(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of what is sent for a page that Markdown may be read from, and where it stands."""
    kind = message.DESCRIPTOR.name
    if kind in ("Dataframe", "Arrow", "ArrowDataFrame"):
        # Its cells and names are drawn as text; what the heads say on asking is Markdown.
        heads = json.loads(message.columns or "{}") if hasattr(message, "columns") else {}
        yield from ((f"{path}/{kind}.help", str(head["help"])) for head in heads.values() if head and head.get("help"))
        return
    for field, value in message.ListFields():
        if field.name in PLAIN or (kind, field.name) in PLAIN_OF:
            continue
        place = f"{path}/{kind}.{field.name}"
        values: Any = value if field.is_repeated else [value]
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if field.message_type.GetOptions().map_entry:
                continue
            for one in values:
                yield from texts(one, place)
        elif field.type == FieldDescriptor.TYPE_STRING:
            yield from ((place, one) for one in values)


def made(text: str) -> str:
    """What Markdown would make of a text: empty where only text."""
    without = re.sub(r"\\(.)", "\x01", text)
    if found := LINK.search(without):
        return f"a link or image: {found[0]}"
    if found := DIRECTIVE.search(without):
        return f"a directive: {found[0]}"
    if found := ADDRESS.search(re.sub(r"\\(.)", r"\1", text)):
        return f"an address: {found[0]}"
    return ""

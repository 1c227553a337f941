"""Parts of a page that are drawn again alone: what the browser is sent of a page when such a part begins anew."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest, local_script_runner

from tests.dashboard.sent import cannot_be_drawn, sent_when_a_part_begins_anew


@pytest.fixture(autouse=True)
def can_be_drawn() -> None:
    """What a browser could not draw is looked at here."""


def _messages(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ForwardMsg]:
    """What the browser is sent of a page with this program."""
    kept: list[ForwardMsg] = []
    parse = local_script_runner.parse_tree_from_messages

    def note(messages: list[ForwardMsg]) -> object:
        kept[:] = messages
        return parse(messages)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", note)
    file = tmp_path / "page.py"
    file.write_text(page, "utf-8")
    shown = AppTest.from_file(file).run()
    assert not shown.exception
    return kept


OWN = """
import streamlit as st
from dashboard.tasks import redrawing

@redrawing.part(0.5)
def watch():
    st.write("what it says")

st.write("above")
watch()
st.write("below")
"""


def test_a_page_can_be_drawn_whose_part_begins_anew_before_it_was_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    messages = _messages(OWN, monkeypatch, tmp_path)
    (part,) = {message.auto_rerun.fragment_id for message in messages if message.HasField("auto_rerun")}
    left = sent_when_a_part_begins_anew(messages, part)
    assert len(left) < len(messages)
    assert not cannot_be_drawn(left)


def test_without_a_container_the_page_below_such_a_part_cannot_be_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bare = OWN.replace("@redrawing.part(0.5)", "@st.fragment(run_every=0.5)")
    messages = _messages(bare, monkeypatch, tmp_path)
    (part,) = {message.auto_rerun.fragment_id for message in messages if message.HasField("auto_rerun")}
    assert cannot_be_drawn(sent_when_a_part_begins_anew(messages, part)) == [0, 2]


def test_what_is_left_is_what_streamlit_leaves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    messages = _messages(OWN, monkeypatch, tmp_path)
    (part,) = {message.auto_rerun.fragment_id for message in messages if message.HasField("auto_rerun")}
    queue = ForwardMsgQueue()
    for message in messages:
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[part])

    def paths(sent: Iterable[ForwardMsg]) -> list[list[int]]:
        return [list(one.metadata.delta_path) for one in sent if one.HasField("delta")]

    assert paths(queue.flush()) == paths(sent_when_a_part_begins_anew(messages, part))


STEP_BACK = """
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from dashboard.tasks import redrawing

@st.cache_resource
def drawn():
    return []

context = get_script_run_ctx()
drawn().append((context.query_string, context.is_history_navigation))

@redrawing.part()
def watch():
    # The visitor goes back while the part is drawn that has news for the whole page.
    asked = RerunData(query_string="step=5", page_script_hash=context.page_script_hash, is_history_navigation=True)
    context.script_requests.request_rerun(asked)
    redrawing.draw_page()

if len(drawn()) == 1:
    watch()
st.write(str(drawn()))
"""


def test_a_step_back_while_a_part_has_the_page_drawn_anew_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text(STEP_BACK, "utf-8")
    shown = AppTest.from_file(file).run()
    assert not shown.exception
    assert shown.markdown[0].value.endswith("('step=5', True)]")

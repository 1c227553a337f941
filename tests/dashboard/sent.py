"""What the browser is sent of a page, and whether it can draw that."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

Places = dict[int, "Places"]


def sent_when_a_part_begins_anew(messages: Sequence[ForwardMsg], part: str) -> list[ForwardMsg]:
    """What is left of a page that was not sent yet when a part of it is drawn again: all but what the part drew."""
    return [one for one in messages if not (one.HasField("delta") and one.delta.fragment_id == part)]


def cannot_be_drawn(messages: Sequence[ForwardMsg]) -> list[int]:
    """The first place (a path of indices) at which the browser would fail; empty if it can draw all.

    A new element can follow those that are there, or take the place of one; what it lies in must be there.
    """
    root: Places = {place: {} for place in range(4)}
    for message in messages:
        if not message.HasField("delta"):
            continue
        path = list(message.metadata.delta_path)
        here = root
        for place in path[:-1]:
            if place not in here:
                return path
            here = here[place]
        if path[-1] > len(here):
            return path
        here.setdefault(path[-1], {})
    return []


def parts_that_redraw(messages: Sequence[ForwardMsg]) -> set[str]:
    """The parts of a page that are drawn again by themselves, and those in which no other part lies."""
    paths = {
        part: [
            list(one.metadata.delta_path) for one in messages if one.HasField("delta") and one.delta.fragment_id == part
        ]
        for part in {one.delta.fragment_id for one in messages if one.HasField("delta")} - {""}
    }
    outer = {
        part
        for part, own in paths.items()
        for other, others in paths.items()
        if other != part and any(path[: len(own[0])] == own[0] for path in others)
    }
    timed = {one.auto_rerun.fragment_id for one in messages if one.HasField("auto_rerun")}
    return (timed & set(paths)) | (set(paths) - outer)

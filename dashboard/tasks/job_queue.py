"""Whose turn it is to compute: a few places for all visitors, handed out in turn to visitors, not to jobs.

Somebody who starts ten jobs waits behind their own jobs only. A job that can pause gives its place back after a while
when others wait, so that a sweep of minutes does not hold up a run of a second. Where all places are held by jobs that
cannot, whoever computes nothing yet gets one more: the processors are then shared by the system.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable


class Ticket:
    """One job's claim to a place. `owner` tells visitors apart; `can_pause`: it gives its place back when it pauses."""

    def __init__(self, owner: str, begin: Callable[[], None], can_pause: bool = False) -> None:
        self.owner, self.can_pause = owner, can_pause
        self.begin = begin
        self.has_begun = False
        self.has_turn = False
        self.left = False
        self.since = 0.0


class JobQueue:
    """At most `places` tickets have their turn at a time; the others wait, each owner in a line of their own.

    Up to `most` have it where those that have it cannot pause and belong to others.
    """

    def __init__(self, places: int, slice_seconds: float, most: int = 0) -> None:
        self.places, self.slice_seconds, self.most = places, slice_seconds, max(places, most)
        self._changed = threading.Condition()
        self._lines: OrderedDict[str, deque[Ticket]] = OrderedDict()
        self._running: set[Ticket] = set()

    def enter(self, ticket: Ticket) -> None:
        """Wait for a turn; `begin` is called, perhaps at once, when the first one comes."""
        with self._changed:
            self._line_up(ticket)
            begun = self._hand_out()
        for one in begun:
            one.begin()

    def leave(self, ticket: Ticket) -> None:
        """Give the place, or the claim to one, back; leaving twice does nothing."""
        with self._changed:
            if ticket.left:
                return
            ticket.left = True
            if ticket.has_turn:
                self._take_back(ticket)
            else:
                self._drop(ticket)
            begun = self._hand_out()
        for one in begun:
            one.begin()

    def pause(self, ticket: Ticket) -> None:
        """After its share of time let others go first, if any wait; returns with a turn, or once the ticket left.

        A job with several threads may call it from all of them.
        """
        begun: list[Ticket] = []
        with self._changed:
            is_due = ticket.has_turn and time.monotonic() - ticket.since >= self.slice_seconds
            if is_due and self._lines:
                self._take_back(ticket)
                # The place goes to those who wait; only then does this ticket line up behind them.
                begun = self._hand_out()
                self._line_up(ticket)
                begun += self._hand_out()
        for one in begun:
            one.begin()
        with self._changed:
            self._changed.wait_for(lambda: ticket.has_turn or ticket.left)

    def place(self, ticket: Ticket) -> int:
        """How many turns are handed out until this ticket has one, itself included; 0 if it does not wait."""
        with self._changed:
            lines = [list(line) for line in self._lines.values()]
        before = 0
        while any(lines):
            for line in lines:
                if line:
                    before += 1
                    if line.pop(0) is ticket:
                        return before
        return 0

    def waiting(self, owner: str | None = None) -> int:
        """How many tickets wait, of one owner or of all."""
        with self._changed:
            return sum(len(line) for name, line in self._lines.items() if owner in (None, name))

    def _line_up(self, ticket: Ticket) -> None:
        self._lines.setdefault(ticket.owner, deque()).append(ticket)

    def _drop(self, ticket: Ticket) -> None:
        line = self._lines.get(ticket.owner)
        if line is not None and ticket in line:
            line.remove(ticket)
            if not line:
                del self._lines[ticket.owner]

    def _take_back(self, ticket: Ticket) -> None:
        ticket.has_turn = False
        self._running.discard(ticket)

    def _next_owner(self) -> str | None:
        """Whose turn it is: the first in line, or one who has no turn while nobody else can give theirs back."""
        if len(self._running) < self.places:
            return next(iter(self._lines), None)
        if len(self._running) >= self.most or any(ticket.can_pause for ticket in self._running):
            return None
        served = {ticket.owner for ticket in self._running}
        return next((owner for owner in self._lines if owner not in served), None)

    def _hand_out(self) -> list[Ticket]:
        """Give free places to the heads of the lines; each owner served goes behind the others."""
        begun: list[Ticket] = []
        while (owner := self._next_owner()) is not None:
            line = self._lines.pop(owner)
            ticket = line.popleft()
            if line:
                self._lines[owner] = line
            ticket.has_turn, ticket.since = True, time.monotonic()
            self._running.add(ticket)
            if not ticket.has_begun:
                ticket.has_begun = True
                begun.append(ticket)
        self._changed.notify_all()
        return begun

"""Writes the replies of a worker to its channel."""
from __future__ import annotations

import os
import time

from ._files import remove, replace_file, write_temporary
from ._hints import Any, Mapping
from ._messages import VERSION, encode, message_file_name, sequences_in

_AT_MOST, _PER_SECOND = 256.0, 2.0
"""How many frequent replies may come at once, and in each second in the long run: each one wakes the agent."""

_STEPS_PER_SECOND = 0.1
"""The agent sees steps within a second without them."""


class _Allowance:
    """So many replies at once, and so many a second in the long run."""

    def __init__(self, per_second: float = _PER_SECOND) -> None:
        self._per_second = per_second
        self._left = _AT_MOST
        self._counted_at = time.monotonic()

    def take_one(self) -> bool:
        """Takes one, if one is left; returns whether it was."""
        now = time.monotonic()
        grown = self._left + (now - self._counted_at) * self._per_second
        self._left, self._counted_at = min(_AT_MOST, grown), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class ReplyWriter:
    """Writes what a worker says. A worker may be several processes and threads that all speak for it:
    a number is taken by a hard link, which never replaces a file, so that none of them can overwrite
    another's reply.

    Of steps that come faster than the agent wants to hear of them the newest is in a file that each
    one replaces, and of such errors it is told the first."""

    def __init__(self, directory: str) -> None:
        self._replies = os.path.join(directory, "replies")
        self._progress = os.path.join(directory, "progress.json")
        self._temporary = os.path.join(directory, "tmp")
        self._next = 1
        self._frequent = {"PROGRESS": _Allowance(_STEPS_PER_SECOND), "ERROR": _Allowance()}
        # Fast steps must not hide the begin or the end of what was announced.
        self._announcements = _Allowance()
        self._is_busy = False

    def write(self, reply: Mapping[str, Any], timestamp: int) -> bool:
        """Returns whether it was written: errors that come too fast are not. `timestamp`: milliseconds
        since 1970. Raises ChannelError above 1 MiB, TypeError on what is no JSON, and OSError where
        the disk does not take it."""
        kind: str = reply["kind"]
        if self._is_too_frequent(reply, kind):
            if kind == "PROGRESS":
                self._replace_progress(reply, timestamp)
            return kind == "PROGRESS"
        while not self._claim(self._next, reply, timestamp):
            taken = sequences_in(os.listdir(self._replies))
            self._next = max([self._next, *taken[-1:]]) + 1
        self._next += 1
        return True

    def _is_too_frequent(self, reply: Mapping[str, Any], kind: str) -> bool:
        if kind not in self._frequent:
            return False
        was_busy = self._is_busy
        if kind == "PROGRESS":
            self._is_busy = "busy" in reply
        if (was_busy or self._is_busy) and self._announcements.take_one():
            return False
        return not self._frequent[kind].take_one()

    def _replace_progress(self, reply: Mapping[str, Any], timestamp: int) -> None:
        replace_file(self._progress, self._write(self._next, reply, timestamp))

    def _write(self, sequence: int, reply: Mapping[str, Any], timestamp: int) -> str:
        """The path of a temporary file with this reply."""
        envelope = {"version": VERSION, "sequence": sequence, "timestamp": timestamp}
        text = encode({**reply, **envelope}, f"reply {reply['kind']}")
        return write_temporary(self._temporary, text)

    def _claim(self, sequence: int, reply: Mapping[str, Any], timestamp: int) -> bool:
        temporary = self._write(sequence, reply, timestamp)
        try:
            os.link(temporary, os.path.join(self._replies, message_file_name(sequence)))
            return True
        except FileExistsError:
            return False
        finally:
            remove(temporary)

"""Reads the events of a channel from disk."""
from __future__ import annotations

import errno
import os

from . import _process
from ._errors import channel_error, words
from ._events import WorkerEvent
from ._files import identity_at, read_message
from ._hints import Callable, Optional, Union
from ._messages import Notice, decode_event, message_file_name, sequences_in

_ABSENT, _BROKEN, _UNAVAILABLE = "absent", "broken", "unavailable"
"""Why there is no event: no file; a file that never will be one; one that the system does not give us
just now."""


class EventReader:
    """The worker's view of its channel. It takes no notification and keeps no handle: each call looks
    at the disk. A file that cannot be read as an event is skipped, and `warn` is told why."""

    def __init__(self, directory: str, warn: Callable[[str], None]) -> None:
        self.events = os.path.join(directory, "events")
        self._directory = directory
        self._latest = os.path.join(directory, "latest.json")
        self._warn = warn
        self._latest_identity: Optional[tuple[int, ...]] = None
        self._newest: Optional[WorkerEvent] = None
        self._notice: Optional[Notice] = None
        self._last = 0  # Of events of any kind that were read.
        self._following = ""

    def notice(self) -> Optional[Notice]:
        """The newest notice, if there was any; costs and raises what `newest` does."""
        self.newest()
        return self._notice

    def newest(self) -> WorkerEvent:
        """The newest event that is no notice: two looks at the disk where nothing has changed. Once an event was seen,
        never an older one. Raises ChannelError where there is none at all."""
        # A thread that asks all the time must not keep the lock from others.
        newest = self._newest
        identity = identity_at(self._latest)
        if newest is None or identity != self._latest_identity or self._may_have_more(identity):
            with _process.lock:
                return self._look(identity)
        return newest

    def next(self, after: int) -> Union[WorkerEvent, Notice, None]:
        """The event after the one with this sequence, if it is there. Where it has been pruned
        already, `warn` is told and the oldest one that is kept follows. Raises ChannelError where
        the directory is gone."""
        sequence = after + 1
        while True:
            found = self._read_event(sequence)
            if not isinstance(found, str):
                return self._seen(found)
            if found == _UNAVAILABLE:
                return None
            if found == _BROKEN:
                sequence += 1
                continue
            # Events appear in order and the oldest are removed first: where a later one is listed,
            # this one has appeared, and may be gone again.
            later = self._sequences_after(sequence - 1)
            if not later:
                return None
            if later[0] > sequence and not os.access(self._event_path(sequence), os.F_OK):
                self._warn(
                    f"Events {sequence} to {later[0] - 1} of {self._directory} were removed before"
                    " this process read them: it fell too far behind."
                )
                sequence = later[0]

    def _look(self, identity: Optional[tuple[int, ...]]) -> WorkerEvent:
        if identity != self._latest_identity:
            self._read_latest(identity)
        if self._newest is None:
            self._read_all_kept()
        elif self._may_have_more(identity):
            self._follow()
        if self._newest is None:
            raise channel_error(self._directory, "it holds no event")
        return self._newest

    def _may_have_more(self, identity: Optional[tuple[int, ...]]) -> bool:
        """What was seen stays true where the whole channel is gone."""
        return os.access(self.events if identity is None else self._following, os.F_OK)

    def _read_latest(self, identity: Optional[tuple[int, ...]]) -> None:
        found = self._read(self._latest)
        if found == _UNAVAILABLE:
            return
        if isinstance(found, str):
            self._latest_identity = identity
        else:
            event, identity = found
            self._seen(event)
            # Last: who sees the one must see the other.
            self._latest_identity = identity

    def _follow(self) -> None:
        """An event file gets its name before latest.json is replaced, and the agent may die between
        the two."""
        while self.next(self._last) is not None:
            pass

    def _read_all_kept(self) -> None:
        for sequence in self._sequences_after(0):
            event = self._read_event(sequence)
            if not isinstance(event, str):
                self._seen(event)

    def _seen(self, event: Union[WorkerEvent, Notice]) -> Union[WorkerEvent, Notice]:
        if isinstance(event, Notice):
            notice: Optional[Notice] = event
        else:
            notice = event.__dict__.get("_notice")
            if self._newest is None or event.sequence > self._newest.sequence:
                self._newest = event
        if notice is not None and (self._notice is None or notice.sequence > self._notice.sequence):
            self._notice = notice
        # Between the newest event and a later notice beside it there are only notices.
        last = max(event.sequence, 0 if notice is None else notice.sequence)
        if last > self._last:
            self._last = last
            self._following = self._event_path(last + 1)
        return event

    def _read_event(self, sequence: int) -> Union[WorkerEvent, Notice, str]:
        path = self._event_path(sequence)
        found = self._read(path)
        if isinstance(found, str):
            return found
        event, _identity = found
        if event.sequence == sequence:
            return event
        self._warn(f"{path} holds event {event.sequence}; it is skipped.")
        return _BROKEN

    def _read(
        self, path: str
    ) -> Union[tuple[Union[WorkerEvent, Notice], tuple[int, ...]], str]:
        """The event, and the identity of the very file that it was read from; or why there is none."""
        try:
            text, identity = read_message(path)
            return decode_event(text), identity
        except FileNotFoundError:
            return _ABSENT
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._warn(f"{path} cannot be read as an event: {words(error)}.")
            # An error of the system's own (no descriptors left, say) may pass; a link stays one.
            may_pass = isinstance(error, OSError) and error.errno != errno.ELOOP
            return _UNAVAILABLE if may_pass else _BROKEN

    def _sequences_after(self, after: int) -> list[int]:
        try:
            names = os.listdir(self.events)
        except FileNotFoundError as error:
            raise channel_error(
                self._directory, "it is gone: its agent has ended or was killed"
            ) from error
        return [sequence for sequence in sequences_in(names) if sequence > after]

    def _event_path(self, sequence: int) -> str:
        return os.path.join(self.events, message_file_name(sequence))

"""What this process has received and said, and its place in the world."""
from __future__ import annotations

import os

from . import _process
from ._channel import Channel, SingleEvent, event_from_variables, open_channel, source_if_launched, speak
from ._events import Preemption, WorkerEvent, WorkerInfo, make_dataclasses
from ._hints import TYPE_CHECKING, Any, Mapping, Optional, Union
from ._messages import Notice
from ._process import channel_directory, wall_time_ms

if TYPE_CHECKING:
    from ._watch import Watch

_session: Optional[Session] = None


def get_worker_info() -> WorkerInfo:
    """This worker's place in the world of the newest round: from disk, without waiting; some
    microseconds where nothing has changed. While the worker is to pause, that of the round that is
    being left: ask again until the round is a later one. It acknowledges the event that it reads, also
    a PAUSE: call it when the worker has left its round, or will before it meets the others again.

    Raises NotLaunchedError outside of a launcher, ChannelError where the channel holds no event.
    """
    return get_worker_event().worker_info


def get_worker_event() -> WorkerEvent:
    """The newest event; otherwise like `get_worker_info`. A worker that has read a PAUSE must leave its
    round, and may ask until the worker state is HEALTHY again. There is an event before the worker's
    first statement."""
    session = _session or open_session()
    event = session.newest()
    session.show(event)
    session.acknowledge(event)
    return event


def acknowledge(event: Union[WorkerEvent, Preemption]) -> None:
    """Says that the worker has received this event and all before it. Of what `preemption` returned:
    that the worker has saved what it wants to keep, and may be ended."""
    if isinstance(event, Preemption):
        sequence = event.__dict__.get("_sequence")
        source = source_if_launched()
        if source is not None and sequence is not None:
            speak(source, {"kind": "ACK", "event": sequence})
        return
    session = session_if_launched()
    if session is not None:
        session.acknowledge(event)


class Session:
    """What this process has received and acknowledged so far. The first call of the library opens it,
    which greets the agent."""

    def __init__(self, source: Union[Channel, SingleEvent]) -> None:
        self.taken_round = 0  # The round that the process works in, as far as this library can know.
        self._source = source
        self._received = 0
        self._acknowledged = 0
        self._settled: Optional[WorkerEvent] = None  # The last that was acknowledged: saves the lock.
        self._speak({"kind": "HELLO"})

    def newest(self) -> WorkerEvent:
        """The newest event on disk, whether received or not."""
        return self._source.newest()

    def next(self, after: int) -> Optional[WorkerEvent]:
        """The event after the one with this sequence that is no notice, if it is there."""
        with _process.lock:
            event = self._source.next(after)
            while isinstance(event, Notice):
                event = self._source.next(event.sequence)
            return event

    def is_last(self, sequence: int) -> bool:
        """Whether no event can come after the one with this sequence."""
        return self._source.is_last(sequence)

    def watch(self) -> Watch:
        """To wait for more with; opens nothing yet."""
        from ._watch import Watch

        return Watch(self._source.events)

    def position_of_unreceived(self) -> int:
        """After which sequence to read on with the first event that the process has not received, at
        first with the newest."""
        return self._received or self.newest().sequence - 1

    def receive(self, event: WorkerEvent) -> None:
        """Notes that the process has this event."""
        with _process.lock:
            self._received = max(self._received, event.sequence)

    def take(self, event: WorkerEvent) -> None:
        """Notes that the process has been given its place in the round of this WORK, and works there
        from now on."""
        self.taken_round = event.round

    def show(self, event: WorkerEvent) -> None:
        """Notes that the process was shown this event. Only the first WORK is one that it takes: later
        ones it may see before it has left its round, and it must not wait for work behind those."""
        if self.taken_round == 0 and event.kind == "WORK":
            self.take(event)

    def acknowledge(self, event: WorkerEvent) -> None:
        """Tells the agent that this event and all before it have been received, unless it knows."""
        if event is self._settled:
            return
        with _process.lock:
            self.receive(event)
            if event.sequence > self._acknowledged:
                self._acknowledged = event.sequence
                self._speak({"kind": "ACK", "event": event.sequence})
            self._settled = event

    def say_waiting(self, round: int, after: int) -> None:
        message = f"waiting for a round after {after}"
        self._speak({"kind": "WAITING", "round": round, "message": message})

    def say_working(self, round: int) -> None:
        self._speak({"kind": "WORKING", "round": round})

    def say_waited(self) -> None:
        self._speak({"kind": "WAITED"})

    def say(self, reply: Mapping[str, Any]) -> None:
        with _process.lock:
            self._source.say(reply)

    def _speak(self, reply: Mapping[str, Any]) -> None:
        with _process.lock:
            speak(self._source, reply)


def open_session() -> Session:
    """What all calls share. Raises NotLaunchedError outside of a launcher."""
    global _session
    with _process.lock:
        if _session is None:
            make_dataclasses()
            directory = channel_directory()
            _session = Session(
                SingleEvent(event_from_variables(os.environ, wall_time_ms()))
                if directory is None
                else open_channel(directory)
            )
        return _session


def session_if_launched() -> Optional[Session]:
    """For calls that only tell something: where nobody listens they do nothing."""
    return None if channel_directory() is None else open_session()


def _forget_session() -> None:
    global _session
    _session = None


_process.at_fork(after_in_child=_forget_session)

"""Where events come from and replies go to: the agent's directory, or the variables of another launcher."""
from __future__ import annotations

from . import _process
from ._errors import not_launched, warn, words
from ._events import WorkerEvent, WorkerInfo, WorkerState, record_of
from ._hints import Any, Mapping, Optional, Union
from ._messages import Notice
from ._process import channel_directory, is_helper, wall_time_ms
from ._reader import EventReader
from ._replies import ReplyWriter

_source: Optional[Channel] = None


class SingleEvent:
    """The source of a process that was started by another launcher: one event, nobody to reply to."""

    events = ""  # No directory to watch: nobody waits for what cannot come.

    def __init__(self, event: WorkerEvent) -> None:
        self._event = event

    def newest(self) -> WorkerEvent:
        return self._event

    def notice(self) -> Optional[Notice]:
        return None

    def next(self, after: int) -> Optional[WorkerEvent]:
        return self._event if after < self._event.sequence else None

    def is_last(self, sequence: int) -> bool:
        return sequence >= self._event.sequence

    def say(self, reply: Mapping[str, Any]) -> None:
        """Nobody listens."""


class Channel:
    """The source of a worker: the directory that its agent made for it."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._writer = ReplyWriter(directory)
        self._reader = EventReader(directory, warn)
        self.events: str = self._reader.events

    def newest(self) -> WorkerEvent:
        return self._reader.newest()

    def notice(self) -> Optional[Notice]:
        return self._reader.notice()

    def next(self, after: int) -> Union[WorkerEvent, Notice, None]:
        return self._reader.next(after)

    def is_last(self, sequence: int) -> bool:
        return False

    def say(self, reply: Mapping[str, Any]) -> None:
        """A reply that the disk does not take is no reason for the user's training to fail; one that
        is too large or no JSON is the caller's error."""
        try:
            if not self._writer.write(reply, wall_time_ms()):
                warn(
                    "This process reports errors faster than its agent accepts them; the error file"
                    " has the last one."
                )
        except OSError as error:
            warn(
                f"The agent cannot be told {reply['kind']} through {self._directory}:"
                f" {words(error)}"
            )


def speak(source: Union[Channel, SingleEvent], reply: Mapping[str, Any]) -> None:
    """Says what only the worker itself may say, none of its helpers."""
    if not is_helper():
        with _process.lock:
            source.say(reply)


def source_if_launched() -> Optional[Channel]:
    """For calls that a worker may make without following its rounds."""
    directory = channel_directory()
    return None if directory is None else open_channel(directory)


def open_channel(directory: str) -> Channel:
    global _source
    with _process.lock:
        if _source is None:
            _source = Channel(directory)
        return _source


def event_from_variables(variables: Mapping[str, str], timestamp: int) -> WorkerEvent:
    """The only event of a process that another launcher has started with torchrun's variables. RANK and
    WORLD_SIZE must be there; for the rest, one process on each node is assumed. `timestamp`:
    milliseconds since 1970. Raises NotLaunchedError where a variable is missing or no whole number."""

    def integer(name: str, otherwise: Optional[int] = None) -> int:
        return _integer_of(variables, name, otherwise)

    rank = integer("RANK")
    world_size = integer("WORLD_SIZE")
    restart_count = integer("TORCHELASTIC_RESTART_COUNT", 0)
    info = {
        "local_rank": integer("LOCAL_RANK", 0),
        "role_rank": integer("ROLE_RANK", rank),
        "rank": rank,
        "local_world_size": integer("LOCAL_WORLD_SIZE", 1),
        "role_world_size": integer("ROLE_WORLD_SIZE", world_size),
        "world_size": world_size,
        "group_rank": integer("GROUP_RANK", rank),
        "group_world_size": integer("GROUP_WORLD_SIZE", world_size),
        "role": variables.get("ROLE_NAME", "default"),
        "master_addr": variables.get("MASTER_ADDR", "127.0.0.1"),
        "master_port": integer("MASTER_PORT", 29500),
        "round": restart_count + 1,
        "restart_count": restart_count,
        "run_id": variables.get("TORCHELASTIC_RUN_ID", "none"),
    }
    event = {
        "sequence": 1,
        "timestamp": timestamp,
        "kind": "WORK",
        "worker_state": WorkerState.HEALTHY,
        "change_event": None,
        "instance": 0,
        "round": restart_count + 1,
        "reason": "started by another launcher",
        "worker_info": record_of(WorkerInfo, info),
    }
    return record_of(WorkerEvent, event)


def _integer_of(variables: Mapping[str, str], name: str, otherwise: Optional[int]) -> int:
    text = variables.get(name, "")
    if text.isascii() and text.isdigit():
        return int(text)
    if text != "":
        not_launched(f'{name} is "{text}", which is not a whole number')
    if otherwise is None:
        not_launched(f"{name} is not set, and neither is ELASTIC_RUN_CHANNEL")
    return otherwise


def _forget_source() -> None:
    global _source
    _source = None


_process.at_fork(after_in_child=_forget_source)

"""The runtime library of elastic-run for Python: how a worker learns of its place in the world and
of the rounds to come, and tells its agent how it is doing.

    import elastic_run

    info = elastic_run.get_worker_info()
    print(f"worker {info.rank} of {info.world_size}")
    elastic_run.report_progress(step=1, loss=0.5)

One file, which needs nothing but Python >= 3.9 and opens nothing until it is called. It may be
called from any thread and from signal handlers. No thread of its own keeps the process alive.

Processes that inherit ELASTIC_RUN_CHANNEL are part of the worker: what one of them receives or
reports counts as the worker's. Helpers do not: a process that was forked, or that multiprocessing
has started (a data loader), reads and may report, but neither greets the agent nor acknowledges.

A process that another launcher has started with torchrun's variables gets its place from these, as
one event after which no other comes.
"""
from __future__ import annotations

import enum
import errno
import os
import stat
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
    from typing import Any, Callable, Iterator, Mapping, NoReturn, Optional, TypeVar, Union

    F = TypeVar("F", bound=Callable[..., Any])
    R = TypeVar("R")
else:

    class _Typing:
        """Stands for a name of typing, whose import takes longer than that of all this file needs: for who
        asks for the types of what this file exports (typing.get_type_hints)."""

        def __init__(self, name):
            self._name = name

        def __getitem__(self, item):
            import typing

            return getattr(typing, self._name)[item]

        def __call__(self, *_arguments):
            raise TypeError(f"{self._name} is a type variable")

        def __repr__(self):
            return f"~{self._name}"

    Callable, Iterator, Optional, Union = (
        _Typing(name) for name in ("Callable", "Iterator", "Optional", "Union")
    )
    F = _Typing("F")

    def dataclass(**_options):
        """Importing dataclasses takes longer still: `_make_dataclasses` does it."""
        return lambda kind: kind

__all__ = [
    "ChannelError",
    "ElasticRunError",
    "ElasticRunWarning",
    "NotLaunchedError",
    "Preemption",
    "WaitForWorkTimeoutError",
    "WorkerEvent",
    "WorkerInfo",
    "WorkerState",
    "WorldChangeEvent",
    "acknowledge",
    "get_worker_event",
    "get_worker_info",
    "on_preemption",
    "on_worker_event",
    "preemption",
    "record",
    "register",
    "report_error",
    "report_progress",
    "wait_for_work",
    "worker_events",
]

_VERSION = 1
"""Of the wire format. Another one is not understood; unknown fields of this one are ignored."""

_MESSAGE_LIMIT_BYTES = 1024 * 1024
"""The most bytes that one message may take as UTF-8 JSON."""

_LARGEST_INTEGER = 2**53 - 1
"""Of those that every reader of the channel takes for what they are."""

_LONGEST_REPLY_TEXT = 64 * 1024
"""In characters, so that an ERROR stays below what the channel takes; the error file has the whole."""

_AT_MOST, _PER_SECOND = 256.0, 2.0
"""How many frequent replies may come at once, and in each second in the long run: each one wakes the agent."""

_STEPS_PER_SECOND = 0.1
"""The agent sees steps within a second without them."""

_POLL_S = 1.0
"""How often to look although nothing was notified: hints may be lost."""

_SOLE_POLL_S = 0.15
"""The same where there are no notifications at all."""

_STOP_POLL_S = 0.25
"""How often to look whether an iteration is to stop."""

_EXIT_PATIENCE_S = 1.0
"""How long the end of the process waits for a listener that is being called."""


class ElasticRunError(Exception):
    """Whatever this library raises. `code` names the kind, in the words of the other languages."""

    code = "INTERNAL"


class ChannelError(ElasticRunError):
    """The channel cannot be used: it is gone, it holds no event, or a message is too large for it."""

    code = "CHANNEL"


class NotLaunchedError(ElasticRunError):
    """The process asks for its place in the world, and nobody has given it one."""

    code = "NOT_LAUNCHED"


class WaitForWorkTimeoutError(ElasticRunError, TimeoutError):
    """No work of a later round came in time."""

    code = "TIMEOUT"


class ElasticRunWarning(UserWarning):
    """What the user should know and that is no reason to end a training."""


# One lock for everything: calls are short. A signal handler may come in between on the same thread.
_lock = threading.RLock()


class _Word(str, enum.Enum):
    """A string like any other, when it is compared, printed or made JSON of, that also has a name."""

    __str__ = str.__str__


class WorkerState(_Word):
    """What the agent asks of a worker: to work, or to hold still until the next WORK."""

    HEALTHY = "HEALTHY"
    PAUSED = "PAUSED"


class WorldChangeEvent(_Word):
    """Why the world changed. A worker's or node's failure is a SCALE_DOWN."""

    SCALE_UP = "SCALE_UP"
    SCALE_DOWN = "SCALE_DOWN"


class _Record:
    """Becomes a frozen dataclass when it is used: importing dataclasses takes longer than importing all
    that this file needs."""

    if not TYPE_CHECKING:

        def __new__(cls, *_args, **_fields):
            _make_dataclasses()
            return object.__new__(cls)


@dataclass(frozen=True)
class WorkerInfo(_Record):
    """A worker's place in the world of one round. A frozen dataclass."""

    local_rank: int
    """Rank among the workers of this node, from 0."""
    role_rank: int
    """Rank among the workers of the same role, from 0."""
    rank: int
    """Global rank among all workers, from 0."""
    local_world_size: int
    """Number of workers on this node."""
    role_world_size: int
    """Number of workers of this role."""
    world_size: int
    """Number of workers in the world."""
    group_rank: int
    """Rank of this node among the nodes, from 0."""
    group_world_size: int
    """Number of nodes in the world."""
    role: str
    master_addr: str
    """Address of the node of rank 0."""
    master_port: int
    """A port that is free on the node of rank 0 for this round."""
    round: int
    """Number of the round, from 1; higher in each later round."""
    restart_count: int
    """Incidents that the run has been charged for so far; the same in every worker."""
    run_id: str

    def get_pg_parameters(self) -> dict[str, Any]:
        """`rank`, `world_size` and `init_method`, for
        `torch.distributed.init_process_group(backend, **info.get_pg_parameters())`.

        That call then joins the newest round, of which `torch.distributed.get_rank()` tells: where this
        info's round is left before all have met, it says so to the agent, waits for the next WORK, and
        meets the others there."""
        host = f"[{self.master_addr}]" if ":" in self.master_addr else self.master_addr
        init_method = f"tcp://{host}:{self.master_port}"
        from . import _meeting

        _meeting.prepare(init_method)
        return {"rank": self.rank, "world_size": self.world_size, "init_method": init_method}


@dataclass(frozen=True)
class WorkerEvent(_Record):
    """One message from the agent to a worker. A frozen dataclass."""

    sequence: int
    """Position in this worker's channel: 1, 2, 3 … without gaps."""
    timestamp: float
    """Milliseconds since 1970, by the agent's clock."""
    kind: str
    """"PAUSE" or "WORK"."""
    worker_state: WorkerState
    """What the agent asks for: "HEALTHY", to work, or "PAUSED", to hold still until the next WORK."""
    change_event: Optional[WorldChangeEvent]
    """Why: "SCALE_UP" or "SCALE_DOWN" (a failure is one, too), the same in a PAUSE and in the WORK
    that ends it; None in a worker's first event."""
    instance: int
    """Names one start of a run; (instance, round), compared in that order, is the fencing token."""
    round: int
    reason: str
    """Why, in words."""
    worker_info: WorkerInfo
    """In a PAUSE: that of the round being left."""


@dataclass(frozen=True)
class Preemption(_Record):
    """This worker's machine will go. A frozen dataclass."""

    deadline: Optional[float]
    """When, in milliseconds since 1970; None if unknown."""
    source: str
    """Who says so: "aws", "gcp", "azure", "slurm", "kubernetes", "file", "lifetime", "command" or
    "chaos"."""
    reason: str
    """Why, in words."""


class _Notice:
    """A NOTICE of the channel. Its source is None where the notice before it was withdrawn."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.sequence = _integer(fields, "sequence")
        self.deadline = None if fields.get("deadline", 0) is None else _number(fields, "deadline")
        self.source = None if fields.get("source", 0) is None else _text(fields, "source")
        self.reason = _text(fields, "reason")

    def to_preemption(self) -> Preemption:
        return _record_of(
            Preemption,
            {
                "deadline": self.deadline,
                "source": self.source,
                "reason": self.reason,
                "_sequence": self.sequence,
            },
        )


_are_dataclasses = False


def _make_dataclasses() -> None:
    global _are_dataclasses
    with _lock:
        if _are_dataclasses:
            return
        # First of all: a signal handler that comes in between must not begin again.
        _are_dataclasses = True
        import dataclasses

        for record in (WorkerInfo, WorkerEvent, Preemption):
            dataclasses.dataclass(frozen=True)(record)


def _record_of(kind: type[R], fields: Mapping[str, Any]) -> R:
    """One made without its initializer, which it may not have yet."""
    made = object.__new__(kind)
    made.__dict__.update(fields)
    return made


# --- Where am I -----------------------------------------------------------------------------------


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
    session = _session or _open_session()
    event = session.newest()
    session.show(event)
    session.acknowledge(event)
    return event


# --- What comes -----------------------------------------------------------------------------------


def on_worker_event(listener: Callable[[WorkerEvent], object]) -> Callable[[], None]:
    """Calls `listener` for each event that this process has not received yet, in order; at first for
    the newest. The calls come one at a time on a daemon thread; an event is acknowledged when its
    call has returned. What the listener raises goes to `threading.excepthook`: that event is not
    acknowledged, and the next one comes as ever.

    Returns a function that ends it, which does not wait for a call that has begun. It does not keep
    the process alive. Raises NotLaunchedError outside of a launcher.
    """
    delivery = _Delivery(_open_session(), listener)
    delivery.start()
    return delivery.close


def worker_events(
    timeout: Optional[float] = None, stop: Optional[threading.Event] = None
) -> Iterator[WorkerEvent]:
    """Every event from the first, in order, each acknowledged when it is handed over. None is skipped
    as long as the process is not more than 64 events behind: older ones are removed from disk, and
    then a warning says which were missed.

    The iteration ends when no event has come for `timeout` seconds (for ever unless given), or
    within a quarter of a second after `stop` was set. It raises ChannelError when the agent is gone,
    and the call itself NotLaunchedError outside of a launcher.
    """
    return _iterate(_open_session(), timeout, stop)


def wait_for_work(
    after_round: Optional[int] = None, timeout: Optional[float] = None
) -> WorkerInfo:
    """Waits for work of a later round and returns this worker's place in it; at once where it is
    there already. Meanwhile the agent knows that the worker waits, and the PAUSE that it waits
    behind is acknowledged.

    By default a later round is one after the round that the last call returned, or, before there was
    one, after the first that `get_worker_info` or `get_worker_event` showed. What these show later
    and what listeners and iterators get does not count: they may be told of the next round before
    the worker has left its own. Code that takes its rounds from them passes the one that it works in
    as `after_round`.

    Raises WaitForWorkTimeoutError (a TimeoutError) after `timeout` seconds, ChannelError when the
    agent is gone, and NotLaunchedError outside of elastic-run, where no later round can come.
    """
    session = _open_session()
    after = session.taken_round if after_round is None else after_round
    deadline = _deadline(timeout)
    watch = session.watch()
    told_in: Optional[int] = None
    try:
        while True:
            event = session.newest()
            session.acknowledge(event)
            if event.kind == "WORK" and event.round > after:
                session.take(event)
                # Whoever has waited has told thereby that it has left the round before.
                if told_in is None and event.sequence > 1:
                    session.say_working(event.round)
                return event.worker_info
            if session.is_last(event.sequence):
                _not_launched(
                    f"it was started by another launcher, which announces no round after {after}"
                )
            seconds = deadline - time.monotonic()
            if told_in is not None and seconds <= 0:
                _late(event, after, timeout)
            if told_in != event.round:
                session.say_waiting(event.round, after)
                told_in = event.round
            if session.next(event.sequence) is None:
                watch.wait(seconds)
    except ChannelError:
        raise
    except BaseException:
        # Else a worker that looks in for a moment would be taken for one that still waits.
        if told_in is not None:
            session.say_waited()
        raise
    finally:
        watch.close()


def acknowledge(event: Union[WorkerEvent, Preemption]) -> None:
    """Says that the worker has received this event and all before it. Of what `preemption` returned:
    that the worker has saved what it wants to keep, and may be ended."""
    if isinstance(event, Preemption):
        sequence = event.__dict__.get("_sequence")
        source = _source_if_launched()
        if source is not None and sequence is not None:
            _speak(source, {"kind": "ACK", "event": sequence})
        return
    session = _session_if_launched()
    if session is not None:
        session.acknowledge(event)


def preemption() -> Optional[Preemption]:
    """Whether this worker's machine will go: when, who says so, and why; None if not, or not any more.
    It is read from disk without waiting, and may be called at each step. The worker works on until it
    ends by itself, acknowledges what this returned, or gets SIGTERM. None outside of elastic-run."""
    global _noticed
    source = _source_if_launched()
    notice = None if source is None else source.notice()
    if source is None or notice is None or notice.source is None:
        return None
    _make_dataclasses()
    if notice.sequence != _noticed:
        _noticed = notice.sequence
        _speak(source, {"kind": "NOTICED", "event": notice.sequence})
    return notice.to_preemption()


def on_preemption(listener: Callable[[Preemption], object]) -> Callable[[], None]:
    """Calls `listener` when this worker's machine will go, also if it is known already, and again if
    the deadline changes, on a daemon thread. When the listeners of all workers of the node have
    returned, the workers get SIGTERM: one that only remembers the notice for later must not be used,
    but `preemption`. Where the listener raises, SIGTERM comes in time for the deadline.

    Returns a function that ends it. Does nothing outside of elastic-run.
    """
    source = _source_if_launched()
    if source is None:
        return lambda: None
    _make_dataclasses()
    delivery = _Delivery(_NoticeFeed(source), lambda notice: listener(notice.to_preemption()))
    delivery.start()
    return delivery.close


# --- What to tell ---------------------------------------------------------------------------------


def report_progress(
    step: Optional[float] = None,
    *,
    busy: Optional[str] = None,
    for_seconds: Optional[float] = None,
    **details: object,
) -> None:
    """Tells the agent how far the worker has come: the step, and anything else that is JSON; what is
    no number (NaN) becomes null. It writes a small file, and may be called at each step. Does nothing
    outside of elastic-run. The launcher shows the numbers.

    report_progress(busy="checkpoint", for_seconds=1200) announces that no step comes for so long: the
    launcher takes it for no hang.

    Raises ChannelError above 1 MiB as JSON, and TypeError where the step, or the seconds of what it is
    busy with, is no finite number, or the rest no JSON.
    """
    progress: dict[str, object] = {**details, "kind": "PROGRESS"}
    if busy is None or step is not None:
        progress["step"] = _finite("step", step)
    if busy is not None:
        progress["busy"] = str(busy)
        progress["for_seconds"] = _finite("for_seconds", for_seconds)
    session = _session_if_launched()
    if session is not None:
        # It has imported by now what it needs: docs/warm-restarts.md.
        getattr(sys.modules.get("_elastic_run_hook"), "learn", bool)()
        session.say(progress)


def report_error(error: object) -> None:
    """Tells the agent of an error (an exception, or words), and leaves it in the launcher's error
    file, where the report of a failed run finds it. It ends nothing and never raises; outside of a
    launcher it does nothing."""
    try:
        _write_error_file(error, "report_error")
        session = _session_if_launched()
        if session is None:
            return
        reply = {"kind": "ERROR", "message": _describe(error)[:_LONGEST_REPLY_TEXT]}
        if isinstance(error, BaseException):
            reply["stack"] = _traceback(error)[:_LONGEST_REPLY_TEXT]
        session.say(reply)
    except Exception as problem:
        _warn(f"The error could not be reported: {_words(problem)}")


def register() -> None:
    """From now on an exception that ends this process is written to the launcher's error file first;
    what Python does about it stays as it is. Once a process, and only under a launcher."""
    global _registered
    if _registered or _error_file() is None:
        return
    _registered = True
    show = sys.excepthook

    def write_and_show(kind: Any, error: BaseException, trace: Any) -> None:
        # What ends a fork is its parent's to judge.
        if not _forked:
            _try_to_write_error_file(error, "excepthook")
        show(kind, error, trace)

    sys.excepthook = write_and_show


def record(function: F) -> F:
    """A decorator, as torch's of the same name: what the function raises is written to the launcher's
    error file, and raised. Outside of a launcher it does nothing."""
    import functools

    @functools.wraps(function)
    def recorded(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            _try_to_write_error_file(error, "record")
            raise

    return recorded  # type: ignore[return-value]


# --- The session: what this process has received and said -----------------------------------------

_session: Optional[_Session] = None
_registered = False
_forked = False


class _Session:
    """What this process has received and acknowledged so far. The first call of the library opens it,
    which greets the agent."""

    def __init__(self, source: Union[_Channel, _SingleEvent]) -> None:
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
        with _lock:
            event = self._source.next(after)
            while isinstance(event, _Notice):
                event = self._source.next(event.sequence)
            return event

    def is_last(self, sequence: int) -> bool:
        """Whether no event can come after the one with this sequence."""
        return self._source.is_last(sequence)

    def watch(self) -> _Watch:
        """To wait for more with; opens nothing yet."""
        return _Watch(self._source.events)

    def position_of_unreceived(self) -> int:
        """After which sequence to read on with the first event that the process has not received, at
        first with the newest."""
        return self._received or self.newest().sequence - 1

    def receive(self, event: WorkerEvent) -> None:
        """Notes that the process has this event."""
        with _lock:
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
        with _lock:
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
        with _lock:
            self._source.say(reply)

    def _speak(self, reply: Mapping[str, Any]) -> None:
        with _lock:
            _speak(self._source, reply)


class _NoticeFeed:
    """The notices of a channel, for a `_Delivery`. It does not greet the agent: who only wants to know
    of the end of its machine need not follow the rounds."""

    def __init__(self, source: Union[_Channel, _SingleEvent]) -> None:
        self._source = source

    def next(self, after: int) -> Optional[_Notice]:
        """The newest notice, if it came after this sequence and holds."""
        notice = self._source.notice()
        is_new = notice is not None and notice.sequence > after and notice.source is not None
        return notice if is_new else None

    def is_last(self, sequence: int) -> bool:
        return False

    def watch(self) -> _Watch:
        return _Watch(self._source.events)

    def position_of_unreceived(self) -> int:
        return 0

    def receive(self, notice: _Notice) -> None:
        _speak(self._source, {"kind": "NOTICED", "event": notice.sequence})

    def acknowledge(self, notice: _Notice) -> None:
        _speak(self._source, {"kind": "ACK", "event": notice.sequence})


def _speak(source: Union[_Channel, _SingleEvent], reply: Mapping[str, Any]) -> None:
    """Says what only the worker itself may say, none of its helpers."""
    if not _is_helper():
        with _lock:
            source.say(reply)


_source: Optional[_Channel] = None
_noticed = 0


def _source_if_launched() -> Optional[_Channel]:
    """For calls that a worker may make without following its rounds."""
    directory = _channel_directory()
    return None if directory is None else _open_channel(directory)


def _open_channel(directory: str) -> _Channel:
    global _source
    with _lock:
        if _source is None:
            _source = _Channel(directory)
        return _source


def _open_session() -> _Session:
    """What all calls share. Raises NotLaunchedError outside of a launcher."""
    global _session
    with _lock:
        if _session is None:
            _make_dataclasses()
            directory = _channel_directory()
            _session = _Session(
                _SingleEvent(_event_from_variables(os.environ, _wall_time_ms()))
                if directory is None
                else _open_channel(directory)
            )
        return _session


def _session_if_launched() -> Optional[_Session]:
    """For calls that only tell something: where nobody listens they do nothing."""
    return None if _channel_directory() is None else _open_session()


def _is_helper() -> bool:
    """Whether this process was forked, or was started by multiprocessing: as it begins, too, when it
    imports its parent's main module again."""
    if _forked:
        return True
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None:
        return False
    is_beginning = getattr(multiprocessing.current_process(), "_inheriting", False)
    return is_beginning or multiprocessing.parent_process() is not None


def _after_fork_in_child() -> None:
    """A fork starts afresh: locks that other threads of its parent held are never released, these
    threads are not there, and hints that it took from an inherited descriptor would be its
    parent's."""
    global _forked, _lock, _opening, _session, _source
    _forked = True
    _lock = threading.RLock()
    _opening = threading.RLock()
    _session = None
    _source = None
    _deliveries.clear()
    for watch in list(_watches):
        watch.close()


# --- Waiting for events ---------------------------------------------------------------------------

_deliveries: set[_Delivery] = set()
_knows_exit = False


class _Delivery:
    """Hands events to a listener, on a thread of its own."""

    def __init__(
        self, session: Union[_Session, _NoticeFeed], listener: Callable[[Any], object]
    ) -> None:
        self._session = session
        self._listener: Optional[Callable[[Any], object]] = listener
        self._position = session.position_of_unreceived()
        self._calling = threading.Lock()

    def start(self) -> None:
        global _knows_exit
        with _lock:
            _deliveries.add(self)
            if not _knows_exit:
                import atexit

                atexit.register(_end_deliveries)
                _knows_exit = True
        threading.Thread(target=self._run, name="elastic-run events", daemon=True).start()

    def close(self) -> None:
        """Lets go of the listener at once, and of what it holds: the thread may wait for an event a little longer."""
        self._listener = None

    def finish(self, seconds: float) -> None:
        """Ends it, and waits so long for a call that has begun."""
        self.close()
        if self._calling.acquire(timeout=seconds):
            self._calling.release()

    def _run(self) -> None:
        watch = self._session.watch()
        try:
            while self._listener is not None:
                event = self._session.next(self._position)
                if event is not None:
                    self._position = event.sequence
                    self._deliver(event)
                elif self._session.is_last(self._position):
                    return
                else:
                    watch.wait(_POLL_S)
        except Exception as error:
            _warn(_words(error))
        finally:
            watch.close()
            _deliveries.discard(self)

    def _deliver(self, event: Any) -> None:
        with self._calling:
            listener = self._listener
            if listener is None:
                return
            self._session.receive(event)
            try:
                _require_no_coroutine(listener(event))
            except BaseException:
                # The user's own error surfaces as that of any thread.
                threading.excepthook(
                    threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
                )
                return
            self._session.acknowledge(event)


def _require_no_coroutine(result: Any) -> None:
    """An async function has not even begun when it returns."""
    if hasattr(result, "__await__"):
        if hasattr(result, "close"):
            result.close()
        raise TypeError("on_worker_event, on_preemption: the listener must be a plain function, not an async one.")


def _end_deliveries() -> None:
    """A thread that writes to stdout while Python takes itself down would abort the process."""
    deadline = time.monotonic() + _EXIT_PATIENCE_S
    for delivery in list(_deliveries):
        delivery.finish(max(0.0, deadline - time.monotonic()))


def _iterate(
    session: _Session, timeout: Optional[float], stop: Optional[threading.Event]
) -> Iterator[WorkerEvent]:
    position = 0
    watch = session.watch()
    try:
        while True:
            event = _await_next(session, position, watch, timeout, stop)
            if event is None:
                return
            position = event.sequence
            session.acknowledge(event)
            yield event
    finally:
        watch.close()


def _await_next(
    session: _Session,
    position: int,
    watch: _Watch,
    timeout: Optional[float],
    stop: Optional[threading.Event],
) -> Optional[WorkerEvent]:
    """None where it is to stop, where the time is over, and where no event can come any more."""
    deadline = _deadline(timeout)
    while stop is None or not stop.is_set():
        event = session.next(position)
        if event is not None:
            return event
        seconds = deadline - time.monotonic()
        if seconds <= 0 or session.is_last(position):
            return None
        watch.wait(seconds, stop)
    return None


def _deadline(timeout: Optional[float]) -> float:
    return float("inf") if timeout is None else time.monotonic() + timeout


def _late(event: WorkerEvent, after: int, timeout: Optional[float]) -> NoReturn:
    raise WaitForWorkTimeoutError(
        f"No work of a round after {after} within {timeout} s; the newest event is {event.kind} of"
        f" round {event.round} ({event.reason}). Wait longer, or let this process end, so that the"
        " launcher restarts it."
    )


# --- Where events come from -----------------------------------------------------------------------


class _SingleEvent:
    """The source of a process that was started by another launcher: one event, nobody to reply to."""

    events = ""  # No directory to watch: nobody waits for what cannot come.

    def __init__(self, event: WorkerEvent) -> None:
        self._event = event

    def newest(self) -> WorkerEvent:
        return self._event

    def notice(self) -> Optional[_Notice]:
        return None

    def next(self, after: int) -> Optional[WorkerEvent]:
        return self._event if after < self._event.sequence else None

    def is_last(self, sequence: int) -> bool:
        return sequence >= self._event.sequence

    def say(self, reply: Mapping[str, Any]) -> None:
        """Nobody listens."""


class _Channel:
    """The source of a worker: the directory that its agent made for it."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._writer = _ReplyWriter(directory)
        self._reader = _EventReader(directory, _warn)
        self.events: str = self._reader.events

    def newest(self) -> WorkerEvent:
        return self._reader.newest()

    def notice(self) -> Optional[_Notice]:
        return self._reader.notice()

    def next(self, after: int) -> Union[WorkerEvent, _Notice, None]:
        return self._reader.next(after)

    def is_last(self, sequence: int) -> bool:
        return False

    def say(self, reply: Mapping[str, Any]) -> None:
        """A reply that the disk does not take is no reason for the user's training to fail; one that
        is too large or no JSON is the caller's error."""
        try:
            if not self._writer.write(reply, _wall_time_ms()):
                _warn(
                    "This process reports errors faster than its agent accepts them; the error file"
                    " has the last one."
                )
        except OSError as error:
            _warn(
                f"The agent cannot be told {reply['kind']} through {self._directory}:"
                f" {_words(error)}"
            )


_ABSENT, _BROKEN, _UNAVAILABLE = "absent", "broken", "unavailable"
"""Why there is no event: no file; a file that never will be one; one that the system does not give us
just now."""


class _EventReader:
    """The worker's view of its channel. It takes no notification and keeps no handle: each call looks
    at the disk. A file that cannot be read as an event is skipped, and `warn` is told why."""

    def __init__(self, directory: str, warn: Callable[[str], None]) -> None:
        self.events = os.path.join(directory, "events")
        self._directory = directory
        self._latest = os.path.join(directory, "latest.json")
        self._warn = warn
        self._latest_identity: Optional[tuple[int, ...]] = None
        self._newest: Optional[WorkerEvent] = None
        self._notice: Optional[_Notice] = None
        self._last = 0  # Of events of any kind that were read.
        self._following = ""

    def notice(self) -> Optional[_Notice]:
        """The newest notice, if there was any; costs and raises what `newest` does."""
        self.newest()
        return self._notice

    def newest(self) -> WorkerEvent:
        """The newest event that is no notice: two looks at the disk where nothing has changed. Once an event was seen,
        never an older one. Raises ChannelError where there is none at all."""
        # A thread that asks all the time must not keep the lock from others.
        newest = self._newest
        identity = _identity_at(self._latest)
        if newest is None or identity != self._latest_identity or self._may_have_more(identity):
            with _lock:
                return self._look(identity)
        return newest

    def next(self, after: int) -> Union[WorkerEvent, _Notice, None]:
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
            raise _channel_error(self._directory, "it holds no event")
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

    def _seen(self, event: Union[WorkerEvent, _Notice]) -> Union[WorkerEvent, _Notice]:
        if isinstance(event, _Notice):
            notice: Optional[_Notice] = event
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

    def _read_event(self, sequence: int) -> Union[WorkerEvent, _Notice, str]:
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
    ) -> Union[tuple[Union[WorkerEvent, _Notice], tuple[int, ...]], str]:
        """The event, and the identity of the very file that it was read from; or why there is none."""
        try:
            text, identity = _read_message(path)
            return _decode_event(text), identity
        except FileNotFoundError:
            return _ABSENT
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._warn(f"{path} cannot be read as an event: {_words(error)}.")
            # An error of the system's own (no descriptors left, say) may pass; a link stays one.
            may_pass = isinstance(error, OSError) and error.errno != errno.ELOOP
            return _UNAVAILABLE if may_pass else _BROKEN

    def _sequences_after(self, after: int) -> list[int]:
        try:
            names = os.listdir(self.events)
        except FileNotFoundError as error:
            raise _channel_error(
                self._directory, "it is gone: its agent has ended or was killed"
            ) from error
        return [sequence for sequence in _sequences_in(names) if sequence > after]

    def _event_path(self, sequence: int) -> str:
        return os.path.join(self.events, _message_file_name(sequence))


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


class _ReplyWriter:
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
            taken = _sequences_in(os.listdir(self._replies))
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
        _replace_file(self._progress, self._write(self._next, reply, timestamp))

    def _write(self, sequence: int, reply: Mapping[str, Any], timestamp: int) -> str:
        """The path of a temporary file with this reply."""
        envelope = {"version": _VERSION, "sequence": sequence, "timestamp": timestamp}
        text = _encode({**reply, **envelope}, f"reply {reply['kind']}")
        return _write_temporary(self._temporary, text)

    def _claim(self, sequence: int, reply: Mapping[str, Any], timestamp: int) -> bool:
        temporary = self._write(sequence, reply, timestamp)
        try:
            os.link(temporary, os.path.join(self._replies, _message_file_name(sequence)))
            return True
        except FileExistsError:
            return False
        finally:
            _remove(temporary)


# --- Notifications --------------------------------------------------------------------------------

_watches: set[_Watch] = set()
_opening = threading.RLock()
"""Held while a watch's descriptor is opened or closed, and while the process forks: a fork closes
those that are known of."""

_HINTS = 0x80 | 0x100 | 0x400 | 0x800
"""What inotify tells: IN_MOVED_TO, IN_CREATE, IN_DELETE_SELF, IN_MOVE_SELF."""

_NETWORK_FILE_SYSTEMS = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB2",
    0x65735546: "FUSE",
    0x01021997: "9p",
    0x5346414F: "AFS",
    0x6B414653: "kAFS",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x47504653: "GPFS",
    0x19830326: "BeeGFS",
    0x73757245: "Coda",
    0x7461636F: "OCFS2",
    0x01161970: "GFS2",
}
"""The magic numbers of statfs(2), from linux/magic.h and the file systems' own sources."""


class _Watch:
    """Waits for changes of a channel's events. It says neither what nor that anything has changed:
    the caller looks. It hears the agent's doorbell, or watches the directory where there is none. A
    slow poll stands behind these, and a faster one takes their place where there is neither."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._doorbell = os.path.join(os.path.dirname(directory), "doorbell")
        self._is_rung = False  # Rather than read.
        self._pace = 0.0  # Until it is opened.
        self._descriptor = -1
        self._poll: Any = None
        # Now, and not while it waits: what a signal's handler raises is lost within an import.
        for module in ("ctypes", "select"):
            try:
                __import__(module)
            except ImportError:
                pass  # Opening it says so.

    def wait(self, seconds: float, stop: Optional[threading.Event] = None) -> None:
        """Waits until something may have changed, so many seconds at most, or until `stop` is set. The
        first time it only opens the watch: what came before must be looked for once more."""
        if self._pace == 0.0:
            self._open()
            return
        rest = max(0.0, min(seconds, self._pace))
        while not self._hears(rest if stop is None else min(rest, _STOP_POLL_S)):
            rest -= _STOP_POLL_S
            if stop is None or stop.is_set() or rest <= 0:
                return

    def close(self) -> None:
        """May be opened again."""
        with _opening:
            descriptor, self._descriptor, self._pace = self._descriptor, -1, 0.0
            _watches.discard(self)
            if descriptor >= 0:
                os.close(descriptor)

    def _hears(self, seconds: float) -> bool:
        """Whether a notification came within that time."""
        if self._descriptor < 0:
            time.sleep(seconds)
            return False
        if not self._poll.poll(seconds * 1000):
            return False
        if self._is_rung:
            # What is rung from now on is heard by the next one; the caller looks for what was before.
            self.close()
            self._open()
        else:
            os.read(self._descriptor, 65536)
        return True

    def _open(self) -> None:
        self._pace = _SOLE_POLL_S
        try:
            with _opening:
                self._descriptor = _open_doorbell(self._doorbell)
                self._is_rung = self._descriptor >= 0
                if not self._is_rung:
                    self._descriptor = _open_inotify(self._directory)
                _watches.add(self)
        except FileNotFoundError:
            # The channel is gone; whoever looks next will say so.
            return
        except OSError as error:
            _warn(
                f"{self._directory} is looked at each {round(_SOLE_POLL_S * 1000)} ms, for want of"
                f" notifications: {_words(error)}."
            )
            return
        import select

        self._pace = _POLL_S
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)


def _open_doorbell(path: str) -> int:
    """A descriptor of the FIFO that an agent opens and closes to call its workers: it is hung up
    then. -1 where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return -1


def _open_inotify(directory: str) -> int:
    """A descriptor that becomes readable when a directory has changed. Raises OSError where there is
    no such thing."""
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        start, add = libc.inotify_init1, libc.inotify_add_watch
    except (ImportError, AttributeError) as error:
        raise OSError(errno.ENOSYS, "inotify is not to be had here") from error

    def checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result

    path = os.fsencode(directory)
    found = ctypes.create_string_buffer(512)
    checked(libc.statfs(path, found))
    magic = ctypes.c_ulong.from_buffer(found).value & 0xFFFFFFFF
    if magic in _NETWORK_FILE_SYSTEMS:
        name = _NETWORK_FILE_SYSTEMS[magic]
        raise OSError(errno.ENOTSUP, f"it is on a network file system ({name})")
    descriptor = checked(start(os.O_NONBLOCK | os.O_CLOEXEC))
    try:
        checked(add(descriptor, path, ctypes.c_uint32(_HINTS)))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


# --- Messages -------------------------------------------------------------------------------------


def _decode_event(text: str) -> Union[WorkerEvent, _Notice]:
    """The event in a file's text, with the newest notice before it, if there was any. Raises an error
    that names the field that is wrong."""
    import json

    fields = _as_object(json.loads(text, parse_constant=_refuse_constant), "the message")
    _one_of(fields, "version", (_VERSION,))
    if _one_of(fields, "kind", ("PAUSE", "WORK", "NOTICE")) == "NOTICE":
        return _Notice(fields)
    before = fields.get("notice")
    return _record_of(
        WorkerEvent,
        {
            **({} if before is None else {"_notice": _Notice(_as_object(before, "notice"))}),
            "sequence": _integer(fields, "sequence"),
            "timestamp": _number(fields, "timestamp"),
            "kind": _text(fields, "kind"),
            "worker_state": _one_of(fields, "worker_state", tuple(WorkerState)),
            "change_event": _one_of(fields, "change_event", (None, *WorldChangeEvent)),
            "instance": _integer(fields, "instance"),
            "round": _integer(fields, "round"),
            "reason": _text(fields, "reason"),
            "worker_info": _decode_info(_as_object(fields.get("worker_info"), "worker_info")),
        },
    )


def _decode_info(fields: Mapping[str, Any]) -> WorkerInfo:
    return _record_of(
        WorkerInfo,
        {
            name: _integer(fields, name) if kind == "int" else _text(fields, name)
            for name, kind in WorkerInfo.__annotations__.items()
        },
    )


def _as_object(value: Any, name: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise TypeError(f"{name} is not a JSON object")


def _integer(fields: Mapping[str, Any], name: str) -> int:
    """A whole number from 0."""
    value = _number(fields, name)
    if value == value // 1 and 0 <= value <= _LARGEST_INTEGER:
        return int(value)
    raise TypeError(f"{name} is not a whole number")


def _number(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise TypeError(f"{name} is no number")


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} is no string")


def _one_of(fields: Mapping[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    value = fields.get(name, _refuse_constant)
    for candidate in allowed:
        if value == candidate and not isinstance(value, bool):
            return candidate
    words = ", ".join("null" if candidate is None else str(candidate) for candidate in allowed)
    raise TypeError(f"{name} is not one of {words}")


def _refuse_constant(name: str) -> NoReturn:
    """Python takes NaN and Infinity for JSON; nobody else does."""
    raise ValueError(f"{name} is no JSON")


def _encode(message: Mapping[str, Any], what: str) -> bytes:
    """As UTF-8 JSON. Raises TypeError on what is none, ChannelError on what is larger than the channel
    takes; `what` names it for people."""
    import json

    def dump(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    try:
        try:
            text = dump(message)
        except ValueError:
            text = dump(_without_nan(message))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"The message ({what}) is no JSON: {error}.") from error
    # Half a character (a lone surrogate) becomes the escape that JSON has for it.
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > _MESSAGE_LIMIT_BYTES:
        raise ChannelError(
            f"The message ({what}) has {len(data)} bytes; the channel takes at most"
            f" {_MESSAGE_LIMIT_BYTES}. Put large data into a file and send its path."
        )
    return data


def _without_nan(value: Any) -> Any:
    """JSON has no word for NaN and the infinities; a loss may well be one."""
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not _is_finite(value) else value


def _finite(name: str, value: Any) -> float:
    """A plain number: those of other libraries are taken for what they stand for."""
    if isinstance(value, (str, bytes, bool)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"report_progress: {name} must be a finite number, not {value!r}.")
    if hasattr(type(value), "__index__"):
        try:
            return int(value.__index__())
        except TypeError:
            pass  # A tensor that holds no whole number.
    number = float(value)
    if not _is_finite(number):
        raise TypeError(f"report_progress: {name} must be a finite number, not {number}.")
    return number


def _is_finite(number: float) -> bool:
    return number - number == 0


def _message_file_name(sequence: int) -> str:
    return f"{sequence:010d}.json"


def _sequences_in(names: list[str]) -> list[int]:
    """The sequence numbers among file names, ascending; foreign names are left out."""
    numbers = [
        int(name[:10])
        for name in names
        if len(name) == 15 and name.endswith(".json") and name.isascii() and name[:10].isdigit()
    ]
    return sorted(number for number in numbers if number > 0)


# --- Files ----------------------------------------------------------------------------------------


def _identity_at(path: str) -> Optional[tuple[int, ...]]:
    try:
        return _identity_of(os.stat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identity_of(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _read_message(path: str) -> tuple[str, tuple[int, ...]]:
    """A message's text, and the identity of the very file that it was read from. Raises ValueError on
    what is not a regular file and on what is larger than a message may be, else the system's error,
    also on a symbolic link."""
    # Without O_NONBLOCK, opening a FIFO that somebody put there would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a regular file")
        if found.st_size > _MESSAGE_LIMIT_BYTES:
            raise ValueError(f"it has more than {_MESSAGE_LIMIT_BYTES} bytes")
        parts: list[bytes] = []
        while True:
            part = os.read(descriptor, _MESSAGE_LIMIT_BYTES)
            if not part:
                return b"".join(parts).decode("utf-8", "replace"), _identity_of(found)
            parts.append(part)
    finally:
        os.close(descriptor)


_names_used = 0


def _write_temporary(directory: str, data: bytes) -> str:
    """Writes a new file (0600) under a name that nobody else uses, and returns its path. Leaves nothing
    behind where it fails."""
    global _names_used
    while True:
        path = os.path.join(directory, f".{os.getpid()}.{_names_used}.tmp")
        _names_used += 1
        try:
            _write_new(path, data)
            return path
        except FileExistsError:
            continue


def _replace_file(path: str, temporary: str) -> None:
    """Gives a temporary file this name; leaves nothing of it where that fails."""
    try:
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _write_new(path: str, data: bytes) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        _remove(path)
        raise
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


# --- Errors ---------------------------------------------------------------------------------------


def _write_error_file(error: object, origin: str) -> None:
    """Writes the error file, in the format of torch's `@record`, whole or not at all. Does nothing
    outside of a launcher. `origin`: how the error came to light."""
    path = _error_file()
    if path is None:
        return
    import json

    message = _describe(error)
    trace = _traceback(error) if isinstance(error, BaseException) else message
    extra = {"py_callstack": trace, "timestamp": str(int(time.time())), "origin": origin}
    text = json.dumps({"message": {"message": message, "extraInfo": extra}}, ensure_ascii=False)
    data = text.encode("utf-8", "backslashreplace")
    _replace_file(path, _write_temporary(os.path.dirname(path), data))


def _try_to_write_error_file(error: BaseException, origin: str) -> None:
    try:
        _write_error_file(error, origin)
    except Exception:
        pass  # The error that is being raised must not be hidden by one of ours.


def _describe(error: object) -> str:
    """An error in words, as torch's `@record` writes it: its name and its message."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}"
    return error if isinstance(error, str) else repr(error)


def _traceback(error: BaseException) -> str:
    """With its causes, as Python prints them."""
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _words(error: BaseException) -> str:
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}"


def _channel_error(directory: str, problem: str) -> ChannelError:
    return ChannelError(
        f"The channel directory {directory} cannot be used: {problem}. Set ELASTIC_RUN_DIR to a"
        " directory on a local disk that only you can write to."
    )


def _not_launched(problem: str) -> NoReturn:
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    raise NotLaunchedError(
        f"This process has no place in a run: {problem}. Start it with the launcher:"
        f" elastic-run --nproc-per-node 2 {'train.py' if script in ('', '-c', '-m') else script}"
    )


_warnings_given: dict[str, None] = {}
"""In the order in which they were given."""

_KEPT_WARNINGS = 4096
"""A process that runs for weeks does not keep all that it ever said: the oldest may be said again."""


def _warn(message: str) -> None:
    """Tells the user something that is no error, each different message once."""
    with _lock:
        if message in _warnings_given:
            return
        if len(_warnings_given) >= _KEPT_WARNINGS:
            del _warnings_given[next(iter(_warnings_given))]
        _warnings_given[message] = None
    import warnings

    caller = sys._getframe(1)
    place = (caller.f_code.co_filename, caller.f_lineno, __name__)
    try:
        # Unlike warn(), keeps no list of its own of all that was said.
        warnings.warn_explicit(message, ElasticRunWarning, *place)
    except ElasticRunWarning:
        # Where warnings have been made errors (-W error), this is still no reason to end a training.
        sys.stderr.write(f"{ElasticRunWarning.__name__}: {message}\n")


# --- The environment ------------------------------------------------------------------------------


def _channel_directory() -> Optional[str]:
    """None where this process was not started by elastic-run."""
    return os.environ.get("ELASTIC_RUN_CHANNEL") or None


def _error_file() -> Optional[str]:
    """Where this process leaves what ended it; None outside of a launcher."""
    return os.environ.get("TORCHELASTIC_ERROR_FILE") or None


def _wall_time_ms() -> int:
    return time.time_ns() // 1_000_000


def _event_from_variables(variables: Mapping[str, str], timestamp: int) -> WorkerEvent:
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
        "worker_info": _record_of(WorkerInfo, info),
    }
    return _record_of(WorkerEvent, event)


def _integer_of(variables: Mapping[str, str], name: str, otherwise: Optional[int]) -> int:
    text = variables.get(name, "")
    if text.isascii() and text.isdigit():
        return int(text)
    if text != "":
        _not_launched(f'{name} is "{text}", which is not a whole number')
    if otherwise is None:
        _not_launched(f"{name} is not set, and neither is ELASTIC_RUN_CHANNEL")
    return otherwise


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _opening.acquire(),
        after_in_parent=lambda: _opening.release(),
        after_in_child=_after_fork_in_child,
    )

"""Waits for events and for work."""
from __future__ import annotations

import threading
import time

from ._errors import ChannelError, WaitForWorkTimeoutError, not_launched
from ._events import WorkerEvent, WorkerInfo
from ._hints import Iterator, NoReturn, Optional
from ._session import Session, open_session
from ._watch import Watch


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
    return _iterate(open_session(), timeout, stop)


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
    session = open_session()
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
                # A worker that has waited has said so: it has left the round before.
                if told_in is None and event.sequence > 1:
                    session.say_working(event.round)
                return event.worker_info
            if session.is_last(event.sequence):
                not_launched(
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


def _iterate(
    session: Session, timeout: Optional[float], stop: Optional[threading.Event]
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
    session: Session,
    position: int,
    watch: Watch,
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

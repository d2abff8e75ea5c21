"""Hands events to listeners, each on a thread of its own."""
from __future__ import annotations

import sys
import threading
import time

from . import _process
from ._errors import warn, words
from ._events import WorkerEvent
from ._hints import TYPE_CHECKING, Any, Callable, Optional, Union
from ._session import Session, open_session
from ._watch import POLL_S

if TYPE_CHECKING:
    from ._preemption import NoticeFeed

_EXIT_PATIENCE_S = 1.0
"""How long the end of the process waits for a listener that is being called."""

_deliveries: set[Delivery] = set()
_knows_exit = False


def on_worker_event(listener: Callable[[WorkerEvent], object]) -> Callable[[], None]:
    """Calls `listener` for each event that this process has not received yet, in order; at first for
    the newest. The calls come one at a time on a daemon thread; an event is acknowledged when its
    call has returned. What the listener raises goes to `threading.excepthook`: that event is not
    acknowledged, and the next one comes as ever.

    Returns a function that ends it, which does not wait for a call that has begun. It does not keep
    the process alive. Raises NotLaunchedError outside of a launcher.
    """
    delivery = Delivery(open_session(), listener)
    delivery.start()
    return delivery.close


class Delivery:
    """Hands events to a listener, on a thread of its own."""

    def __init__(
        self, session: Union[Session, NoticeFeed], listener: Callable[[Any], object]
    ) -> None:
        self._session = session
        self._listener: Optional[Callable[[Any], object]] = listener
        self._position = session.position_of_unreceived()
        self._calling = threading.Lock()

    def start(self) -> None:
        global _knows_exit
        with _process.lock:
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
                    watch.wait(POLL_S)
        except Exception as error:
            warn(words(error))
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


_process.at_fork(after_in_child=_deliveries.clear)

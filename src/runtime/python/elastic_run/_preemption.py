"""Whether this worker's machine will go."""
from __future__ import annotations

from ._channel import Channel, SingleEvent, source_if_launched, speak
from ._delivery import Delivery
from ._events import Preemption, make_dataclasses
from ._hints import Callable, Optional, Union
from ._messages import Notice
from ._watch import Watch

_noticed = 0


def preemption() -> Optional[Preemption]:
    """Whether this worker's machine will go: when, who says so, and why; None if not, or not any more.
    It is read from disk without waiting, and may be called at each step. The worker works on until it
    ends by itself, acknowledges what this returned, or gets SIGTERM. None outside of elastic-run."""
    global _noticed
    source = source_if_launched()
    notice = None if source is None else source.notice()
    if source is None or notice is None or notice.source is None:
        return None
    make_dataclasses()
    if notice.sequence != _noticed:
        _noticed = notice.sequence
        speak(source, {"kind": "NOTICED", "event": notice.sequence})
    return notice.to_preemption()


def on_preemption(listener: Callable[[Preemption], object]) -> Callable[[], None]:
    """Calls `listener` when this worker's machine will go, also if it is known already, and again if
    the deadline changes, on a daemon thread. When the listeners of all workers of the node have
    returned, the workers get SIGTERM: one that only remembers the notice for later must not be used,
    but `preemption`. Where the listener raises, SIGTERM comes in time for the deadline.

    Returns a function that ends it. Does nothing outside of elastic-run.
    """
    source = source_if_launched()
    if source is None:
        return lambda: None
    make_dataclasses()
    delivery = Delivery(NoticeFeed(source), lambda notice: listener(notice.to_preemption()))
    delivery.start()
    return delivery.close


class NoticeFeed:
    """The notices of a channel, for a `Delivery`. It does not greet the agent: who only wants to know
    of the end of its machine need not follow the rounds."""

    def __init__(self, source: Union[Channel, SingleEvent]) -> None:
        self._source = source

    def next(self, after: int) -> Optional[Notice]:
        """The newest notice, if it came after this sequence and holds."""
        notice = self._source.notice()
        is_new = notice is not None and notice.sequence > after and notice.source is not None
        return notice if is_new else None

    def is_last(self, sequence: int) -> bool:
        return False

    def watch(self) -> Watch:
        return Watch(self._source.events)

    def position_of_unreceived(self) -> int:
        return 0

    def receive(self, notice: Notice) -> None:
        speak(self._source, {"kind": "NOTICED", "event": notice.sequence})

    def acknowledge(self, notice: Notice) -> None:
        speak(self._source, {"kind": "ACK", "event": notice.sequence})

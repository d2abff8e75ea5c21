"""The runtime library of elastic-run for Python: how a worker learns of its place in the world and
of the rounds to come, and tells its agent how it is doing.

    import elastic_run

    info = elastic_run.get_worker_info()
    print(f"worker {info.rank} of {info.world_size}")
    elastic_run.report_progress(step=1, loss=0.5)

It needs nothing but Python >= 3.9 and opens nothing until it is called. It may be called from any
thread and from signal handlers. No thread of its own keeps the process alive.

Processes that inherit ELASTIC_RUN_CHANNEL are part of the worker: what one of them receives or
reports counts as the worker's. Helpers do not: a process that was forked, or that multiprocessing
has started (a data loader), reads and may report, but neither greets the agent nor acknowledges.

A process that another launcher has started with torchrun's variables gets its place from these, as
one event after which no other comes.
"""
from __future__ import annotations

from . import _process  # At once: it knows of forks.
from ._errors import (
    ChannelError,
    ElasticRunError,
    ElasticRunWarning,
    NotLaunchedError,
    WaitForWorkTimeoutError,
)
from ._events import Preemption, WorkerEvent, WorkerInfo, WorkerState, WorldChangeEvent
from ._hints import TYPE_CHECKING
from ._hints import Optional as Optional  # For who asks for the types of the classes.

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from ._delivery import on_worker_event
    from ._preemption import on_preemption, preemption
    from ._reports import record, register, report_error, report_progress
    from ._session import acknowledge, get_worker_event, get_worker_info
    from ._waiting import wait_for_work, worker_events

__version__ = "0.1.0"

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

_FUNCTIONS = {
    "acknowledge": "_session",
    "get_worker_event": "_session",
    "get_worker_info": "_session",
    "on_preemption": "_preemption",
    "on_worker_event": "_delivery",
    "preemption": "_preemption",
    "record": "_reports",
    "register": "_reports",
    "report_error": "_reports",
    "report_progress": "_reports",
    "wait_for_work": "_waiting",
    "worker_events": "_waiting",
}
"""By their files, which are imported when a function is first asked for: all at once would take longer."""

if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name == "checkpoint":
            return import_module(".checkpoint", __name__)
        if name not in _FUNCTIONS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f".{_FUNCTIONS[name]}", __name__), name)
        globals()[name] = _at_home(found)
        return found

    def __dir__():
        return [*globals(), *_FUNCTIONS, "checkpoint"]

    def _at_home(found):
        """In tracebacks, pickles and documentation it is where it is imported from."""
        found.__module__ = __name__
        return found

    for _name in __all__:
        if _name not in _FUNCTIONS:
            _at_home(globals()[_name])

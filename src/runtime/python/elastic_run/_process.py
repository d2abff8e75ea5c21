"""This process: how it was launched, whether it is a worker's helper, and the lock that its threads share.

Other files read `_process.lock` and `_process.forked` anew each time: a fork replaces them."""
from __future__ import annotations

import os
import sys
import threading
import time

from ._hints import Callable, Optional

lock = threading.RLock()
"""One for everything: calls are short. A signal handler may come in between on the same thread."""

forked = False
"""Whether a process that a launcher has started has forked this one."""


def is_helper() -> bool:
    """Whether this process was forked, or was started by multiprocessing: as it begins, too, when it
    imports its parent's main module again."""
    if forked:
        return True
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None:
        return False
    is_beginning = getattr(multiprocessing.current_process(), "_inheriting", False)
    return is_beginning or multiprocessing.parent_process() is not None


def channel_directory() -> Optional[str]:
    """None where this process was not started by elastic-run."""
    return os.environ.get("ELASTIC_RUN_CHANNEL") or None


def error_file() -> Optional[str]:
    """Where this process leaves what ended it; None outside of a launcher."""
    return os.environ.get("TORCHELASTIC_ERROR_FILE") or None


def wall_time_ms() -> int:
    return time.time_ns() // 1_000_000


def at_fork(**calls: Callable[[], object]) -> None:
    """As `os.register_at_fork`, where there is such a thing. A fork starts afresh: locks that other
    threads of its parent held are never released, and these threads are not there. Each file does so
    with what it owns."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**calls)


def _start_afresh() -> None:
    global forked, lock
    lock = threading.RLock()
    # The helper from which warm restarts fork workers is none itself.
    forked = forked or channel_directory() is not None or error_file() is not None


at_fork(after_in_child=_start_afresh)

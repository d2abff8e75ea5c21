"""What a worker notes of its imports while the launcher learns them, and the signal at which it tells them:
docs/warm-restarts.md. `_elastic_run_hook` loads it only then.
"""
import os
import sys

from _elastic_run_hook import changes, free_signal, learn


def learn_at_signal(known):
    """Learns at this signal, or where it is None at a free one. Which one it is; None: at none."""
    import _signal

    number = free_signal() if known is None else known
    if number is None:
        return None
    try:
        # It stays: a signal that comes late would end the process.
        _signal.signal(number, lambda *_: learn())
    except ValueError:
        return known  # Another thread than the main one trains.
    _signal.siginterrupt(number, False)
    return number


class Notes:
    """Notes at each import what had been changed in the environment, because what a module does may follow from it, and
    what the import costs."""

    def __init__(self):
        self.first = dict(os.environ)
        self.raw = None
        self.newest = {}
        self.environments = {}
        self.seconds = {}
        """Of this thread's processor time, by module: from the beginning of its import until that of the next one."""
        self.under_way = []
        self.last = ""
        self.then = 0

    def note(self, name):
        import time

        while self.under_way and not _is_under_way(self.under_way[-1]):
            self.under_way.pop()
        now = time.thread_time()
        # Otherwise the script has done something else since.
        if self.under_way:
            costs = self.last if self.last in sys.modules else self.under_way[-1]
            # Another thread's clock may be behind.
            self.seconds[costs] = self.seconds.get(costs, 0) + max(0, now - self.then)
        # Comparing all decoded values at each import would cost too much.
        raw = os.environ._data
        if raw != self.raw:
            self.raw = dict(raw)
            self.newest = changes(self.first, dict(os.environ))
        self.environments[name] = self.newest
        self.under_way.append(name)
        self.last = name
        self.then = time.thread_time()


def _is_under_way(name):
    """Whether this module's text runs at the moment."""
    return getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)

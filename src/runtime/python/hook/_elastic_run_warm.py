"""Warm starts: this process stops in the middle of Python's own start, imports what the last round's workers had
imported, and forks. Each child goes on with Python's start, as the worker that it is told to be: docs/warm-restarts.md.

Python itself then runs the script, so that `__main__`, tracebacks and exit codes are those of any start.
"""
import json
import os
import sys

from _elastic_run_warm_imports import Refusal, Watched
from _elastic_run_warm_learned import LibraryTest, script_directory
from _elastic_run_warm_parked import (
    LONGEST_REFUSAL,
    LowPriority,
    changed_file,
    private_bytes,
    refusal_of,
    refuse_accelerators,
    seconds,
    stamps,
    wait_as_worker,
    write_all,
)
from _elastic_run_warm_trials import Trials, moved_up

_CONTROL = 3
"""The descriptor to the launcher: lines of JSON in both directions. The next three are the launcher's own streams."""

_IMPORT_SECONDS = 20
"""So long a parked process may import, whatever the worker had needed."""

_SLOWER_THAN_WORKER = 10
"""And so many times what all imports had cost the worker."""

_LOOK_AGAIN_SECONDS = 1
"""So old may a look at the preloaded files be."""

_kept = None
"""The helper, in its workers: to free it would write to all that it refers to, and each page of that would be copied."""


def serve(launcher):
    """Returns in each worker. In this process it does not return: nothing may run the script here."""
    if os.getppid() != int(launcher):
        return  # A program on the way to the worker's own Python.
    helper = None
    try:
        del os.environ["ELASTIC_RUN_HELPER_OF"]
        helper = _Helper()
        if helper.run() == "worker":
            global _kept
            _kept = helper
            return
    except Refusal as refusal:
        reason = str(refusal)[:LONGEST_REFUSAL]
        helper.say(kind="refused", reason=reason, leaveOut=refusal.leave_out, sets=refusal.sets)
    except BaseException as error:
        if helper is not None:
            text = "%s: %s" % (type(error).__name__, error)
            helper.say(kind="refused", reason=text[:LONGEST_REFUSAL], leaveOut=[], sets=[])
    # With what its imports have started.
    os.killpg(0, 9)


class _Helper:
    def __init__(self):
        self.control = moved_up(_CONTROL)
        self.streams = [moved_up(_CONTROL + 1 + number) for number in range(3)]
        self.pid = os.getpid()
        self.received = b""
        self.parked = {}
        self.watched = {}
        self.files = ()
        self.looked_at = 0
        self.changed = None
        self.asked = []
        """Processes that it is to fork."""
        self.hearing = None
        """Of the newest one, until it waits: where it tells of its imports, its pid, its local rank."""
        self.hear_until = 0

    def say(self, **message):
        try:
            os.write(self.control, (json.dumps(message) + "\n").encode())
        except OSError:
            os._exit(0)  # The launcher is gone.

    def run(self):
        if not hasattr(os, "pidfd_open"):
            raise Refusal("this Python cannot wait for other processes' ends (pidfd_open)")
        os.close(os.pidfd_open(self.pid))
        self.say(kind="hello")
        order = self.next_order()
        began = seconds()
        with LowPriority():
            left = self.preload(order)
        self.pid = os.getpid()
        self.examine()
        self.env = order["env"]
        self.patience = _IMPORT_SECONDS + _SLOWER_THAN_WORKER * order["seconds"]
        modules = len(sys.modules)
        took = round(seconds() - began, 3)
        found = self.imports.found
        self.say(kind="ready", pid=self.pid, modules=modules, bytes=private_bytes(), seconds=took, left=left, **found)
        return self.wait()

    def preload(self, order):
        """Returns what it has left to the workers: by index in the list, why."""
        import ctypes  # noqa: F401
        import gc

        import _elastic_run_hook

        _elastic_run_hook.prepare()
        self.names = order["modules"]
        self.imports = Watched(order, LibraryTest(list(sys.path), script_directory()), Trials())
        self.files = stamps(self.imports.import_ahead(self.names))
        gc.collect()
        gc.freeze()
        return self.imports.left

    def examine(self):
        refuse_accelerators()
        self.try_fork()
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            raise Refusal("%d threads run after the imports" % threads)

    def try_fork(self):
        """Libraries of linear algebra end their threads before a fork, and start them again when they are used."""
        pid = os.fork()
        if pid == 0:
            is_bad = 1
            try:
                torch = sys.modules.get("torch")
                is_bad = 0
                for name in ("cuda", "xpu"):
                    is_in_bad_fork = getattr(getattr(torch, name, None), "_is_in_bad_fork", bool)
                    is_bad |= bool(is_in_bad_fork())
            finally:
                os._exit(is_bad)
        if os.waitpid(pid, 0)[1] != 0:
            raise Refusal("an accelerator was used by an import, and cannot be used after a fork")

    def wait(self):
        import select

        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in self.poll.poll(self.poll_milliseconds()):
                if descriptor == self.control:
                    for order in self.orders():
                        self.obey(order)
                elif self.hearing is not None and descriptor == self.hearing[0]:
                    self.hear()
                elif descriptor in self.watched:
                    self.poll.unregister(descriptor)
                    self.reap(descriptor)
            if self.hearing is not None and seconds() > self.hear_until:
                self.unfit("it imported for more than %d s" % self.patience)
            if self.try_park():
                return "worker"

    def poll_milliseconds(self):
        if self.hearing is None:
            return None
        return max(0, self.hear_until - seconds()) * 1000 + 1

    def obey(self, order):
        if order["kind"] == "start":
            self.start(order)
        elif order["kind"] == "look":
            self.look_at_files()
        elif order["kind"] == "park":
            self.asked.append(order)

    def next_order(self):
        while True:
            for order in self.orders():
                return order

    def orders(self):
        """The next complete lines; ends this process when the launcher is gone."""
        data = os.read(self.control, 1 << 16)
        if not data:
            os._exit(0)
        self.received += data
        *lines, self.received = self.received.split(b"\n")
        return [json.loads(line) for line in lines]

    def reap(self, watched):
        pid = self.watched.pop(watched)
        if self.hearing is not None and self.hearing[1] == pid:
            self.hear_rest()
        _, status = os.waitpid(pid, 0)
        os.close(watched)
        pipe = self.parked.pop(pid, None)
        if pipe is not None:
            os.close(pipe)
        self.say(kind="exited", pid=pid, status=status)

    def start(self, order):
        pid = order["pid"]
        pipe = self.parked.pop(pid, None)
        if pipe is None:
            return  # Its end is told already.
        changed = self.look_at_files()
        if changed is not None:
            order = {"refusal": refusal_of(changed)}
        try:
            write_all(pipe, json.dumps(order).encode() + b"\n")
        except OSError:
            pass  # It has ended.
        os.close(pipe)

    def look_at_files(self):
        now = seconds()
        if self.changed is None and now - self.looked_at > _LOOK_AGAIN_SECONDS:
            self.changed = changed_file(self.files)
            self.looked_at = now
        return self.changed

    def try_park(self):
        """Returns True in a forked worker. One at a time: what each still imports would take several processors."""
        while self.asked and self.hearing is None:
            order = self.asked.pop(0)
            try:
                pid = self.park(order)
            except OSError as error:
                # Those that run must not end with this process.
                self.asked.clear()
                self.say(kind="refused", reason="no process can be forked: %s" % error.strerror, leaveOut=[], sets=[])
                return False
            if pid == 0:
                return True
        return False

    def park(self, order):
        """Forks a worker that waits for its order. Returns its pid; 0 in the worker once it has its order."""
        import select

        pipes = [*os.pipe(), *os.pipe()]
        pid = 0
        try:
            mine, its, heard, told = pipes = [moved_up(descriptor) for descriptor in pipes]
            pid = os.fork()
            watched = None if pid == 0 else os.pidfd_open(pid)
        except OSError:
            for descriptor in pipes:
                os.close(descriptor)
            if pid != 0:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
            raise
        if watched is not None:
            os.close(mine)
            os.close(told)
            self.parked[pid] = its
            self.watched[watched] = pid
            self.hearing = (heard, pid, order["localRank"])
            self.hear_until = seconds() + self.patience
            self.heard = b""
            for descriptor in (watched, heard):
                self.poll.register(descriptor, select.POLLIN)
            return pid
        others = [its, heard, *self.parked.values(), *self.watched]
        wait_as_worker(self, order, others, mine, told)
        return 0

    def hear(self):
        """What the newest process says of its imports: a line. What these have forked may keep its end open."""
        heard, pid, local_rank = self.hearing
        part = os.read(heard, 1 << 16)
        self.heard += part
        if self.heard.endswith(b"\n"):
            about = json.loads(self.heard)
            if about["kind"] == "parked":
                # The launcher hears of it before anybody can see that the helper listens no more.
                self.say(pid=pid, localRank=local_rank, **about)
                self.stop_hearing()
            else:
                self.unfit(**about)
        elif not part:
            self.unfit("it ended while it imported")

    def hear_rest(self):
        """It has ended."""
        os.set_blocking(self.hearing[0], False)
        try:
            while self.hearing is not None:
                self.hear()
        except BlockingIOError:
            self.unfit("it ended while it imported")

    def unfit(self, reason, kind="unfit", leaveOut=(), sets=()):
        """Ends the newest process, with what its imports have started."""
        _, pid, local_rank = self.hearing
        self.stop_hearing()
        try:
            os.killpg(pid, 9)
        except ProcessLookupError:
            pass  # It leads no group yet, and has ended.
        self.say(kind=kind, pid=pid, localRank=local_rank, reason=reason, leaveOut=leaveOut, sets=sets)

    def stop_hearing(self):
        heard = self.hearing[0]
        self.hearing = None
        self.poll.unregister(heard)
        os.close(heard)

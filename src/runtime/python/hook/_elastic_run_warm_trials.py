"""Imports ahead in forks: what must be left out costs its own import once more, not all that was imported before.

Of the processes the first is the launcher's child: it only waits, and ends with the others. The newest imports; the one
before it has stayed where all was well, and goes on from there if the newest one fails. The newest becomes the helper.
"""
import json
import os
import select
import time

from _elastic_run_warm_parked import write_all
from _elastic_run_warm_worker import die_with_parent, prctl

_OWN_DESCRIPTORS = 800
"""From where on the helper keeps its own descriptors, so that modules find the low ones free."""

_SECONDS = 0.1
"""So much of the processor's time may be lost besides the import that fails: a fork costs some milliseconds, and on a busy
machine its first turn. There the time that passes would ask for a fork at nearly every import."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Trials:
    def __init__(self):
        self.root = os.getpid()
        self.told = None
        """Where this process tells the one before it what came of its imports; None: there is none."""
        self.begun = 0
        self.is_each = False
        """Each import is tried by itself."""
        self.leave_root()

    def leave_root(self):
        """Those whose parent has gone on become children of the root."""
        import _signal

        usual = _signal.signal(_signal.SIGUSR1, lambda *_: prctl(_PR_SET_CHILD_SUBREAPER, 0))
        prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if os.fork() != 0:
            _wait_for_all()
        _signal.signal(_signal.SIGUSR1, usual)
        die_with_parent(self.root)

    def begin(self):
        """Called before an import. Returns None where it is to be tried; in the process that has stayed behind, once that
        has failed, what must be left out: see `fail`; empty if its process has ended."""
        if self.told is not None and not self.is_each and time.process_time() - self.begun < _SECONDS:
            return None
        self.passed()
        heard, told = [moved_up(descriptor) for descriptor in os.pipe()]
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            # With what its imports start.
            os.setpgid(0, 0)
            die_with_parent(parent)
            os.close(heard)
            self.told = told
            self.begun = time.process_time()
            return None
        os.close(told)
        answer = _answer(heard, pid)
        if answer == b"passed\n":
            os._exit(0)
        _end_group(pid)
        os.close(heard)
        return json.loads(answer) if answer else {}

    def fail(self, leave_out, sets):
        """Tells what must be left out, and ends this process."""
        write_all(self.told, json.dumps({"leaveOut": leave_out, "sets": sets}).encode() + b"\n")
        os._exit(0)

    def passed(self):
        """All is well until here: nobody needs to stay behind."""
        if self.told is None:
            return
        before = os.getppid()
        prctl(_PR_SET_PDEATHSIG, 0)
        write_all(self.told, b"passed\n")
        os.close(self.told)
        self.told = None
        while os.getppid() == before:
            time.sleep(0.001)
        die_with_parent(self.root)

    def end(self):
        """This process is the helper. What its workers leave behind is none of the root's."""
        import _signal

        self.passed()
        os.setpgid(0, self.root)
        os.kill(self.root, _signal.SIGUSR1)


def _wait_for_all():
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(0)


def _answer(heard, pid):
    """The line that it says; empty if it has ended without one. What it has forked may keep the pipe open."""
    watched = os.pidfd_open(pid)
    poll = select.poll()
    for descriptor in (heard, watched):
        poll.register(descriptor, select.POLLIN)
    os.set_blocking(heard, False)
    said = b""
    while not said.endswith(b"\n"):
        has_ended = any(descriptor == watched for descriptor, _ in poll.poll())
        try:
            part = os.read(heard, 1 << 16)
        except BlockingIOError:
            part = b""
        said += part
        if has_ended and not part:
            break
    os.close(watched)
    return said if said.endswith(b"\n") else b""


def _end_group(pid):
    try:
        os.killpg(pid, 9)
    except ProcessLookupError:
        pass  # It has ended before it led one.
    os.waitpid(pid, 0)


def moved_up(descriptor):
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = _OWN_DESCRIPTORS if limit == resource.RLIM_INFINITY else min(_OWN_DESCRIPTORS, limit // 2)
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(descriptor)
    return high

"""Warm starts: this process stops in the middle of Python's own start, imports what the last round's workers had
imported, and forks. Each child goes on with Python's start, as the worker that it is told to be: docs/warm-restarts.md.

Python itself then runs the script, so that `__main__`, tracebacks and exit codes are those of any start.
"""
import json
import os
import sys

from _elastic_run_hook import changes
from _elastic_run_warm_imports import LibraryTest, Refusal, Watched
from _elastic_run_warm_learned import library_directories, script_directory
from _elastic_run_warm_worker import die_with_parent, make_streams, make_unlike_others, note_start

_CONTROL = 3
"""The descriptor to the launcher: lines of JSON in both directions. The next three are the launcher's own streams."""

_OWN_DESCRIPTORS = 800
"""From where on this process keeps its own descriptors, so that modules find the low ones free."""

_NICE = 5
"""While it imports. A higher one would starve it on a machine whose processors the workers fill."""

_LOOK_AGAIN_SECONDS = 1
"""So old may a look at the preloaded files be."""

_LONGEST_REFUSAL = 400

_NOT_PARKED = -1

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
        reason = str(refusal)[:_LONGEST_REFUSAL]
        helper.say(kind="refused", reason=reason, leaveOut=refusal.leave_out, sets=refusal.sets)
    except BaseException as error:
        if helper is not None:
            text = "%s: %s" % (type(error).__name__, error)
            helper.say(kind="refused", reason=text[:_LONGEST_REFUSAL], leaveOut=[], sets=[])
    # With what its imports have started.
    os.killpg(0, 9)


class _Helper:
    def __init__(self):
        self.control = _moved_up(_CONTROL)
        self.streams = [_moved_up(_CONTROL + 1 + number) for number in range(3)]
        self.pid = os.getpid()
        self.received = b""
        self.parked = {}
        self.watched = {}
        self.files = ()
        self.looked_at = 0
        self.changed = None
        self.environment_changes = {}

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
        began = _seconds()
        with _LowPriority():
            left = self.preload(order)
        self.examine()
        self.environment_changes = changes(order["env"], dict(os.environ))
        modules = len(sys.modules)
        seconds = round(_seconds() - began, 3)
        self.say(kind="ready", modules=modules, bytes=_private_bytes(), seconds=seconds, left=left)
        return self.wait()

    def preload(self, order):
        """Returns what it has left to the workers: by index in the list, why."""
        import ctypes  # noqa: F401
        import gc

        import _elastic_run_hook

        _elastic_run_hook.prepare()
        own = script_directory()
        has_own = not getattr(sys.flags, "safe_path", False)
        if has_own:
            # A library may look for a module of the user's.
            sys.path.insert(0, own)
        imports = Watched(order, LibraryTest(list(sys.path), own))
        imports.run(order["modules"])
        if has_own and own in sys.path:
            # Libraries may have added others.
            sys.path.remove(own)
        if imports.blamed:
            raise imports.refusal()
        libraries = library_directories()
        origins = set()
        for module in list(sys.modules.values()):
            origin = getattr(getattr(module, "__spec__", None), "origin", None)
            if isinstance(origin, str) and os.path.isabs(origin):
                origins.add(origin)
        # What Python remembers of the user's directories may be outdated when a worker starts.
        for entry in list(sys.path_importer_cache):
            if not (os.path.realpath(entry) + os.sep).startswith(libraries):
                del sys.path_importer_cache[entry]
        self.files = [(origin, _stamp(origin)) for origin in sorted(origins)]
        gc.collect()
        gc.freeze()
        return imports.left

    def examine(self):
        torch = sys.modules.get("torch")
        if torch is not None:
            for name in ("cuda", "xpu"):
                device = getattr(torch, name, None)
                if device is not None and device.is_initialized():
                    raise Refusal("%s is initialised by an import" % name)
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

        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor != self.control:
                    poll.unregister(descriptor)
                    self.reap(descriptor)
                    continue
                for order in self.orders():
                    if order["kind"] == "start":
                        self.start(order)
                    elif order["kind"] == "look":
                        self.look_at_files()
                    elif order["kind"] == "park":
                        for _ in range(order["count"]):
                            watched = self.try_park()
                            if watched is None:
                                return "worker"
                            if watched == _NOT_PARKED:
                                break
                            poll.register(watched, select.POLLIN)

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
            order = {"refusal": "%s has changed since it was imported" % changed}
        try:
            _write_all(pipe, json.dumps(order).encode() + b"\n")
        except OSError:
            pass  # It has ended.
        os.close(pipe)

    def look_at_files(self):
        now = _seconds()
        if self.changed is None and now - self.looked_at > _LOOK_AGAIN_SECONDS:
            self.changed = next((path for path, stamp in self.files if _stamp(path) != stamp), None)
            self.looked_at = now
        return self.changed

    def try_park(self):
        """As `park`. Where the system refuses it, those that run must not end with this process."""
        try:
            return self.park()
        except OSError as error:
            self.say(kind="refused", reason="no process can be forked: %s" % error.strerror, leaveOut=[], sets=[])
            return _NOT_PARKED

    def park(self):
        """Forks a worker that waits for its order. Returns what tells its end; None in the worker once it has its order."""
        mine, its = os.pipe()
        pid = 0
        try:
            pid = os.fork()
            watched = None if pid == 0 else os.pidfd_open(pid)
        except OSError:
            os.close(mine)
            os.close(its)
            if pid != 0:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
            raise
        if watched is not None:
            os.close(mine)
            self.parked[pid] = its
            self.watched[watched] = pid
            self.say(kind="parked", pid=pid)
            return watched
        try:
            die_with_parent(self.pid)
            os.setsid()
            for descriptor in [its, *self.parked.values(), *self.watched]:
                os.close(descriptor)
            make_unlike_others()
            order = json.loads(_read_line(mine))
            os.close(mine)
            if "refusal" in order:
                raise Refusal(order["refusal"])
            self.become(order)
        except BaseException as error:
            reason = "%s" % error
            self.say(kind="not-started", pid=os.getpid(), reason=reason[:_LONGEST_REFUSAL])
            os._exit(0)
        return None

    def become(self, order):
        os.chdir(order["cwd"])
        if order["readsStdin"]:
            os.dup2(self.streams[0], 0)
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            self.open_stream(descriptor, order[name])
        for descriptor in self.streams:
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(order["env"])
        for name, value in self.environment_changes.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        make_streams()
        note_start()
        self.say(kind="started", pid=os.getpid())
        os.close(self.control)

    def open_stream(self, descriptor, stream):
        if "launchers" in stream:
            os.dup2(self.streams[stream["launchers"]], descriptor)
            return
        opened = os.open(stream["path"], stream["flags"] | os.O_CLOEXEC)
        found = os.fstat(opened)
        if [str(found.st_dev), str(found.st_ino)] != stream["identity"]:
            raise OSError("%s is another file by now" % stream["path"])
        os.dup2(opened, descriptor)
        os.close(opened)


class _LowPriority:
    """What this process imports may not slow down the workers that run. Its children never inherit it."""

    def __enter__(self):
        self.usual = os.getpriority(os.PRIO_PROCESS, 0)
        self.is_nice = _may_be_undone(self.usual)
        if self.is_nice:
            os.setpriority(os.PRIO_PROCESS, 0, max(self.usual, _NICE))
        self.set_group(_NICE)

    def __exit__(self, *_):
        if self.is_nice:
            os.setpriority(os.PRIO_PROCESS, 0, self.usual)
        self.set_group(0)

    def set_group(self, nice):
        """The kernel's group of this session; each worker has a session of its own."""
        try:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(nice))
        except OSError:
            pass


def _may_be_undone(usual):
    """A process without rights may lower its priority, but not raise it again."""
    pid = os.fork()
    if pid == 0:
        may = 1
        try:
            os.setpriority(os.PRIO_PROCESS, 0, min(19, usual + 1))
            os.setpriority(os.PRIO_PROCESS, 0, usual)
            may = 0
        finally:
            os._exit(may)
    return os.waitpid(pid, 0)[1] == 0


def _moved_up(descriptor):
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = _OWN_DESCRIPTORS if limit == resource.RLIM_INFINITY else min(_OWN_DESCRIPTORS, limit // 2)
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(descriptor)
    return high


def _stamp(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _private_bytes():
    try:
        with open("/proc/self/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return 0
    return sum(int(line[1]) for line in lines) * 1024


def _seconds():
    import time

    return time.monotonic()


def _read_line(descriptor):
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(descriptor, 1 << 16)
        if not part:
            os._exit(0)  # The helper is gone.
        text += part
    return text


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]

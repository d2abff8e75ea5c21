"""What a module may leave in the process that has imported it."""
import fcntl
import os
import sys


class HasTarget:
    """Whether a descriptor is still open on what it was."""

    def __init__(self, descriptor, target):
        self.descriptor = descriptor
        self.target = target

    def __call__(self):
        return _target(self.descriptor) == self.target


class OutlivesFork:
    """Whether a thread is there after a fork: those of linear algebra end before it, and come back when they are used."""

    def __init__(self, thread):
        self.thread = thread

    def __call__(self):
        path = "/proc/self/task/" + self.thread
        if os.path.exists(path):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        return os.path.exists(path)


class TemporaryNames:
    """Gives tempfile the names that it tries, and knows whose they are."""

    def __init__(self, watch):
        import tempfile

        self.watch = watch
        self.usual = tempfile._RandomNameSequence()

    def __iter__(self):
        return self

    def __next__(self):
        name = next(self.usual)
        caller = sys._getframe(1)
        folder = caller.f_locals.get("dir")
        # mktemp only gives the name away: what is made by it comes later.
        is_for_later = folder is None or caller.f_code.co_name == "mktemp"
        self.watch.suspect(lambda: is_for_later or _has_entry(folder, name), "makes a temporary file")
        return name


def _has_entry(folder, name):
    try:
        return any(name in os.fsdecode(entry) for entry in os.listdir(folder))
    except FileNotFoundError:
        return False


def is_unnoticed(descriptor, target):
    """Whether it makes no difference to others that this process has it open: a pipe of its own, a file that it reads."""
    if not target.startswith("/"):
        return not target.startswith("socket:")
    try:
        is_read_only = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except OSError:
        return False
    return is_read_only and not target.startswith("/dev/")


def has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


def targets():
    """What each descriptor is open on."""
    listed = {int(name): _target(int(name)) for name in os.listdir("/proc/self/fd")}
    return {descriptor: target for descriptor, target in listed.items() if target is not None}


def _target(descriptor):
    try:
        return os.readlink("/proc/self/fd/%d" % descriptor)
    except OSError:
        return None  # That of the listing itself.

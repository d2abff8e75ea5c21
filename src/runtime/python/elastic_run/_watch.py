"""Waits until a channel's events may have changed."""
from __future__ import annotations

import errno
import os
import stat
import threading
import time

from . import _process
from ._errors import warn, words
from ._hints import Any, Optional

POLL_S = 1.0
"""How often to look although nothing was notified: hints may be lost."""

_SOLE_POLL_S = 0.15
"""The same where there are no notifications at all."""

_STOP_POLL_S = 0.25
"""How often to look whether an iteration is to stop."""

_watches: set[Watch] = set()
_opening = threading.RLock()
"""Held while a watch's descriptor is opened or closed, and while the process forks: a fork closes
those that are known of."""

_HINTS = 0x80 | 0x100 | 0x400 | 0x800
"""What inotify tells: IN_MOVED_TO, IN_CREATE, IN_DELETE_SELF, IN_MOVE_SELF."""

_NETWORK_FILE_SYSTEMS = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB2",
    0x65735546: "FUSE",
    0x01021997: "9p",
    0x5346414F: "AFS",
    0x6B414653: "kAFS",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x47504653: "GPFS",
    0x19830326: "BeeGFS",
    0x73757245: "Coda",
    0x7461636F: "OCFS2",
    0x01161970: "GFS2",
}
"""The magic numbers of statfs(2), from linux/magic.h and the file systems' own sources."""


class Watch:
    """Waits for changes of a channel's events. It says neither what nor that anything has changed:
    the caller looks. It hears the agent's doorbell, or watches the directory where there is none. A
    slow poll stands behind these, and a faster one takes their place where there is neither."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._doorbell = os.path.join(os.path.dirname(directory), "doorbell")
        self._is_rung = False  # Rather than read.
        self._pace = 0.0  # Until it is opened.
        self._descriptor = -1
        self._poll: Any = None
        # Now, and not while it waits: what a signal's handler raises is lost within an import.
        for module in ("ctypes", "select"):
            try:
                __import__(module)
            except ImportError:
                pass  # Opening it says so.

    def wait(self, seconds: float, stop: Optional[threading.Event] = None) -> None:
        """Waits until something may have changed, so many seconds at most, or until `stop` is set. The
        first time it only opens the watch: what came before must be looked for once more."""
        if self._pace == 0.0:
            self._open()
            return
        rest = max(0.0, min(seconds, self._pace))
        while not self._hears(rest if stop is None else min(rest, _STOP_POLL_S)):
            rest -= _STOP_POLL_S
            if stop is None or stop.is_set() or rest <= 0:
                return

    def close(self) -> None:
        """May be opened again."""
        with _opening:
            descriptor, self._descriptor, self._pace = self._descriptor, -1, 0.0
            _watches.discard(self)
            if descriptor >= 0:
                os.close(descriptor)

    def _hears(self, seconds: float) -> bool:
        """Whether a notification came within that time."""
        if self._descriptor < 0:
            time.sleep(seconds)
            return False
        if not self._poll.poll(seconds * 1000):
            return False
        if self._is_rung:
            # What is rung from now on is heard by the next one; the caller looks for what was before.
            self.close()
            self._open()
        else:
            os.read(self._descriptor, 65536)
        return True

    def _open(self) -> None:
        self._pace = _SOLE_POLL_S
        try:
            with _opening:
                self._descriptor = _open_doorbell(self._doorbell)
                self._is_rung = self._descriptor >= 0
                if not self._is_rung:
                    self._descriptor = _open_inotify(self._directory)
                _watches.add(self)
        except FileNotFoundError:
            # The channel is gone; the next call reports it.
            return
        except OSError as error:
            warn(
                f"{self._directory} is looked at each {round(_SOLE_POLL_S * 1000)} ms, for want of"
                f" notifications: {words(error)}."
            )
            return
        import select

        self._pace = POLL_S
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)


def _open_doorbell(path: str) -> int:
    """A descriptor of the FIFO that an agent opens and closes to call its workers: it is hung up
    then. -1 where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return -1


def _open_inotify(directory: str) -> int:
    """A descriptor that becomes readable when a directory has changed. Raises OSError where there is
    no such thing."""
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        start, add = libc.inotify_init1, libc.inotify_add_watch
    except (ImportError, AttributeError) as error:
        raise OSError(errno.ENOSYS, "inotify is not to be had here") from error

    def checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result

    path = os.fsencode(directory)
    found = ctypes.create_string_buffer(512)
    checked(libc.statfs(path, found))
    magic = ctypes.c_ulong.from_buffer(found).value & 0xFFFFFFFF
    if magic in _NETWORK_FILE_SYSTEMS:
        name = _NETWORK_FILE_SYSTEMS[magic]
        raise OSError(errno.ENOTSUP, f"it is on a network file system ({name})")
    descriptor = checked(start(os.O_NONBLOCK | os.O_CLOEXEC))
    try:
        checked(add(descriptor, path, ctypes.c_uint32(_HINTS)))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _close_in_child() -> None:
    """Hints that a fork took from an inherited descriptor would be its parent's."""
    global _opening
    _opening = threading.RLock()
    for watch in list(_watches):
        watch.close()


_process.at_fork(
    before=lambda: _opening.acquire(),
    after_in_parent=lambda: _opening.release(),
    after_in_child=_close_in_child,
)

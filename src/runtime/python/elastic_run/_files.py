"""The files of the channel: read whole or not at all, and written so."""
from __future__ import annotations

import os
import stat

from ._hints import Optional
from ._messages import MESSAGE_LIMIT_BYTES


def identity_at(path: str) -> Optional[tuple[int, ...]]:
    try:
        return _identity_of(os.stat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identity_of(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def read_message(path: str) -> tuple[str, tuple[int, ...]]:
    """A message's text, and the identity of the very file that it was read from. Raises ValueError on
    what is not a regular file and on what is larger than a message may be, else the system's error,
    also on a symbolic link."""
    # Without O_NONBLOCK, opening a FIFO that somebody put there would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a regular file")
        if found.st_size > MESSAGE_LIMIT_BYTES:
            raise ValueError(f"it has more than {MESSAGE_LIMIT_BYTES} bytes")
        parts: list[bytes] = []
        while True:
            part = os.read(descriptor, MESSAGE_LIMIT_BYTES)
            if not part:
                return b"".join(parts).decode("utf-8", "replace"), _identity_of(found)
            parts.append(part)
    finally:
        os.close(descriptor)


_names_used = 0


def write_temporary(directory: str, data: bytes) -> str:
    """Writes a new file (0600) under a name that nobody else uses, and returns its path. Leaves nothing
    behind where it fails."""
    global _names_used
    while True:
        path = os.path.join(directory, f".{os.getpid()}.{_names_used}.tmp")
        _names_used += 1
        try:
            _write_new(path, data)
            return path
        except FileExistsError:
            continue


def replace_file(path: str, temporary: str) -> None:
    """Gives a temporary file this name; leaves nothing of it where that fails."""
    try:
        os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def _write_new(path: str, data: bytes) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        remove(path)
        raise
    finally:
        os.close(descriptor)


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass

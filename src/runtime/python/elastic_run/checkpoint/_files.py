"""Checkpoints on disk: written so that a kill at any point leaves the old or the new file, and read with
their checksum."""
from __future__ import annotations

import errno
import hashlib
import os
import shutil
from typing import BinaryIO, Iterable, Union

from ._errors import Damaged
from ._format import DIGEST_BYTES, PREAMBLE_BYTES, Header, decode_header, decode_preamble

Bytes = Union[bytes, bytearray, memoryview]

CHUNK_BYTES = 2**24
"""The size of a read or write: system calls take at most 2 GiB."""


def write_durably(path: str, parts: Iterable[Bytes]) -> int:
    """Writes a new file and returns its size. Its content is on disk then, perhaps not its name. Leaves
    nothing behind where it fails."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    size = 0
    try:
        for part in parts:
            size += _write_fully(descriptor, part)
        os.fsync(descriptor)
    except BaseException:
        delete(path)
        raise
    finally:
        os.close(descriptor)
    return size


def put_in_place(temporary: str, path: str) -> None:
    """Gives a whole file, or directory, its name; nothing of it is left where that fails."""
    try:
        os.rename(temporary, path)
    except BaseException:
        delete(temporary)
        raise
    sync_directory(os.path.dirname(path))


def sync_directory(directory: str) -> None:
    """Makes names in a directory durable, if its file system can."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def make_directory(directory: str) -> None:
    """Makes a directory and its parents, all of them durable."""
    if os.path.isdir(directory):
        return
    parent = os.path.dirname(directory)
    make_directory(parent)
    try:
        os.mkdir(directory)
    except FileExistsError:
        return
    sync_directory(parent)


def delete(path: str) -> None:
    """If another writer deleted it first, that is no error."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):
        if not os.path.isdir(path):
            raise
        shutil.rmtree(path, ignore_errors=True)


def with_digest(parts: Iterable[Bytes]) -> Iterable[Bytes]:
    """The parts of a file in chunks, followed by their checksum."""
    digest = hashlib.sha256()
    for part in parts:
        view = _bytes_of(part)
        for start in range(0, len(view), CHUNK_BYTES):
            chunk = view[start : start + CHUNK_BYTES]
            digest.update(chunk)
            yield chunk
    yield digest.digest()


def digest_of(path: str) -> str:
    """The SHA-256 of a whole file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def read_checkpoint(path: str) -> tuple[Header, list[bytearray]]:
    """What a file holds. Raises Damaged, and the system's error where it cannot be read."""
    with open(path, "rb") as file:
        reader = _DigestingReader(file)
        header_bytes = decode_preamble(reader.read(PREAMBLE_BYTES))
        header = decode_header(bytes(reader.read(header_bytes)), reader.size)
        sections = [reader.read(section.size) for section in header.sections]
        reader.verify()
        return header, sections


class _DigestingReader:
    """Reads a file from its beginning and computes the checksum of what it has read."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = os.fstat(file.fileno()).st_size
        self._file = file
        self._digest = hashlib.sha256()
        self._left = self.size

    def read(self, size: int) -> bytearray:
        data = self._read(size)
        self._digest.update(data)
        return data

    def verify(self) -> None:
        if self._read(DIGEST_BYTES) != self._digest.digest():
            raise Damaged("its checksum does not match what it holds")

    def _read(self, size: int) -> bytearray:
        # Before so much memory is taken.
        if size > self._left:
            raise Damaged("it ends too early")
        data = bytearray(size)
        view = memoryview(data)
        done = 0
        while done < size:
            count = self._file.readinto(view[done : done + CHUNK_BYTES])  # type: ignore[attr-defined]
            if not count:
                raise Damaged("it ends too early")
            done += count
        self._left -= size
        return data


def _bytes_of(part: Bytes) -> memoryview:
    # An empty array cannot be cast.
    return memoryview(part).cast("B") if len(part) else memoryview(b"")


def _write_fully(descriptor: int, part: Bytes) -> int:
    data = _bytes_of(part)
    done = 0
    while done < len(data):
        done += os.write(descriptor, data[done : done + CHUNK_BYTES])
    return done

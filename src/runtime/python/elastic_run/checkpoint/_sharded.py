"""A checkpoint that is a directory: all ranks write into it, and it gets its name when all have."""
from __future__ import annotations

import json
import os
import shutil
import time
from typing import Any, Iterator

from ._errors import CheckpointError, Damaged
from ._files import digest_of, make_directory, put_in_place, sync_directory, write_durably

MANIFEST = "manifest.json"
_PARTS = ".parts"
_POLL_SECONDS = 0.02


class SharedDirectory:
    """One rank's part in it. `temporary`: where all ranks write; `path`: its name once it is whole."""

    def __init__(self, temporary: str, path: str, rank: int, workers: int) -> None:
        self._temporary = temporary
        self._path = path
        self._rank = rank
        self._workers = workers
        self._parts = os.path.join(temporary, _PARTS)

    def begin(self) -> None:
        make_directory(self._parts)

    def complete(self, deadline: float) -> bool:
        """Returns once the directory is whole, on disk and has its name: whether this rank gave it. Raises
        CheckpointError where others have not written by then, on the monotonic clock."""
        for file in _files_in(self._temporary):
            _sync_file(os.path.join(self._temporary, file))
        _sync_directories(self._temporary)
        self._write_part("written", {})
        self._wait_for("written", deadline)
        # All have written: each tells the digests of its share, which nobody changes any more.
        share = sorted(_files_in(self._temporary))[self._rank :: self._workers]
        self._write_part("digests", {file: _fingerprint(self._temporary, file) for file in share})
        self._wait_for("digests", deadline)
        return self._commit()

    def _commit(self) -> bool:
        """All ranks try: one succeeds."""
        try:
            files: dict[str, Any] = {}
            for rank in range(self._workers):
                with open(self._part("digests", rank), encoding="utf-8") as part:
                    files.update(json.load(part))
            text = json.dumps({"version": 1, "workers": self._workers, "files": files}, indent=1)
            own = os.path.join(self._parts, f"manifest-{self._rank}")
            write_durably(own, [text.encode()])
            put_in_place(own, os.path.join(self._temporary, MANIFEST))
            os.rename(self._temporary, self._path)
        except OSError:
            if not os.path.isdir(self._path):
                raise
            return False
        sync_directory(os.path.dirname(self._path))
        shutil.rmtree(os.path.join(self._path, _PARTS), ignore_errors=True)
        return True

    def _write_part(self, name: str, content: dict[str, Any]) -> None:
        path = self._part(name, self._rank)
        write_durably(f"{path}.tmp", [json.dumps(content).encode()])
        put_in_place(f"{path}.tmp", path)

    def _part(self, name: str, rank: int) -> str:
        return os.path.join(self._parts, f"{name}-{rank}.json")

    def _wait_for(self, name: str, deadline: float) -> None:
        missing = list(range(self._workers))
        while missing and not os.path.isdir(self._path):
            missing = [rank for rank in missing if not os.path.exists(self._part(name, rank))]
            if missing and time.monotonic() > deadline:
                ranks = ", ".join(map(str, missing))
                raise CheckpointError(
                    f"No checkpoint was saved at {self._path}: rank {ranks} did not finish its part in"
                    " time. Let all ranks call directory() with the same step, on a directory that all"
                    " see, or give a longer timeout. The checkpoints before this one are untouched."
                )
            if missing:
                time.sleep(_POLL_SECONDS)


def verify_directory(path: str) -> None:
    """Raises Damaged where a file is missing, or is not what was once written."""
    try:
        with open(os.path.join(path, MANIFEST), encoding="utf-8") as manifest:
            files = json.load(manifest)["files"].items()
        for file, expected in files:
            if _fingerprint(path, file) != expected:
                raise Damaged(f"{file} does not match its digest")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"its {MANIFEST} cannot be read ({error})") from None
    except FileNotFoundError as error:
        if not os.path.isdir(path):
            raise
        raise Damaged(f"{os.path.relpath(error.filename, path)} is missing") from None


def _fingerprint(directory: str, file: str) -> dict[str, Any]:
    path = os.path.join(directory, file)
    return {"bytes": os.path.getsize(path), "sha256": digest_of(path)}


def _files_in(directory: str) -> Iterator[str]:
    for folder, folders, files in os.walk(directory, followlinks=True):
        if folder == directory:
            folders[:] = [name for name in folders if name != _PARTS]
            files = [name for name in files if name != MANIFEST]
        yield from (os.path.relpath(os.path.join(folder, file), directory) for file in files)


def _sync_file(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directories(directory: str) -> None:
    for folder, _, _ in os.walk(directory, topdown=False, followlinks=True):
        sync_directory(folder)

"""Writes a worker's checkpoints, if its round may still write, and deletes old ones."""
from __future__ import annotations

import os
from typing import Any, Iterable

from .._errors import warn, words
from ._errors import CheckpointError, explain
from ._fence import Fence, Place
from ._files import delete, make_directory, put_in_place, with_digest, write_durably
from ._listing import Listing, list_directory, read_claims
from ._order import checkpoint_name, files_to_delete, temporary_name


class Writer:
    """`damaged`: names of files that could not be loaded, shared with the loader."""

    def __init__(self, place: Place, fence: Fence, keep: int, damaged: set[str]) -> None:
        self._place = place
        self._fence = fence
        self._keep = keep
        self._damaged = damaged
        self._has_written = False

    def write(self, step: int, parts: Iterable[Any]) -> str:
        """The path of a new checkpoint. Raises CheckpointError with the fix, and leaves the existing
        files untouched."""
        directory = self._place.directory
        try:
            self.prepare(step)
            name = checkpoint_name(self._place.token, step)
            temporary = os.path.join(directory, temporary_name(name, self._place.unique))
            write_durably(temporary, with_digest(parts))
            put_in_place(temporary, os.path.join(directory, name))
            self.finish(name)
        except OSError as error:
            raise self.explain(error) from error
        return os.path.join(directory, name)

    def prepare(self, step: int) -> None:
        """Raises where this worker may not save this step."""
        make_directory(self._place.directory)
        listing = list_directory(self._place.directory)
        self._fence.refuse_if_superseded(listing)
        self._refuse_step_back(step, listing)
        if not self._has_written:
            self._has_written = True
            self._fence.claim_once(listing)
            self._warn_of_memory()

    def finish(self, name: str) -> None:
        """A checkpoint is in its place: looks who has come meanwhile, and deletes what is old."""
        self._damaged.discard(name)
        listing = list_directory(self._place.directory)
        self._fence.refuse_if_superseded(listing)
        self._prune(listing)

    def explain(self, error: OSError) -> CheckpointError:
        # A newer round deletes the unfinished files of older ones.
        if isinstance(error, FileNotFoundError):
            self._fence.refuse_if_superseded(list_directory(self._place.directory))
        return explain(error, self._place.directory)

    def _refuse_step_back(self, step: int, listing: Listing) -> None:
        """Within a round the higher step counts as the newer one: a lower one would never be loaded."""
        for file in listing.files:
            is_own = file.token == self._place.token and file.name not in self._damaged
            if is_own and file.step > step:
                raise CheckpointError(
                    f"Step {step} was not saved: this round has saved step {file.step} already"
                    f" ({os.path.join(self._place.directory, file.name)}). Steps must rise within a"
                    " round; load the latest checkpoint before going on."
                )

    def _prune(self, listing: Listing) -> None:
        directory, token = self._place.directory, self._place.token
        claims = read_claims(directory, listing.claims)
        old = files_to_delete(listing.files, claims, self._keep, token, self._damaged)
        for name in [*listing.leftovers(token), *(file.name for file in old)]:
            try:
                delete(os.path.join(directory, name))
            except OSError as error:
                warn(f"An old checkpoint file stays: {words(error)}")

    def _warn_of_memory(self) -> None:
        if _is_in_memory(self._place.directory):
            warn(
                f"Checkpoints in {self._place.directory} are kept in memory (tmpfs) and are lost when"
                " this machine restarts. Choose a directory on a disk that outlives it."
            )


def _is_in_memory(directory: str) -> bool:
    """As the kernel lists it: the longest mount point above the directory is its own."""
    path = os.path.realpath(directory)
    best, kind = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                _, point, of_kind, *_ = line.split(" ")
                above = path == point or path.startswith(point.rstrip("/") + "/")
                if above and len(point) >= len(best):
                    best, kind = point, of_kind
    except OSError:
        return False
    return kind in ("tmpfs", "ramfs")

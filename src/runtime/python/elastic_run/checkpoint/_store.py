"""One worker's view of a directory of checkpoints: it saves and loads in its round."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple, Optional

from .. import _preemption, _session
from ._cadence import Cadence
from ._errors import Changed, CheckpointError, require_integer
from ._fence import Fence, Place
from ._format import Header, encode_header
from ._launched import LEAST_ANNOUNCED_SECONDS, announced
from ._listing import list_directory
from ._load import Loaded, load_newest
from ._order import Token, checkpoint_name, temporary_name
from ._sharded import SharedDirectory
from ._state import Encoded
from ._writer import Writer

_LOAD_ATTEMPTS = 5
"""How often a load starts over because files change during it."""


class Settings(NamedTuple):
    """What `open` was asked for."""

    keep: int
    mean_time: Optional[float]
    """Between interruptions, in seconds; None: from the run's own history."""
    max_steps: float
    rank: int
    workers: int
    torch_options: dict[str, Any]
    """For torch.load."""


class Checkpoints:
    """One worker's checkpoints; made by `open`."""

    def __init__(self, place: Place, settings: Settings) -> None:
        self._place = place
        self._settings = settings
        self._cadence = Cadence(settings.max_steps)
        self._fence = Fence(place)
        self._damaged: set[str] = set()  # Names of files that this worker could not load.
        self._writer = Writer(place, self._fence, settings.keep, self._damaged)
        self._has_said_notice = False
        self._attempts: dict[int, int] = {}  # At directories, by step.

    @property
    def token(self) -> Token:
        """(instance, round), with which this worker writes."""
        return self._place.token

    @property
    def every_steps(self) -> Optional[float]:
        """The steps between two saves, as last decided; None before the first measurement."""
        return self._cadence.every_steps

    def should_save(self, step: int) -> bool:
        """Whether to save after this step (a number of completed steps): after the first one, then at the
        interval that loses the least work, and at least every `max_steps`. And once when this worker's
        machine is about to go. Ranks measure times of their own: let one ask, and tell the others."""
        if self._is_last_chance(step):
            return True
        mean_time = self._settings.mean_time
        if mean_time is None:
            mean_time = self._fence.mean_time_between_interruptions()
        return self._cadence.is_due(step, time.monotonic(), mean_time)

    def save(self, step: int, state: Any) -> str:
        """Saves a state (what torch.save takes), deletes all but the newest `keep`, and returns the path.
        When it returns, the checkpoint is on disk; if it raises, the earlier ones are untouched. It needs
        memory for a copy of a state with tensors. When this worker's machine is about to go, a save
        tells the agent that the worker may be ended.

        Raises CheckpointError where a newer round has taken over (this worker must end), where the
        directory cannot be written, or the state cannot be saved.
        """
        with self._saving(step):
            encoded = Encoded(state)
            now = time.time_ns() // 1_000_000
            header = Header(self.token, step, now, encoded.sections, encoded.tree)
            return self._writer.write(step, [encode_header(header), *encoded.parts])

    @contextmanager
    def directory(self, step: int, timeout: float = 1800.0) -> Iterator[str]:
        """For checkpoints of many files that all ranks write: gives a directory to write into, and when
        all ranks have left the block, it becomes one checkpoint, with the digest of each file. All ranks
        call it, each writes files of its own; where one raises, none is saved.

        Raises CheckpointError as `save` does, and where a rank takes more than `timeout` seconds longer
        than this one.
        """
        name = checkpoint_name(self.token, step, "dir")
        attempt = self._attempts[step] = self._attempts.get(step, 0) + 1
        temporary = os.path.join(self._place.directory, temporary_name(name, f"{attempt:x}"))
        path = os.path.join(self._place.directory, name)
        rank, workers = self._settings.rank, self._settings.workers
        if workers > 1 and not self._place.is_shared:
            raise CheckpointError(
                "Nothing was saved: without elastic-run the ranks do not know that they are of one round."
                " Give all of them the same token (instance, round) in checkpoint.open."
            )
        with self._saving(step):
            try:
                self._writer.prepare(step)
                shared = SharedDirectory(temporary, path, rank, workers)
                shared.begin()
            except OSError as error:
                raise self._writer.explain(error) from error
            yield temporary
            try:
                # A writer that was cut off meanwhile publishes nothing.
                self._fence.refuse_if_superseded(list_directory(self._place.directory))
                if shared.complete(time.monotonic() + timeout):
                    self._writer.finish(name)
            except OSError as error:
                raise self._writer.explain(error) from error

    def load_latest(self, default: Any = None, *, claim: bool = True) -> Loaded:
        """The newest checkpoint that verifies; where there is none yet, path None, step 0 and `default`.
        Call it at every start, so that the same command begins and resumes. A damaged one is skipped
        with a warning. The first worker of a round that loads decides from which checkpoint the whole
        round goes on; `claim=False` only looks, for programs that evaluate a run.

        Raises CheckpointError where there are checkpoints and none can be used, and where a newer round
        has taken over.
        """
        claims = self._place.is_shared and claim
        with announced("load", LEAST_ANNOUNCED_SECONDS):
            for _ in range(_LOAD_ATTEMPTS):
                listing = list_directory(self._place.directory)
                if claims:
                    self._fence.refuse_if_superseded(listing)
                try:
                    found = load_newest(
                        self._place.directory, listing, self._damaged, self._settings.torch_options
                    )
                except Changed:
                    continue
                name, loaded = (None, Loaded(None, 0, default)) if found is None else found
                if self._fence.settle(name, self._damaged, claims):
                    self._cadence.restored(loaded.step)
                    return loaded
        raise CheckpointError(
            f"{self._place.directory}: the workers of this round do not find the same checkpoint to go on"
            " from. Make sure that every node sees this directory and can read it, and start again."
        )

    @contextmanager
    def _saving(self, step: int) -> Iterator[None]:
        """Announces a save and measures it; at a notice it says when it is done."""
        require_integer("step", step, 0)
        began_at = time.monotonic()
        longest = max(LEAST_ANNOUNCED_SECONDS, 10 * self._cadence.longest_save)
        with announced("checkpoint", longest):
            yield
        self._cadence.saved(step, time.monotonic() - began_at)
        notice = _preemption.preemption()
        if notice is not None:
            _session.acknowledge(notice)

    def _is_last_chance(self, step: int) -> bool:
        """Whether a notice is a reason to save that it has not given yet."""
        is_going = _preemption.preemption() is not None
        if not is_going:
            self._has_said_notice = False
        if not is_going or self._has_said_notice or self._cadence.is_saved(step):
            return False
        self._has_said_notice = True
        return True

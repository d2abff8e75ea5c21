"""Checkpoints that survive a kill at any moment, for trainers under elastic-run or started by hand.

    checkpoints = elastic_run.checkpoint.open("/mnt/checkpoints")
    step, state = checkpoints.load_latest()[1:]

The rules and the files are those of elastic-run/checkpoint for JavaScript: docs/checkpoints.md. It needs
nothing but Python; torch is imported only where a state needs it. Loading never runs code of a file
unless asked.
"""
from __future__ import annotations

import os
from typing import Any, Optional, Union

from ._cadence import steps_between_checkpoints, young_daly_seconds
from ._errors import CheckpointError, refused, require_integer
from ._fence import Place
from ._launched import HasRound, launched_token, token_by_hand
from ._load import Loaded
from ._random import restore_rng_state, rng_state
from ._store import Checkpoints, Settings

__all__ = [
    "CheckpointError",
    "Checkpoints",
    "Loaded",
    "open",
    "restore_rng_state",
    "rng_state",
    "steps_between_checkpoints",
    "young_daly_seconds",
]


def open(
    directory: Union[str, "os.PathLike[str]"],
    keep: int = 2,
    *,
    token: Optional[HasRound] = None,
    mean_time_between_failures: Optional[float] = None,
    max_steps: Optional[int] = None,
    rank: Optional[int] = None,
    workers: Optional[int] = None,
    weights_only: bool = True,
    map_location: Any = "cpu",
) -> Checkpoints:
    """Opens a directory of checkpoints for this worker in its round, without touching it yet. It must be
    on a disk that survives the machine and that all nodes see.

    keep: how many checkpoints are kept, 2 or more, so that a damaged one has a predecessor.
    token: the round of this worker, a WorkerEvent or WorkerInfo. Default: the one in which this process
        was started. A process that is kept over several rounds opens its checkpoints again in each.
    mean_time_between_failures: of one worker, in seconds. Default: from the run's own history.
    max_steps: the most steps between two saves. Default: no limit.
    rank, workers: default: RANK and WORLD_SIZE, or 0 and 1.
    weights_only: False lets torch.load run code of the file: only for files that you trust.
    map_location: where torch.load puts tensors.

    Raises CheckpointError for an invalid option.
    """
    path = os.path.abspath(os.fspath(directory))
    is_limited = max_steps is not None
    count = _place_in("workers", workers, "WORLD_SIZE", 1)
    mean_time = mean_time_between_failures
    if mean_time is not None and not 0 < mean_time < float("inf"):
        raise refused("mean_time_between_failures", mean_time, "a number of seconds above 0")
    settings = Settings(
        keep=require_integer("keep", keep, 2),
        mean_time=None if mean_time is None else mean_time / count,
        max_steps=require_integer("max_steps", max_steps, 1) if is_limited else float("inf"),
        rank=_place_in("rank", rank, "RANK", 0),
        workers=count,
        torch_options={"weights_only": weights_only, "map_location": map_location},
    )
    launched = launched_token(token)
    place = Place(
        directory=path,
        token=token_by_hand(path, token) if launched is None else launched,
        is_shared=launched is not None,
        unique=os.urandom(8).hex(),
    )
    return Checkpoints(place, settings)


def _place_in(name: str, given: Optional[int], variable: str, least: int) -> int:
    return require_integer(
        name, int(os.environ.get(variable) or least) if given is None else given, least
    )

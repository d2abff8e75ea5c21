"""When the ranks of a framework's trainer save: all of them at the same steps."""
# pyright: reportMissingImports=false
from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Optional, Union

import torch
import torch.distributed as dist

from .. import checkpoint
from .._reports import report_progress
from ..checkpoint._files import delete
from ..checkpoint._launched import launched_token, token_by_hand
from ..checkpoint._order import Token, checkpoint_name, temporary_name

_TAKEN = ("step", "busy", "for_seconds")
"""Names that mean something else to report_progress."""


class Saves:
    """One rank's part. What is not said here is as in `elastic_run.checkpoint`."""

    def __init__(
        self,
        directory: Union[str, "os.PathLike[str]"],
        keep: int,
        max_steps: Optional[int],
        mean_time_between_failures: Optional[float],
    ) -> None:
        self._directory = os.path.abspath(os.fspath(directory))
        self._options: dict[str, Any] = {
            "keep": keep,
            "max_steps": max_steps,
            "mean_time_between_failures": mean_time_between_failures,
        }
        self._checkpoints = checkpoint.open(self._directory, **self._options)
        self._group: Any = None
        self._saved: Optional[int] = None
        self._metrics: dict[str, Any] = {}

    def latest(self) -> Optional[str]:
        """The newest directory that verifies; None where there is none yet."""
        return self._checkpoints.load_latest().path

    def begin(self) -> None:
        """Before the first step, when the ranks can reach each other."""
        if self._group is not None or not (dist.is_available() and dist.is_initialized()):
            return
        # Over the processors: the answer must not wait for what an accelerator still computes.
        self._group = dist.new_group(backend="gloo")
        if launched_token(None) is None:
            tokens: list[Token] = [token_by_hand(self._directory, None)]
            dist.broadcast_object_list(tokens, src=0, group=self._group)
            place = {"token": tokens[0], "rank": dist.get_rank(), "workers": dist.get_world_size()}
            self._checkpoints = checkpoint.open(self._directory, **self._options, **place)

    def is_due(self, step: int) -> bool:
        """Whether to save after this step: as soon as one rank says so, also because its machine will go.
        All ranks ask, and get the same answer."""
        return self._any(self._checkpoints.should_save(step))

    @contextmanager
    def directory(self, step: int) -> Iterator[str]:
        """As in `elastic_run.checkpoint`; what this round has just saved of the same step is replaced."""
        if step == self._saved:
            delete(os.path.join(self._directory, checkpoint_name(self._checkpoints.token, step, "dir")))
            self._any(False)  # No rank begins before it is gone for all.
        with self._checkpoints.directory(step) as path:
            yield path
        self._saved = step
        self._any(False)  # What became too old is deleted.

    def discard(self, path: str) -> None:
        """Deletes a directory: under a name of which the next save deletes what a kill leaves of it."""
        old = checkpoint_name(self._checkpoints.token, 0, "dir")
        trash = os.path.join(self._directory, temporary_name(old, os.urandom(8).hex()))
        os.rename(path, trash)
        delete(trash)

    def note(self, metrics: Mapping[str, Any]) -> None:
        """The numbers among them are reported with the next step: a report would end what is announced."""
        for name, value in metrics.items():
            if isinstance(value, (int, float)) and name not in _TAKEN:
                self._metrics[name] = value

    def report(self, step: int) -> None:
        report_progress(step, **self._metrics)

    def _any(self, answer: bool) -> bool:
        if self._group is None:
            return answer
        answers = torch.tensor(int(answer))
        dist.all_reduce(answers, op=dist.ReduceOp.MAX, group=self._group)
        return bool(answers)

"""A callback that saves for the `Trainer` of Lightning.

    saves = elastic_run.integrations.lightning.CheckpointCallback("/mnt/checkpoints")
    trainer = Trainer(callbacks=[saves], …)
    trainer.fit(module, data, ckpt_path=saves.latest())
"""
# pyright: reportMissingImports=false
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Optional, Union

from ._saves import Saves

if TYPE_CHECKING or "pytorch_lightning" not in sys.modules or "lightning.pytorch" in sys.modules:
    from lightning.pytorch.callbacks import Checkpoint
else:
    from pytorch_lightning.callbacks import Checkpoint

_FILE = "lightning.ckpt"


class CheckpointCallback(Checkpoint):
    """Has the trainer save at the interval that loses the least work, once when a machine is about to go,
    and after the last step. Each checkpoint is the trainer's own (`lightning.ckpt`), in a directory with
    its digest, as of `elastic_run.checkpoint`. Reports steps and what is logged. As with each `Checkpoint`
    of Lightning, the trainer adds no `ModelCheckpoint` by itself.

    directory: on a disk that survives the machine and that all nodes see.
    keep, max_steps, mean_time_between_failures: as in `elastic_run.checkpoint.open`.
    """

    def __init__(
        self,
        directory: Union[str, "os.PathLike[str]"],
        keep: int = 2,
        *,
        max_steps: Optional[int] = None,
        mean_time_between_failures: Optional[float] = None,
    ) -> None:
        self._saves = Saves(directory, keep, max_steps, mean_time_between_failures)
        self._step = 0
        self._saved = 0

    def latest(self) -> Optional[str]:
        """The newest checkpoint that verifies, for `ckpt_path`; None where there is none yet. Call it at
        every start, on all ranks.

        Raises CheckpointError where all are damaged, and where a newer round has taken over.
        """
        path = self._saves.latest()
        return None if path is None else os.path.join(path, _FILE)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._step = self._saved = trainer.global_step
        self._saves.begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        step = trainer.global_step
        if step == self._step:
            return  # A batch of several that make a step.
        self._step = step
        if step % (trainer.log_every_n_steps or 1) == 0:
            metrics = trainer.callback_metrics
            self._saves.note({name: float(value) for name, value in metrics.items()})
        self._saves.report(step)
        if self._saves.is_due(step):
            self._save(trainer)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self._step != self._saved:
            self._save(trainer)

    def _save(self, trainer: Any) -> None:
        with self._saves.directory(self._step) as path:
            trainer.save_checkpoint(os.path.join(path, _FILE))
        self._saved = self._step

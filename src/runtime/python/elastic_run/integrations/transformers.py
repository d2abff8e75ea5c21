"""A callback that saves for the `Trainer` of Hugging Face, and those of TRL.

    saves = elastic_run.integrations.transformers.CheckpointCallback(arguments.output_dir)
    trainer = Trainer(model, arguments, callbacks=[saves], …)
    trainer.train(resume_from_checkpoint=saves.latest())
"""
# pyright: reportMissingImports=false
from __future__ import annotations

import glob
import os
from contextlib import ExitStack
from typing import Any, Optional, Union

from transformers import TrainerCallback

from .._errors import warn
from ..checkpoint import CheckpointError
from ..checkpoint._files import delete, make_directory
from ._saves import Saves

_RECORDS = "elastic-run"
"""In the output directory: which checkpoints are whole, with the digests of their files."""
_LINK = "trainer"
_ASKED = ".elastic-run"
"""In a checkpoint that only this callback had asked for: it is deleted when newer ones are whole."""


class CheckpointCallback(TrainerCallback):
    """Has the trainer save at the interval that loses the least work, once when a machine is about to go,
    and after the last step, besides what its arguments ask for. The checkpoints are the trainer's own
    (`checkpoint-N` in its output directory), on disk and with digests when the training goes on. Of those
    that only this callback asked for, the newest `keep` are kept. Reports steps and what is logged.

    output_dir: that of the trainer's arguments, on a disk that survives the machine and that all nodes see.
    keep, max_steps, mean_time_between_failures: as in `elastic_run.checkpoint.open`.
    """

    def __init__(
        self,
        output_dir: Union[str, "os.PathLike[str]"],
        keep: int = 2,
        *,
        max_steps: Optional[int] = None,
        mean_time_between_failures: Optional[float] = None,
    ) -> None:
        self._output = os.path.realpath(output_dir)
        self._records = os.path.join(self._output, _RECORDS)
        self._keep = keep
        self._saves = Saves(self._records, keep, max_steps, mean_time_between_failures)
        self._is_due = False
        self._is_asked = False
        self._record: Optional[str] = None
        self._begun = ExitStack()

    def latest(self) -> Optional[str]:
        """The newest checkpoint that verifies, for `resume_from_checkpoint`; None where there is none yet.
        Call it at every start, on all ranks. Where none was saved with this callback, it is the newest
        that the trainer completed.

        Raises CheckpointError where all are damaged, and where a newer round has taken over.
        """
        record = self._saves.latest()
        if record is not None:
            return os.path.realpath(os.path.join(record, _LINK))
        states = glob.glob(os.path.join(glob.escape(self._output), "checkpoint-*", "trainer_state.json"))
        return max(map(os.path.dirname, states), key=os.path.getmtime, default=None)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if os.path.realpath(args.output_dir) != self._output:
            raise CheckpointError(
                f"CheckpointCallback saves in {self._output}, and the trainer in {args.output_dir}: give it"
                " the output_dir of the trainer's arguments."
            )
        if args.save_total_limit and args.save_total_limit < self._keep:
            warn(
                f"save_total_limit is {args.save_total_limit}: {self._keep} checkpoints are kept all the"
                " same, so that a damaged one has a predecessor."
            )
            args.save_total_limit = self._keep
        self._is_due, self._record, self._begun = False, None, ExitStack()
        self._saves.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        step = state.global_step
        self._saves.report(step)
        is_due = self._saves.is_due(step) or step >= state.max_steps
        self._is_due = self._is_due or is_due
        is_judged = control.should_evaluate and args.save_strategy == "best"
        self._is_asked = self._is_due and not control.should_save and not is_judged
        control.should_save = control.should_save or self._is_due
        if control.should_save and not control.should_evaluate:
            self._begin(state)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # Only now is it known whether a trainer saves that keeps its best.
        if control.should_save and args.save_strategy != "best":
            self._begin(state)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if control.should_save:
            self._is_asked = False

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        record = self._record or self._begin(state)
        if state.is_world_process_zero:
            folder = self._folder(state)
            os.symlink(os.path.relpath(folder, record), os.path.join(record, _LINK))
        self._begun.close()
        self._is_due, self._record = False, None
        if state.is_world_process_zero:
            self._discard_old(state.best_model_checkpoint)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        self._saves.note(logs or {})

    def _folder(self, state: Any) -> str:
        return os.path.join(self._output, f"checkpoint-{state.global_step}")

    def _begin(self, state: Any) -> str:
        """From here on the save is announced, and measured."""
        self._record = self._begun.enter_context(self._saves.directory(state.global_step))
        if state.is_world_process_zero:
            marker = os.path.join(self._folder(state), _ASKED)
            if self._is_asked:
                make_directory(self._folder(state))
                open(marker, "w").close()
            else:
                delete(marker)
        return self._record

    def _discard_old(self, best: Optional[str]) -> None:
        """Also those that were begun and are not whole."""
        records = os.path.join(glob.escape(self._records), "checkpoint-*", _LINK)
        kept = [*glob.glob(records), *([best] if best else [])]
        needed = {os.path.realpath(path) for path in kept}
        for marker in glob.glob(os.path.join(glob.escape(self._output), "checkpoint-*", _ASKED)):
            folder = os.path.dirname(marker)
            if folder not in needed:
                self._saves.discard(folder)

"""How often to save. Pure: times come in as arguments, in seconds."""
from __future__ import annotations

import math
from typing import Optional

_FIRST_GUESS_SECONDS = 3600.0
"""The assumed history of a new run: one interruption in an hour."""


def young_daly_seconds(
    mean_time_between_failures: float, checkpoint_seconds: float, workers: int = 1
) -> float:
    """The time between two checkpoints that loses the least work, by Young and Daly: W = sqrt(2 · μ · C).
    The mean time between failures (μ) is that of one worker, in seconds; any of `workers` may fail.
    `checkpoint_seconds` (C) is how long one save takes."""
    return math.sqrt(2 * (mean_time_between_failures / workers) * checkpoint_seconds)


def steps_between_checkpoints(interval_seconds: float, step_seconds: float) -> int:
    """An interval in whole steps, at least 1: rounded down, because saving too often is the cheaper mistake."""
    return 1 if interval_seconds <= step_seconds else math.floor(interval_seconds / step_seconds)


def mean_time_between_interruptions(observed_seconds: float, interruptions: int) -> float:
    """Adds one interruption in one hour to what was seen: a young run has a figure, too, and two failures
    in a row do not make it save all the time."""
    return (_FIRST_GUESS_SECONDS + max(0.0, observed_seconds)) / (1 + interruptions)


class Cadence:
    """Measures steps and saves, and tells when the next save is due."""

    def __init__(self, max_steps: float) -> None:
        self.every_steps: Optional[float] = None
        """Between two saves, as last decided; None until one save and one step were measured."""
        self.longest_save = 0.0
        self._max_steps = max_steps
        self._last_saved = 0
        self._saves = 0
        self._saving = 0.0
        self._first: Optional[tuple[int, float]] = None

    def restored(self, step: int) -> None:
        """The state of this step is already safe on disk."""
        self._last_saved = step

    def saved(self, step: int, took: float) -> None:
        self._last_saved = step
        self._saves += 1
        self._saving += took
        self.longest_save = max(self.longest_save, took)

    def is_saved(self, step: int) -> bool:
        """Whether the state of this step, or of a later one, is on disk."""
        return step <= self._last_saved

    def is_due(self, step: int, now: float, mean_time: float) -> bool:
        """The first step is always saved: that measures a save, and finds a bad directory while there is
        nothing to lose."""
        if self._first is None:
            self._first = (step, now - self._saving)
        if step <= self._last_saved:
            return False
        if self._saves == 0:
            return True
        first_step, began_at = self._first
        steps = step - first_step
        if steps > 0:
            step_seconds = max(0.0, (now - began_at - self._saving) / steps)
            interval = young_daly_seconds(mean_time, self._saving / self._saves)
            self.every_steps = min(
                self._max_steps, steps_between_checkpoints(interval, step_seconds)
            )
        every = self._max_steps if self.every_steps is None else self.every_steps
        return step - self._last_saved >= every

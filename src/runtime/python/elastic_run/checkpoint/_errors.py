"""What a checkpoint's failure is called."""
from __future__ import annotations

from typing import Optional

from .._errors import ElasticRunError


class CheckpointError(ElasticRunError):
    """A checkpoint was not saved or not loaded: the message says which, why, and what to do."""

    code = "CHECKPOINT"


class Damaged(Exception):
    """A file is not what was once written."""


class Changed(Exception):
    """Files of the directory came or went meanwhile."""


def explain(error: OSError, directory: str) -> CheckpointError:
    import errno

    from .._errors import words

    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = (
        "The disk is full: free some space, or choose another directory"
        if is_full
        else "Make the directory writable, or choose another one"
    )
    return CheckpointError(
        f"No checkpoint was saved in {directory}: {words(error)}. {fix}. The checkpoints before this"
        " one are untouched."
    )


def require_integer(name: str, value: object, least: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise refused(name, value, f"a whole number from {least} up")


def refused(name: str, value: object, allowed: str) -> CheckpointError:
    return CheckpointError(f"checkpoint.open: {name} is {value!r}; give {allowed}.")


def superseded(directory: str, newer: tuple[int, int], own: tuple[int, int]) -> CheckpointError:
    return CheckpointError(
        f"A newer round has taken over the checkpoints in {directory}: instance {newer[0]}, round"
        f" {newer[1]} has written there, and this worker belongs to instance {own[0]}, round {own[1]}."
        " Nothing of the newer round was touched. Let this worker end. If nothing of a newer round is"
        " alive (this machine's clock may be behind), open the checkpoints with a token of a higher"
        " instance."
    )


def none_usable(directory: str, problems: Optional[str]) -> CheckpointError:
    return CheckpointError(
        f"None of the checkpoints in {directory} can be used ({problems}). Put a good copy back, or"
        " move them away to train from the beginning."
    )

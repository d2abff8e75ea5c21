"""What checkpoints need of the launcher. A worker that only saves need not follow its rounds: nothing here
greets the agent."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import Iterator, Optional, Protocol

from .._channel import source_if_launched, speak
from ._errors import require_integer
from ._listing import list_directory
from ._order import Token

LEAST_ANNOUNCED_SECONDS = 1200.0


class HasRound(Protocol):
    """A WorkerEvent or a WorkerInfo."""

    @property
    def round(self) -> int: ...


@contextmanager
def announced(what: str, seconds: float) -> Iterator[None]:
    """No step comes for so long: the launcher takes it for no hang, and its ledger counts it."""
    _announce(what, seconds)
    try:
        yield
    finally:
        _announce(what, 0)


def _announce(what: str, seconds: float) -> None:
    source = source_if_launched()
    if source is None:
        return
    try:
        speak(source, {"kind": "PROGRESS", "busy": what, "for_seconds": seconds})
    except OSError:
        pass  # A save is worth more than that somebody knows of it.


def launched_token(given: Optional[HasRound]) -> Optional[Token]:
    """None where no launcher names this start of the run."""
    instance = getattr(given, "instance", 0) or int(os.environ.get("ELASTIC_RUN_INSTANCE") or 0)
    if instance == 0:
        return None
    round = int(os.environ.get("ELASTIC_RUN_ROUND") or 1) if given is None else given.round
    return Token(
        require_integer("token.instance", instance, 1), require_integer("token.round", round, 0)
    )


def token_by_hand(directory: str, given: Optional[HasRound]) -> Token:
    """A start by hand counts as a new start of the run, newer than all before it."""
    previous = list_directory(directory).highest_token()
    instance = max(0 if previous is None else previous.instance + 1, time.time_ns() // 1_000_000)
    return Token(instance, 1 if given is None else require_integer("token.round", given.round, 0))

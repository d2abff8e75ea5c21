"""What the library raises, and what it warns of."""
from __future__ import annotations

import errno
import os
import sys

from . import _process
from ._hints import NoReturn


class ElasticRunError(Exception):
    """Whatever this library raises. `code` names the kind, in the words of the other languages."""

    code = "INTERNAL"


class ChannelError(ElasticRunError):
    """The channel cannot be used: it is gone, it holds no event, or a message is too large for it."""

    code = "CHANNEL"


class NotLaunchedError(ElasticRunError):
    """The process asks for its place in the world, and nobody has given it one."""

    code = "NOT_LAUNCHED"


class WaitForWorkTimeoutError(ElasticRunError, TimeoutError):
    """No work of a later round came in time."""

    code = "TIMEOUT"


class ElasticRunWarning(UserWarning):
    """What the user should know and that is no reason to end a training."""


def words(error: BaseException) -> str:
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}"


def channel_error(directory: str, problem: str) -> ChannelError:
    return ChannelError(
        f"The channel directory {directory} cannot be used: {problem}. Set ELASTIC_RUN_DIR to a"
        " directory on a local disk that only you can write to."
    )


def not_launched(problem: str) -> NoReturn:
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    raise NotLaunchedError(
        f"This process has no place in a run: {problem}. Start it with the launcher:"
        f" elastic-run --nproc-per-node 2 {'train.py' if script in ('', '-c', '-m') else script}"
    )


_warnings_given: dict[str, None] = {}
"""In the order in which they were given."""

_KEPT_WARNINGS = 4096
"""A process that runs for weeks does not keep all that it ever said: the oldest may be said again."""


def warn(message: str) -> None:
    """Tells the user something that is no error, each different message once."""
    with _process.lock:
        if message in _warnings_given:
            return
        if len(_warnings_given) >= _KEPT_WARNINGS:
            del _warnings_given[next(iter(_warnings_given))]
        _warnings_given[message] = None
    import warnings

    caller = sys._getframe(1)
    place = (caller.f_code.co_filename, caller.f_lineno, __package__)
    try:
        # Unlike warn(), keeps no list of its own of all that was said.
        warnings.warn_explicit(message, ElasticRunWarning, *place)
    except ElasticRunWarning:
        # Where warnings have been made errors (-W error), this is still no reason to end a training.
        sys.stderr.write(f"{ElasticRunWarning.__name__}: {message}\n")

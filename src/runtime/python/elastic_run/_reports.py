"""What a worker tells of its progress and of its errors."""
from __future__ import annotations

import os
import sys
import time

from . import _process
from ._errors import warn, words
from ._files import replace_file, write_temporary
from ._hints import Any, F, Optional
from ._messages import is_finite
from ._process import error_file
from ._session import session_if_launched

_LONGEST_REPLY_TEXT = 64 * 1024
"""In characters, so that an ERROR stays below what the channel takes; the error file has the whole."""

_registered = False


def report_progress(
    step: Optional[float] = None,
    *,
    busy: Optional[str] = None,
    for_seconds: Optional[float] = None,
    **details: object,
) -> None:
    """Tells the agent how far the worker has come: the step, and anything else that is JSON; what is
    no number (NaN) becomes null. It writes a small file, and may be called at each step. Does nothing
    outside of elastic-run. The launcher shows the numbers.

    report_progress(busy="checkpoint", for_seconds=1200) announces that no step comes for so long: the
    launcher takes it for no hang.

    Raises ChannelError above 1 MiB as JSON, and TypeError where the step, or the seconds of what it is
    busy with, is no finite number, or the rest no JSON.
    """
    progress: dict[str, object] = {**details, "kind": "PROGRESS"}
    if busy is None or step is not None:
        progress["step"] = _finite("step", step)
    if busy is not None:
        progress["busy"] = str(busy)
        progress["for_seconds"] = _finite("for_seconds", for_seconds)
    session = session_if_launched()
    if session is not None:
        # It has imported by now what it needs: docs/warm-restarts.md.
        getattr(sys.modules.get("_elastic_run_hook"), "learn", bool)()
        session.say(progress)


def report_error(error: object) -> None:
    """Tells the agent of an error (an exception, or words), and leaves it in the launcher's error
    file, where the report of a failed run finds it. It ends nothing and never raises; outside of a
    launcher it does nothing."""
    try:
        _write_error_file(error, "report_error")
        session = session_if_launched()
        if session is None:
            return
        reply = {"kind": "ERROR", "message": _describe(error)[:_LONGEST_REPLY_TEXT]}
        if isinstance(error, BaseException):
            reply["stack"] = _traceback(error)[:_LONGEST_REPLY_TEXT]
        session.say(reply)
    except Exception as problem:
        warn(f"The error could not be reported: {words(problem)}")


def register() -> None:
    """From now on an exception that ends this process is written to the launcher's error file first;
    what Python does about it stays as it is. Once a process, and only under a launcher."""
    global _registered
    if _registered or error_file() is None:
        return
    _registered = True
    show = sys.excepthook

    def write_and_show(kind: Any, error: BaseException, trace: Any) -> None:
        # What ends a fork is its parent's to judge.
        if not _process.forked:
            _try_to_write_error_file(error, "excepthook")
        show(kind, error, trace)

    sys.excepthook = write_and_show


def record(function: F) -> F:
    """A decorator, as torch's of the same name: what the function raises is written to the launcher's
    error file, and raised. Outside of a launcher it does nothing."""
    import functools

    @functools.wraps(function)
    def recorded(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            _try_to_write_error_file(error, "record")
            raise

    return recorded  # type: ignore[return-value]


def _finite(name: str, value: Any) -> float:
    """A plain number: those of other libraries are taken for what they stand for."""
    if isinstance(value, (str, bytes, bool)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"report_progress: {name} must be a finite number, not {value!r}.")
    if hasattr(type(value), "__index__"):
        try:
            return int(value.__index__())
        except TypeError:
            pass  # A tensor that holds no whole number.
    number = float(value)
    if not is_finite(number):
        raise TypeError(f"report_progress: {name} must be a finite number, not {number}.")
    return number


def _write_error_file(error: object, origin: str) -> None:
    """Writes the error file, in the format of torch's `@record`, whole or not at all. Does nothing
    outside of a launcher. `origin`: how the error came to light."""
    path = error_file()
    if path is None:
        return
    import json

    message = _describe(error)
    trace = _traceback(error) if isinstance(error, BaseException) else message
    extra = {"py_callstack": trace, "timestamp": str(int(time.time())), "origin": origin}
    text = json.dumps({"message": {"message": message, "extraInfo": extra}}, ensure_ascii=False)
    data = text.encode("utf-8", "backslashreplace")
    replace_file(path, write_temporary(os.path.dirname(path), data))


def _try_to_write_error_file(error: BaseException, origin: str) -> None:
    try:
        _write_error_file(error, origin)
    except Exception:
        pass  # The error that is being raised must not be hidden by one of ours.


def _describe(error: object) -> str:
    """An error in words, as torch's `@record` writes it: its name and its message."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}"
    return error if isinstance(error, str) else repr(error)


def _traceback(error: BaseException) -> str:
    """With its causes, as Python prints them."""
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))

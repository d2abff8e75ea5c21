"""The messages of the channel as text: docs/channel.md."""
from __future__ import annotations

from ._errors import ChannelError
from ._events import Preemption, WorkerEvent, WorkerInfo, WorkerState, WorldChangeEvent, record_of
from ._hints import Any, Mapping, NoReturn, Union

VERSION = 1
"""Of the wire format. Another one is not understood; unknown fields of this one are ignored."""

MESSAGE_LIMIT_BYTES = 1024 * 1024
"""The most bytes that one message may take as UTF-8 JSON."""

_LARGEST_INTEGER = 2**53 - 1
"""Of those that every reader of the channel takes for what they are."""


class Notice:
    """A NOTICE of the channel. Its source is None where the notice before it was withdrawn."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.sequence = _integer(fields, "sequence")
        self.deadline = None if fields.get("deadline", 0) is None else _number(fields, "deadline")
        self.source = None if fields.get("source", 0) is None else _text(fields, "source")
        self.reason = _text(fields, "reason")

    def to_preemption(self) -> Preemption:
        return record_of(
            Preemption,
            {
                "deadline": self.deadline,
                "source": self.source,
                "reason": self.reason,
                "_sequence": self.sequence,
            },
        )


def decode_event(text: str) -> Union[WorkerEvent, Notice]:
    """The event in a file's text, with the newest notice before it, if there was any. Raises an error
    that names the field that is wrong."""
    import json

    fields = _as_object(json.loads(text, parse_constant=_refuse_constant), "the message")
    _one_of(fields, "version", (VERSION,))
    if _one_of(fields, "kind", ("PAUSE", "WORK", "NOTICE")) == "NOTICE":
        return Notice(fields)
    before = fields.get("notice")
    return record_of(
        WorkerEvent,
        {
            **({} if before is None else {"_notice": Notice(_as_object(before, "notice"))}),
            "sequence": _integer(fields, "sequence"),
            "timestamp": _number(fields, "timestamp"),
            "kind": _text(fields, "kind"),
            "worker_state": _one_of(fields, "worker_state", tuple(WorkerState)),
            "change_event": _one_of(fields, "change_event", (None, *WorldChangeEvent)),
            "instance": _integer(fields, "instance"),
            "round": _integer(fields, "round"),
            "reason": _text(fields, "reason"),
            "worker_info": _decode_info(_as_object(fields.get("worker_info"), "worker_info")),
        },
    )


def _decode_info(fields: Mapping[str, Any]) -> WorkerInfo:
    return record_of(
        WorkerInfo,
        {
            name: _integer(fields, name) if kind == "int" else _text(fields, name)
            for name, kind in WorkerInfo.__annotations__.items()
        },
    )


def _as_object(value: Any, name: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise TypeError(f"{name} is not a JSON object")


def _integer(fields: Mapping[str, Any], name: str) -> int:
    """A whole number from 0."""
    value = _number(fields, name)
    if value == value // 1 and 0 <= value <= _LARGEST_INTEGER:
        return int(value)
    raise TypeError(f"{name} is not a whole number")


def _number(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise TypeError(f"{name} is no number")


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} is no string")


def _one_of(fields: Mapping[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    value = fields.get(name, _refuse_constant)
    for candidate in allowed:
        if value == candidate and not isinstance(value, bool):
            return candidate
    words = ", ".join("null" if candidate is None else str(candidate) for candidate in allowed)
    raise TypeError(f"{name} is not one of {words}")


def _refuse_constant(name: str) -> NoReturn:
    """Python takes NaN and Infinity for JSON; nobody else does."""
    raise ValueError(f"{name} is no JSON")


def encode(message: Mapping[str, Any], what: str) -> bytes:
    """As UTF-8 JSON. Raises TypeError on what is none, ChannelError on what is larger than the channel
    takes; `what` names it for people."""
    import json

    def dump(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    try:
        try:
            text = dump(message)
        except ValueError:
            text = dump(_without_nan(message))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"The message ({what}) is no JSON: {error}.") from error
    # Half a character (a lone surrogate) becomes the escape that JSON has for it.
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > MESSAGE_LIMIT_BYTES:
        raise ChannelError(
            f"The message ({what}) has {len(data)} bytes; the channel takes at most"
            f" {MESSAGE_LIMIT_BYTES}. Put large data into a file and send its path."
        )
    return data


def _without_nan(value: Any) -> Any:
    """JSON has no word for NaN and the infinities; a loss may well be one."""
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not is_finite(value) else value


def is_finite(number: float) -> bool:
    return number - number == 0


def message_file_name(sequence: int) -> str:
    return f"{sequence:010d}.json"


def sequences_in(names: list[str]) -> list[int]:
    """The sequence numbers among file names, ascending; foreign names are left out."""
    numbers = [
        int(name[:10])
        for name in names
        if len(name) == 15 and name.endswith(".json") and name.isascii() and name[:10].isdigit()
    ]
    return sorted(number for number in numbers if number > 0)

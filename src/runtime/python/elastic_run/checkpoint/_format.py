"""The layout of a checkpoint file: docs/checkpoints.md. Pure."""
from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple, Sequence

from ._errors import Damaged
from ._order import Token

MAGIC = b"ERCKPT1\n"
PREAMBLE_BYTES = len(MAGIC) + 4
DIGEST_BYTES = 32

ENDIANNESS = "LE" if sys.byteorder == "little" else "BE"

ELEMENT_BYTES = {
    "Int8Array": 1,
    "Uint8Array": 1,
    "Uint8ClampedArray": 1,
    "Int16Array": 2,
    "Uint16Array": 2,
    "Int32Array": 4,
    "Uint32Array": 4,
    "Float32Array": 4,
    "Float64Array": 8,
    "BigInt64Array": 8,
    "BigUint64Array": 8,
}


class Section(NamedTuple):
    type: str
    length: int
    """Number of elements."""

    @property
    def size(self) -> int:
        return self.length * ELEMENT_BYTES[self.type]


class Header(NamedTuple):
    token: Token
    step: int
    saved_at: float
    """Milliseconds since 1970."""
    sections: Sequence[Section]
    tree: Any


def encode_header(header: Header) -> bytes:
    """Everything before the sections."""
    fields = {
        "version": 1,
        "instance": header.token.instance,
        "round": header.token.round,
        "step": header.step,
        "savedAt": header.saved_at,
        "endianness": ENDIANNESS,
        "sections": [section._asdict() for section in header.sections],
        "state": header.tree,
    }
    text = json.dumps(fields, allow_nan=False, separators=(",", ":"), ensure_ascii=True).encode()
    return MAGIC + len(text).to_bytes(4, "little") + text


def decode_preamble(preamble: bytearray) -> int:
    """The length of the header."""
    if preamble[: len(MAGIC)] != MAGIC:
        raise Damaged("it does not begin like a checkpoint")
    return int.from_bytes(preamble[len(MAGIC) :], "little")


def decode_header(text: bytes, file_bytes: int) -> Header:
    """The header, if it is valid and fits the size of the file."""
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise Damaged(f"its header is no JSON ({error})") from None
    header = _header_of(fields)
    expected = PREAMBLE_BYTES + len(text) + DIGEST_BYTES
    expected += sum(section.size for section in header.sections)
    if expected != file_bytes:
        raise Damaged(f"it has {file_bytes} bytes of {expected}")
    if fields["endianness"] != ENDIANNESS:
        raise Damaged(
            f"it was written by a machine of byte order {fields['endianness']}, this one is {ENDIANNESS}"
        )
    return header


def _header_of(fields: Any) -> Header:
    try:
        sections = [Section(one["type"], one["length"]) for one in fields["sections"]]
        token = Token(fields["instance"], fields["round"])
        header = Header(token, fields["step"], fields["savedAt"], sections, fields["state"])
        counts = [*token, header.step, *(section.length for section in sections)]
        is_valid = (
            fields["version"] == 1
            and isinstance(fields["endianness"], str)
            and isinstance(header.saved_at, (int, float))
            and all(type(count) is int and count >= 0 for count in counts)
            and all(section.type in ELEMENT_BYTES for section in sections)
        )
        if is_valid:
            return header
    except (KeyError, TypeError):
        pass
    raise Damaged("its header lacks a field")

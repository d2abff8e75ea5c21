"""Turns a state into a tree of JSON with binary sections, and back.

What both languages know is written as the JavaScript library writes it, and either reads it. Anything
else (tensors, keys that are no strings) is what torch.save makes of the whole, in one section. Neither
way runs code of the file when it is read."""
from __future__ import annotations

import array
import io
import math
from importlib import import_module
from typing import Any, Optional, Sequence

from ._errors import CheckpointError
from ._format import Section

_TAG = "$"
"""Marks what JSON lacks, as {"$": [kind, value]}."""

_SAFE_INTEGER = 2**53 - 1
"""What JavaScript's numbers can tell apart."""

_ARRAYS = {
    "Int8Array": "b",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}
_NAMES = {code: name for name, code in _ARRAYS.items()}
_ARRAY = "array.array, or bytes,"


class _Unknown(Exception):
    """The state holds something of which only torch makes bytes."""


class Encoded:
    """A state as it is written."""

    def __init__(self, state: Any) -> None:
        self.sections: list[Section] = []
        self.parts: list[Any] = []
        try:
            self.tree = self._encode(state, "state", ())
        except _Unknown as unknown:
            self.sections, self.parts = [], []
            self.tree = {_TAG: ["torch", self._section("Uint8Array", _torch_bytes(state, unknown))]}

    def _section(self, name: str, data: Any) -> int:
        self.sections.append(Section(name, len(data)))
        self.parts.append(data)
        return len(self.parts) - 1

    def _encode(self, value: Any, path: str, around: tuple[int, ...]) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if abs(value) <= _SAFE_INTEGER else {_TAG: ["bigint", str(value)]}
        if kind is float:
            return _encode_float(value)
        if kind in (bytes, bytearray):
            return {_TAG: ["section", self._section("Uint8Array", value)]}
        if kind is array.array and value.typecode in _NAMES:
            return {_TAG: ["section", self._section(_NAMES[value.typecode], value)]}
        if id(value) in around:
            raise CheckpointError(
                f"Nothing was saved: {path} contains itself: save it without the cycle."
            )
        return self._encode_items(value, path, (*around, id(value)))

    def _encode_items(self, value: Any, path: str, around: tuple[int, ...]) -> Any:
        kind = type(value)
        if kind in (list, tuple):
            items = [self._encode(one, f"{path}[{n}]", around) for n, one in enumerate(value)]
            return items if kind is list else {_TAG: ["tuple", items]}
        if kind is not dict:
            raise _Unknown(f"{path} is of type {kind.__name__}")
        fields = {}
        for key, one in value.items():
            if type(key) is not str:
                raise _Unknown(f"{path} has a key of type {type(key).__name__}")
            fields[key] = self._encode(one, f"{path}.{key}", around)
        return {_TAG: ["object", fields]} if _TAG in fields else fields


def decode(
    tree: Any, types: Sequence[Section], sections: Sequence[bytearray], torch_options: dict[str, Any]
) -> Any:
    """The inverse of `Encoded`. `torch_options`: for torch.load."""

    def decode_fields(fields: dict[str, Any]) -> dict[str, Any]:
        return {key: decode_value(value) for key, value in fields.items()}

    def decode_value(value: Any) -> Any:
        if isinstance(value, list):
            return [decode_value(one) for one in value]
        if not isinstance(value, dict):
            return value
        tagged = value.get(_TAG)
        if not isinstance(tagged, list):
            return decode_fields(value)
        kind, inner = tagged
        if kind == "section":
            return _array_of(types[inner].type, sections[inner])
        if kind == "torch":
            return _from_torch_bytes(sections[inner], torch_options)
        if kind == "tuple":
            return tuple(decode_value(one) for one in inner)
        if kind == "number":
            return float(inner)
        if kind == "bigint":
            return int(inner)
        return decode_fields(inner)

    return decode_value(tree)


def _encode_float(value: float) -> Any:
    if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
        return value
    words = {math.inf: "Infinity", -math.inf: "-Infinity", 0.0: "-0"}
    return {_TAG: ["number", words.get(value, "NaN")]}


def _array_of(name: str, data: bytearray) -> Any:
    code = _ARRAYS.get(name)
    if code is None:
        return bytes(data)
    made = array.array(code)
    made.frombytes(data)
    return made


def _torch_bytes(state: Any, unknown: _Unknown) -> memoryview:
    torch = _torch()
    if torch is None:
        raise CheckpointError(
            f"Nothing was saved: {unknown}, which a checkpoint keeps only where torch is installed: turn"
            f" it into dicts with text as keys, lists, numbers, text, {_ARRAY} or install torch."
        )
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getbuffer()


def _from_torch_bytes(data: bytearray, options: dict[str, Any]) -> Any:
    import pickle

    torch = _torch()
    if torch is None:
        raise CheckpointError("This checkpoint holds what torch.save wrote: install torch to load it.")
    try:
        return torch.load(io.BytesIO(data), **options)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            "This checkpoint is whole, but holds objects whose loading would run code, which is done"
            " only when asked: save plain values, name their classes with"
            " torch.serialization.add_safe_globals, or trust the file with"
            f" checkpoint.open(…, weights_only=False). Torch says: {error}"
        ) from error


def _torch() -> Optional[Any]:
    try:
        return import_module("torch")
    except ImportError:
        return None

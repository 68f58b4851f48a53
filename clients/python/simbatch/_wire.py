"""Telemetry messages as bytes: SampleBatch out, Ack in, exactly as clients/telemetry.proto has them. Written by hand, so that
neither a protobuf package nor generated code is needed. No I/O here."""

from __future__ import annotations

import struct
from typing import Dict, List, Mapping, Tuple

_INT64_LIMIT = 1 << 63
_LAYOUTS_KEPT = 256
_NAME_BYTES = 1024

# Per sequence of names: the packer, and its arguments with places for the values at the odd positions.
_layouts: Dict[Tuple[str, ...], Tuple[struct.Struct, List[object]]] = {}


def varint(number: int) -> bytes:
    """A non-negative integer, seven bits per byte, least significant first."""
    out = bytearray()
    while number > 0x7F:
        out.append((number & 0x7F) | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _layout(names: Tuple[str, ...]) -> Tuple[struct.Struct, List[object]]:
    form = ["<"]
    arguments: List[object] = []
    for name in names:
        text = name.encode("utf-8")
        if not text or len(text) > _NAME_BYTES:
            raise ValueError("the name of a telemetry variable has 1 to 1024 bytes")
        key = b"\x0a" + varint(len(text)) + text + b"\x11"
        prefix = b"\x12" + varint(len(key) + 8) + key
        form.append(f"{len(prefix)}sd")
        arguments += [prefix, 0.0]
    if len(_layouts) >= _LAYOUTS_KEPT:
        _layouts.clear()
    _layouts[names] = made = (struct.Struct("".join(form)), arguments)
    return made


def encode_sample(timestamp_ns: int, values: Mapping[str, float]) -> bytes:
    """A Sample inside a SampleBatch. Raises for a time outside int64, a name that is not text, a value that is not a number."""
    if not -_INT64_LIMIT <= timestamp_ns < _INT64_LIMIT:
        raise ValueError("timestamp_ns does not fit 64 bits")
    names = tuple(values)
    packer, arguments = _layouts.get(names) or _layout(names)
    filled = arguments.copy()
    filled[1::2] = values.values()
    sample = b"\x08" + varint(timestamp_ns & 0xFFFFFFFFFFFFFFFF) + packer.pack(*filled)
    return b"\x0a" + varint(len(sample)) + sample


def encode_lost(samples: int) -> bytes:
    """How many samples were given up since this was last said: a field of a SampleBatch."""
    return b"\x10" + varint(samples)


def decode_ack(data: bytes) -> Tuple[int, str]:
    """(samples or values refused, why the first was) of an Ack. Raises for bytes that are none."""
    refused, detail, at = 0, "", 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            value = number()
            if tag >> 3 in (2, 3):
                refused += value
        elif tag & 7 == 2:
            size = number()
            if tag >> 3 == 4:
                detail = data[at : at + size].decode("utf-8", "replace")
            at += size
        else:
            raise ValueError("not an Ack")
    return refused, detail

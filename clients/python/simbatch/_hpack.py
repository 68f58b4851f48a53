"""Header fields of HTTP/2 as bytes (HPACK, RFC 7541), as far as one gRPC call needs them. No I/O here.

Fields are written as literals without Huffman coding. Fields are read with it, but without a dynamic table: the client's
SETTINGS set that table's size to 0, so a server never uses it.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Tuple

_STATIC_FIELDS = 61  # RFC 7541, appendix A
_STATUS = {8: "200", 9: "204", 10: "206", 11: "304", 12: "400", 13: "404", 14: "500"}
_MAX_INTEGER = 1 << 20

# Bits of the Huffman code of each octet, and of the end-of-string symbol (RFC 7541, appendix B). The code is canonical:
# the lengths alone define it.
_CODE_LENGTHS = (
    "13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 6 10 10 12 13 6 8 11 "
    "10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 "
    "14 6 15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 20 22 20 20 22 22 22 23 22 23 23 23 23 23 "
    "24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 "
    "22 23 23 20 22 22 22 23 22 22 23 26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 "
    "28 27 27 27 20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26 30"
)


class HpackError(ValueError):
    """A header block that cannot be read."""


def encode(fields: Iterable[Tuple[str, str]]) -> bytes:
    """A header block of literal fields that no party indexes. `authorization` is marked as never to be indexed."""
    out = bytearray()
    for name, value in fields:
        out.append(0x10 if name == "authorization" else 0x00)
        for text in (name.encode("ascii"), value.encode("utf-8")):
            out += _integer(len(text), 7) + text
    return bytes(out)


def decode(block: bytes) -> Dict[str, str]:
    """The fields of a header block, of which the static table's names other than `:status` are left out.

    Raises HpackError for a block that is not well-formed or that uses a dynamic table.
    """
    fields: Dict[str, str] = {}
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:  # a field of the table
            index, at = _read_integer(block, at, 7)
            _check_static(index)
            if index in _STATUS:
                fields[":status"] = _STATUS[index]
        elif first & 0xE0 == 0x20:  # the size of the dynamic table
            size, at = _read_integer(block, at, 5)
            if size != 0:
                raise HpackError("a dynamic table that was refused")
        else:
            index, at = _read_integer(block, at, 6 if first & 0x40 else 4)
            if index == 0:
                name, at = _read_string(block, at)
            else:
                _check_static(index)
                name = ":status" if index in _STATUS else ""
            value, at = _read_string(block, at)
            if name:
                fields[name] = value
    return fields


def _check_static(index: int) -> None:
    if not 1 <= index <= _STATIC_FIELDS:
        raise HpackError(f"header index {index} is not in the static table")


def _integer(number: int, bits: int) -> bytes:
    limit = (1 << bits) - 1
    if number < limit:
        return bytes((number,))
    out = bytearray((limit,))
    number -= limit
    while number > 0x7F:
        out.append((number & 0x7F) | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_integer(block: bytes, at: int, bits: int) -> Tuple[int, int]:
    limit = (1 << bits) - 1
    try:
        number = block[at] & limit
        at += 1
        if number < limit:
            return number, at
        shift = 0
        while True:
            byte = block[at]
            at += 1
            number += (byte & 0x7F) << shift
            shift += 7
            if number > _MAX_INTEGER:
                raise HpackError("an integer beyond all bounds")
            if byte < 0x80:
                return number, at
    except IndexError:
        raise HpackError("the block ends within an integer") from None


def _read_string(block: bytes, at: int) -> Tuple[str, int]:
    if at >= len(block):
        raise HpackError("the block ends before a string")
    coded = block[at] & 0x80
    size, at = _read_integer(block, at, 7)
    if at + size > len(block):
        raise HpackError("the block ends within a string")
    text = block[at : at + size]
    return (_unhuffman(text) if coded else text).decode("utf-8", "replace"), at + size


_codes: Dict[Tuple[int, int], int] = {}


def _code_table() -> Dict[Tuple[int, int], int]:
    """(length, code) -> octet; 256 is the end-of-string symbol."""
    if not _codes:
        lengths: List[int] = [int(length) for length in _CODE_LENGTHS.split()]
        code = previous = 0
        for octet in sorted(range(len(lengths)), key=lambda octet: (lengths[octet], octet)):
            code <<= lengths[octet] - previous
            previous = lengths[octet]
            _codes[previous, code] = octet
            code += 1
    return _codes


def _unhuffman(data: bytes) -> bytes:
    codes = _code_table()
    out = bytearray()
    code = length = 0
    for byte in data:
        for shift in range(7, -1, -1):
            code = code << 1 | byte >> shift & 1
            length += 1
            octet = codes.get((length, code))
            if octet is None:
                if length > 30:
                    raise HpackError("a string that is not Huffman code")
            elif octet == 256:
                raise HpackError("an end-of-string symbol within a string")
            else:
                out.append(octet)
                code = length = 0
    if length > 7 or code != (1 << length) - 1:  # what pads the last byte is the beginning of the end-of-string symbol
        raise HpackError("a string that is not Huffman code")
    return bytes(out)

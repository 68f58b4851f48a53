"""Messages byte by byte, as the comment in clients/telemetry.proto describes them."""

import struct
import unittest

from simbatch import _wire


def double(value):
    return struct.pack("<d", value)


class Encoding(unittest.TestCase):
    def test_bytes(self):
        entry = b"\x12\x0c\x0a\x01a\x11" + double(1.5)
        for timestamp, time in [
            (0, b"\x08\x00"),
            (127, b"\x08\x7f"),
            (300, b"\x08\xac\x02"),
            (2**63 - 1, b"\x08" + b"\xff" * 8 + b"\x7f"),
            (-1, b"\x08" + b"\xff" * 9 + b"\x01"),
            (-(2**63), b"\x08" + b"\x80" * 9 + b"\x01"),
        ]:
            with self.subTest(timestamp=timestamp):
                sample = time + entry
                self.assertEqual(_wire.encode_sample(timestamp, {"a": 1.5}), b"\x0a" + bytes([len(sample)]) + sample)

    def test_a_layout_is_reused_without_mixing_values(self):
        first = _wire.encode_sample(0, {"a": 1.0, "b": 2.0})
        self.assertNotEqual(first, _wire.encode_sample(0, {"a": 3.0, "b": 4.0}))
        self.assertEqual(first, _wire.encode_sample(0, {"a": 1.0, "b": 2.0}))
        self.assertNotEqual(first, _wire.encode_sample(0, {"b": 2.0, "a": 1.0}))

    def test_layouts_are_bounded(self):
        for i in range(1000):
            _wire.encode_sample(0, {f"v{i}": 0.0})
        self.assertLessEqual(len(_wire._layouts), 256)

    def test_refusals(self):
        for timestamp, values in [
            (2**63, {"a": 1}),
            (-(2**63) - 1, {"a": 1}),
            (0, {"a": "text"}),
            (0, {"a": None}),
            (0, {"": 1}),
            (0, {"n" * 1025: 1}),
            (0, {5: 1}),
        ]:
            with self.subTest(timestamp=timestamp, values=values), self.assertRaises(Exception):
                _wire.encode_sample(timestamp, values)


class Lost(unittest.TestCase):
    def test_bytes(self):
        self.assertEqual(_wire.encode_lost(3), b"\x10\x03")
        self.assertEqual(_wire.encode_lost(300), b"\x10\xac\x02")


class Ack(unittest.TestCase):
    def test_reads(self):
        for data, answer in [
            (b"", (0, "")),
            (b"\x08\xac\x02", (0, "")),
            (b"\x10\x02\x18\x03\x22\x03why", (5, "why")),
            (b"\x2a\x02??\x10\x01", (1, "")),
        ]:
            with self.subTest(data=data):
                self.assertEqual(_wire.decode_ack(data), answer)

    def test_refuses_what_is_none(self):
        for data in (b"\x08", b"\x0d\x00\x00\x00\x00"):
            with self.subTest(data=data), self.assertRaises(Exception):
                _wire.decode_ack(data)


if __name__ == "__main__":
    unittest.main()

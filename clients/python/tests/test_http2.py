"""HPACK and HTTP/2 of the client against the RFCs' own examples and against a scripted server."""

import socket
import struct
import threading
import unittest

from simbatch import _hpack, _http2
from simbatch._http2 import frame


def literal(name, value):
    """A field with Huffman coding off, as a server may send it."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


OK = b"\x88" + literal("content-type", "application/grpc")
TRAILERS = literal("grpc-status", "0")


class Hpack(unittest.TestCase):
    def test_huffman_code_of_rfc_7541(self):
        for coded, text in [
            ("f1e3c2e5f23a6ba0ab90f4ff", b"www.example.com"),
            ("a8eb10649cbf", b"no-cache"),
            ("25a849e95ba97d7f", b"custom-key"),
            ("25a849e95bb8e8b4bf", b"custom-value"),
            ("9d29ad171863c78f0b97c8e9ae82ae43d3", b"https://www.example.com"),
            ("", b""),
        ]:
            with self.subTest(text=text):
                self.assertEqual(_hpack._unhuffman(bytes.fromhex(coded)), text)

    def test_what_is_written_is_read_again(self):
        fields = [("grpc-message", "ü" * 200), ("te", "trailers"), ("authorization", "Bearer x")]
        block = _hpack.encode(fields)
        self.assertEqual(_hpack.decode(block), dict(fields))
        self.assertIn(b"\x10\x0dauthorization", block)

    def test_reads_indexed_fields_and_table_sizes(self):
        self.assertEqual(_hpack.decode(b"\x20\x88\x8c\x5f\x01x" + literal("grpc-status", "7")), {":status": "400", "grpc-status": "7"})

    def test_refuses_what_is_not_a_block(self):
        for block in (
            b"\xff",
            b"\x80",
            b"\xbe",  # the first field of a dynamic table
            b"\x3f\x21",  # a dynamic table
            b"\x00",
            b"\x00\x05ab",
            b"\x00\x01a\x81\xff\xff",
            b"\x00\x01a\x84\xff\xff\xff\xff",  # the end-of-string symbol
            b"\x00\x01a\x81\x00",  # padded with zeros
            b"\x00\x7f\xff\xff\xff\xff\xff\xff",
        ):
            with self.subTest(block=block), self.assertRaises(_hpack.HpackError):
                _hpack.decode(block)


class Address(unittest.TestCase):
    def test_reads(self):
        for target, expected in [
            ("127.0.0.1:80", ("127.0.0.1", 80)),
            ("http://localhost:7/", ("localhost", 7)),
            ("[::1]:9", ("::1", 9)),
        ]:
            with self.subTest(target=target):
                self.assertEqual(_http2.address(target), expected)

    def test_refuses(self):
        for target in ("", "host", "host:", ":80", "host:0", "host:65536", "host:x", "::1", "a:b:9", "host:²"):
            with self.subTest(target=target), self.assertRaisesRegex(ValueError, "SVC_TELEMETRY_URL"):
                _http2.address(target)


class Server(threading.Thread):
    """Reads the client's frames; says what `script` yields when asked to."""

    def __init__(self, script):
        super().__init__(daemon=True)
        self.frames = []
        self.bytes = 0
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.start()

    def run(self):
        connection, _ = self._listener.accept()
        self._listener.close()
        with connection:
            self.connection = connection
            assert self._exactly(24) == _http2.PREFACE
            try:
                self._script(self)
            except OSError:
                pass

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise OSError("closed")
            data += part
        return data

    def read(self):
        """The next frame: (kind, flags, stream, payload)."""
        high, low, kind, flags, stream = struct.unpack(">HBBBI", self._exactly(9))
        self.frames.append((kind, flags, stream, self._exactly(high << 8 | low)))
        return self.frames[-1]

    def read_until(self, wanted):
        while True:
            found = self.read()
            if wanted(*found):
                return found

    def say(self, *frames):
        self.connection.sendall(b"".join(frames))


ended = lambda kind, flags, *_: kind == _http2.DATA and flags & _http2.END_STREAM  # noqa: E731
ANSWER = [
    frame(_http2.HEADERS, _http2.END_HEADERS, 1, OK),
    frame(_http2.DATA, 0, 1, b"\x00\x00\x00\x00\x02\x08\x07"),
    frame(_http2.HEADERS, _http2.END_HEADERS | _http2.END_STREAM, 1, TRAILERS),
]


class Calls(unittest.TestCase):
    def call(self, script, token=None):
        server = Server(script)
        call = _http2.Call("127.0.0.1", server.port, "/a/B", token)
        self.addCleanup(call.abort)
        return server, call

    def test_a_whole_call(self):
        def script(server):
            server.say(frame(_http2.SETTINGS, 0, 0), frame(_http2.PING, 0, 0, b"12345678"))
            # The answers to both, and the end of the stream, in whichever order they come.
            waiting = {(_http2.SETTINGS, _http2.ACK), (_http2.PING, _http2.ACK), (_http2.DATA, _http2.END_STREAM)}
            while waiting:
                waiting.discard(server.read()[:2])
            server.say(*ANSWER)

        server, call = self.call(script, "s3cret")
        call.send(b"abc")
        call.send(b"")
        self.assertEqual(call.finish(), b"\x08\x07")
        settings, headers = server.frames[0], server.frames[1]
        self.assertEqual(settings, (_http2.SETTINGS, 0, 0, struct.pack(">HIHI", 1, 0, 2, 0)))
        self.assertEqual(headers[:3], (_http2.HEADERS, _http2.END_HEADERS, 1))
        fields = _hpack.decode(headers[3])
        self.assertEqual(
            [fields[name] for name in (":method", ":path", "te", "content-type", "authorization")],
            ["POST", "/a/B", "trailers", "application/grpc", "Bearer s3cret"],
        )
        self.assertIn((_http2.SETTINGS, _http2.ACK, 0, b""), server.frames)
        self.assertIn((_http2.PING, _http2.ACK, 0, b"12345678"), server.frames)
        data = b"".join(payload for kind, _, _, payload in server.frames if kind == _http2.DATA)
        self.assertEqual(data, b"\x00\x00\x00\x00\x03abc\x00\x00\x00\x00\x00")

    def test_never_sends_more_than_the_windows_allow(self):
        received = []

        def script(server):
            server.say(frame(_http2.SETTINGS, 0, 0, struct.pack(">HI", _http2.INITIAL_WINDOW_SIZE, 1000)))
            server.read_until(lambda kind, flags, *_: kind == _http2.SETTINGS and flags & _http2.ACK)
            # Data in flight before the client received the smaller window.
            early = sum(len(it[3]) for it in server.frames if it[0] == _http2.DATA)
            allowed = early
            for _ in range(200):
                update = struct.pack(">I", 1000)
                # The stream's window grows first, to 0 from the value that the settings gave it.
                server.say(frame(_http2.WINDOW_UPDATE, 0, 1, update), frame(_http2.WINDOW_UPDATE, 0, 0, update))
                allowed += 1000
            server.read_until(ended)
            received.append((early, allowed, sum(len(it[3]) for it in server.frames if it[0] == _http2.DATA)))
            server.say(*ANSWER)

        _, call = self.call(script)
        call.send(b"x" * 150_000)
        call.finish()
        early, allowed, total = received[0]
        self.assertEqual(total, 150_005)
        self.assertLessEqual(early, _http2.DEFAULT_WINDOW)
        self.assertLessEqual(total, allowed + _http2.DEFAULT_WINDOW)

    def test_stops_at_the_window(self):
        stop = threading.Event()

        def script(server):
            size = 0
            while size < _http2.DEFAULT_WINDOW:
                kind, _, _, payload = server.read()
                size += len(payload) if kind == _http2.DATA else 0
            server.bytes = size
            server.connection.settimeout(0.3)
            try:
                server.read()
                server.bytes = -1
            except (TimeoutError, socket.timeout):
                pass
            stop.set()

        server, call = self.call(script)
        sender = threading.Thread(target=self.swallow, args=(call, b"x" * 200_000), daemon=True)
        sender.start()
        self.assertTrue(stop.wait(10))
        self.assertEqual(server.bytes, _http2.DEFAULT_WINDOW)
        call.abort()
        sender.join(10)
        self.assertFalse(sender.is_alive())

    @staticmethod
    def swallow(call, message):
        try:
            call.send(message)
        except _http2.CallError:
            pass

    def test_ends_that_are_errors_say_why(self):
        huffman = b"\x00\x0cgrpc-message\x8c" + bytes.fromhex("f1e3c2e5f23a6ba0ab90f4ff")
        for frames, words in [
            ([frame(_http2.HEADERS, 5, 1, b"\x88" + literal("grpc-status", "16") + huffman)], "www.example.com"),
            ([frame(_http2.HEADERS, 5, 1, OK + literal("grpc-status", "7") + literal("grpc-message", "100%25"))], "100%$"),
            ([frame(_http2.HEADERS, 5, 1, b"\x8d")], "HTTP status 404"),
            ([frame(_http2.HEADERS, 5, 1, OK + TRAILERS)], "no answer"),
            ([frame(_http2.RST_STREAM, 0, 1, struct.pack(">I", 8))], "HTTP/2 error 8"),
            ([frame(_http2.GOAWAY, 0, 0, struct.pack(">II", 0, 11))], "takes no calls"),
            ([frame(_http2.HEADERS, 5, 1, b"\xbe")], "static table"),
            ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "does not speak HTTP/2"),
            ([frame(_http2.WINDOW_UPDATE, 0, 0, b"")], "does not speak HTTP/2"),
            ([frame(_http2.DATA, 0, 1, b"x" * 16000)] * 5, "too much"),
            ([], "closed the connection"),
        ]:
            with self.subTest(words=words):
                def script(server, frames=frames):
                    server.read_until(ended)
                    server.say(*frames)

                _, call = self.call(script)
                with self.assertRaisesRegex(_http2.CallError, words):
                    call.finish()
                self.assertTrue(call.ended)

    def test_a_block_in_parts_with_padding_and_priority(self):
        def script(server):
            server.read_until(ended)
            block = OK + literal("x" * 50, "y" * 50)
            flags = _http2.PADDED | _http2.PRIORITY
            server.say(
                frame(_http2.HEADERS, flags, 1, b"\x03" + b"\x00" * 5 + block[:10] + b"\x00" * 3),
                frame(_http2.CONTINUATION, _http2.END_HEADERS, 1, block[10:]),
                frame(_http2.DATA, _http2.PADDED, 1, b"\x01\x00\x00\x00\x00\x00\x00"),
                ANSWER[2],
            )

        _, call = self.call(script)
        self.assertEqual(call.finish(), b"")

    def test_no_server(self):
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.close()
        with self.assertRaises(OSError):
            _http2.Call("127.0.0.1", port, "/a/B", None)


if __name__ == "__main__":
    unittest.main()

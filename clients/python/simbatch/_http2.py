"""One gRPC call with a stream of messages from the client, over HTTP/2 without encryption (RFC 9113; gRPC over HTTP/2).

Knows nothing of samples. One thread sends, a thread of the call reads; control frames that an incoming frame asks for are
sent by the sending thread, so that frames never mix.
"""

from __future__ import annotations

import socket
import struct
import threading
from typing import Dict, Optional, Tuple
from urllib.parse import unquote

from . import _hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
HEADER_TABLE_SIZE, ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 1, 2, 4, 5

STREAM = 1
DEFAULT_WINDOW = 65535
DEFAULT_FRAME = 16384
LARGEST_WINDOW = (1 << 31) - 1
# Longest answer. An Ack is far smaller, so a longer answer is not an Ack.
MAX_ANSWER_BYTES = 65536
CONNECT_SECONDS = 5.0
_FRAME_HEAD = struct.Struct(">HBBBI")


class CallError(Exception):
    """The call ended without an answer. The text says why."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One HTTP/2 frame."""
    return _FRAME_HEAD.pack(len(payload) >> 8, len(payload) & 0xFF, kind, flags, stream) + payload


def address(target: str) -> Tuple[str, int]:
    """Host and port of `host:port`, `[v6]:port`, with a scheme before it or without. Raises ValueError."""
    rest = target.split("://", 1)[-1].rstrip("/")
    host, colon, port = rest.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"SVC_TELEMETRY_URL is {target!r} and is not host:port")
    return host, int(port)


class Call:
    """A call that is open from construction on. `send` and `finish` belong to one thread.

    Raises OSError when the server cannot be reached.
    """

    def __init__(self, host: str, port: int, path: str, token: Optional[str]) -> None:
        self.progress = 0
        """Grows with each frame that is sent or received."""
        self._changed = threading.Condition()
        self._window = DEFAULT_WINDOW
        self._connection_window = DEFAULT_WINDOW
        self._initial_window = DEFAULT_WINDOW
        self._max_frame = DEFAULT_FRAME
        self._replies = bytearray()
        self._answer = bytearray()
        self._block = bytearray()
        self._block_ends_stream = False
        self._fields: Dict[str, str] = {}
        self._ended = False
        self._failure = ""
        self._socket = socket.create_connection((host, port), CONNECT_SECONDS)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fields = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("user-agent", "simbatch-python"),
        ]
        if token:
            fields.append(("authorization", f"Bearer {token}"))
        settings = struct.pack(">HIHI", HEADER_TABLE_SIZE, 0, ENABLE_PUSH, 0)
        try:
            self._socket.sendall(
                PREFACE + frame(SETTINGS, 0, 0, settings) + frame(HEADERS, END_HEADERS, STREAM, _hpack.encode(fields))
            )
        except OSError:
            self._socket.close()
            raise
        self._reader = threading.Thread(target=self._read, name="simbatch-telemetry-reader", daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        """The server takes nothing more."""
        return self._ended

    def send(self, message: bytes) -> None:
        """Sends one message; waits while the server's window is full. Raises CallError when the call has ended."""
        data = memoryview(b"\x00" + struct.pack(">I", len(message)) + message)
        while data:
            with self._changed:
                while not self._replies and not self._ended and min(self._window, self._connection_window) <= 0:
                    self._changed.wait()
                self._check()
                size = max(0, min(len(data), self._window, self._connection_window, self._max_frame))
                self._window -= size
                self._connection_window -= size
                replies = self._take_replies()
            self._write(replies + (frame(DATA, 0, STREAM, bytes(data[:size])) if size else b""))
            data = data[size:]

    def poll(self) -> None:
        """Sends the control frames that wait, e.g. the answer to a ping."""
        with self._changed:
            replies = self._take_replies()
        if replies:
            self._write(replies)

    def finish(self) -> bytes:
        """Closes the client's side and waits for the answer's message. Raises CallError when there is none.

        It waits without limit; `abort` from another thread ends the wait.
        """
        self._write(frame(DATA, END_STREAM, STREAM))
        while True:
            with self._changed:
                while not self._replies and not self._ended:
                    self._changed.wait()
                if self._ended:
                    break
                replies = self._take_replies()
            self._write(replies)
        if self._failure:
            raise CallError(self._failure)
        status = self._fields.get("grpc-status")
        if status not in (None, "0"):
            raise CallError(unquote(self._fields.get("grpc-message", "")) or f"gRPC status {status}")
        if len(self._answer) < 5:
            http = self._fields.get(":status", "200")
            raise CallError("the runner gave no answer" if http == "200" else f"HTTP status {http}")
        return bytes(self._answer[5 : 5 + struct.unpack(">I", self._answer[1:5])[0]])

    def reason(self) -> str:
        """Why the call ended; empty while it has not, or when it ended well."""
        if self._failure:
            return self._failure
        status = self._fields.get("grpc-status")
        if status in (None, "0"):
            return ""
        return unquote(self._fields.get("grpc-message", "")) or f"gRPC status {status}"

    def abort(self) -> None:
        """Ends the call and closes the connection. May be called by any thread, any number of times."""
        self._end("the call was aborted")
        try:
            # close() alone does not wake a thread that reads, nor reach the server while a forked child has the socket too.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def _check(self) -> None:
        if self._ended:
            raise CallError(self.reason() or "the runner ended the stream")

    def _take_replies(self) -> bytes:
        replies = bytes(self._replies)
        self._replies.clear()
        return replies

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
            self.progress += 1
        except OSError as error:
            # The server's last words may explain it: they are read before the failure is taken from here.
            self._reader.join(0.2)
            self._end(_words(error))
            raise CallError(self.reason()) from error

    def _end(self, failure: str) -> None:
        with self._changed:
            if not self._ended:
                self._ended = True
                self._failure = failure
            self._changed.notify_all()

    def _read(self) -> None:
        try:
            while not self._ended:
                head = self._receive(9)
                high, low, kind, flags, stream = _FRAME_HEAD.unpack(head)
                size = high << 8 | low
                if size > DEFAULT_FRAME:
                    raise CallError("the server does not speak HTTP/2")
                payload = self._receive(size)
                with self._changed:
                    self._take(kind, flags, stream & LARGEST_WINDOW, payload)
                    self.progress += 1
                    self._changed.notify_all()
        except (CallError, _hpack.HpackError) as error:
            self._end(str(error))
        except OSError as error:
            self._end(_words(error))
        except (struct.error, IndexError):
            self._end("the server does not speak HTTP/2")

    def _receive(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise CallError("the runner closed the connection")
            parts += part
        return bytes(parts)

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            self._settings(payload)
        elif kind == PING and not flags & ACK:
            self._replies += frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            more = struct.unpack(">I", payload)[0] & LARGEST_WINDOW
            if stream == 0:
                self._connection_window += more
            elif stream == STREAM:
                self._window += more
        elif kind == GOAWAY and struct.unpack(">I", payload[:4])[0] & LARGEST_WINDOW < STREAM:
            raise CallError("the runner takes no calls")
        elif stream != STREAM:
            return
        elif kind == HEADERS:
            self._block = bytearray(_unpadded(payload, flags, priority=True))
            self._block_ends_stream = bool(flags & END_STREAM)
            self._end_of_block(flags)
        elif kind == CONTINUATION:
            self._block += payload
            if len(self._block) > MAX_ANSWER_BYTES:
                raise CallError("the runner answered with too many header fields")
            self._end_of_block(flags)
        elif kind == DATA:
            if len(self._answer) + len(payload) > MAX_ANSWER_BYTES:
                raise CallError("the runner answered with too much")
            self._answer += _unpadded(payload, flags, priority=False)
            self._ended |= bool(flags & END_STREAM)
        elif kind == RST_STREAM:
            # After a complete answer a server may say NO_ERROR for what it does not want to read any more.
            code = struct.unpack(">I", payload)[0]
            if "grpc-status" not in self._fields:
                self._failure = f"the runner ended the stream (HTTP/2 error {code})"
            self._ended = True

    def _settings(self, payload: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", payload):
            if name == INITIAL_WINDOW_SIZE:
                self._window += value - self._initial_window
                self._initial_window = value
            elif name == MAX_FRAME_SIZE:
                self._max_frame = value
        self._replies += frame(SETTINGS, ACK, 0)

    def _end_of_block(self, flags: int) -> None:
        if not flags & END_HEADERS:
            return
        self._fields.update(_hpack.decode(bytes(self._block)))
        self._ended |= self._block_ends_stream


def _unpadded(payload: bytes, flags: int, priority: bool) -> bytes:
    start, end = 0, len(payload)
    if flags & PADDED:
        start, end = 1, end - payload[0]
    if priority and flags & PRIORITY:
        start += 5
    return payload[start:end]


def _words(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()

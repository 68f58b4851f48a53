"""The way of samples from the simulation to its runner: a bounded queue that a thread of grpcio empties. Whatever happens
here (no server, a slow one, one that hangs) the simulation neither waits, nor fails, nor stays when it wants to exit."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections import deque
from typing import Any, Deque, Iterator, List, Mapping, Optional, Tuple

from . import _wire

METHOD = "/svc.telemetry.v1.Telemetry/StreamBatch"
# Samples that wait; when there are more, the oldest go: the newest tell most of how a run ended.
QUEUE_SAMPLES = 32768
BATCH_SAMPLES = 128
BATCH_BYTES = 256 * 1024
# How long a sample may wait for others to share its message.
GATHER_SECONDS = 0.005
CLOSE_SECONDS = 2.0


class NoTelemetry:
    """Takes samples and does nothing with them."""

    dropped = 0

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        pass

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        pass


class GrpcTelemetry:
    """A stream to the runner. `dropped` counts the samples that were given up, for whatever reason."""

    def __init__(self, grpc: Any, target: str) -> None:
        self.dropped = 0
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._queue: Deque[Tuple[int, Mapping[str, float]]] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._closed = False
        self._broken = False
        # A proxy of the environment is not for the loopback; a batch is never large.
        self._channel = grpc.insecure_channel(target, options=(("grpc.enable_http_proxy", 0),))
        # The threads start here and not at the first sample: an interpreter that is about to exit starts none.
        self._call = self._channel.stream_unary(METHOD).future(self._messages())
        self._call.add_done_callback(lambda _: self._ended())
        atexit.register(self.close)

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        """Never waits for the network and never raises."""
        if os.getpid() != self._pid:
            return  # a forked child: neither the thread nor the connection came along, and the lock may be held for ever
        with self._lock:
            if self._broken or self._closing:
                self.dropped += 1
                return
            if len(self._queue) >= QUEUE_SAMPLES:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append((timestamp_ns, values))
        if not self._wake.is_set():
            self._wake.set()

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Sends what waits, for at most `timeout` seconds, and says on stderr if something was lost."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        atexit.unregister(self.close)
        self._closing = True
        self._wake.set()
        detail, unknown = "", False
        try:
            refused, detail = _wire.decode_ack(self._call.result(timeout=timeout))
            self.dropped += refused
        except Exception as error:  # whatever it is, it must not reach the simulation
            # What was on its way and not acknowledged cannot be counted; that something is missing can be said.
            detail, unknown = _reason(error), True
            self._call.cancel()
        self._ended()
        self._channel.close()
        if self.dropped or unknown:
            say(f"{self.dropped or 'some'} telemetry samples were lost" + (f" ({detail})" if detail else ""))

    def _ended(self) -> None:
        with self._lock:
            self._broken = True
            self.dropped += len(self._queue)
            self._queue.clear()

    def _messages(self) -> Iterator[bytes]:
        """Runs in a thread of grpcio, which asks for the next message when the runner has room for it."""
        while True:
            self._wake.wait()
            if not self._closing:
                time.sleep(GATHER_SECONDS)
            self._wake.clear()
            with self._lock:
                waiting, self._queue = self._queue, deque()
                last = self._closing
            yield from self._batches(waiting)
            if last:
                return

    def _batches(self, waiting: Deque[Tuple[int, Mapping[str, float]]]) -> Iterator[bytes]:
        parts: List[bytes] = []
        size = 0
        while waiting:
            try:
                part = _wire.encode_sample(*waiting.popleft())
            except Exception:  # a value that is no number, a name that is no text
                self.dropped += 1
                continue
            parts.append(part)
            size += len(part)
            if len(parts) >= BATCH_SAMPLES or size >= BATCH_BYTES:
                yield b"".join(parts)
                parts, size = [], 0
        if parts:
            yield b"".join(parts)


def _reason(error: Exception) -> str:
    code = getattr(error, "code", None)
    try:
        return str(code().name).lower().replace("_", " ") if callable(code) else "the runner did not take them in time"
    except Exception:
        return type(error).__name__


def say(text: str) -> None:
    """One line on stderr; silence when there is none."""
    try:
        print(f"simbatch: {text}", file=sys.stderr)
    except Exception:
        pass


def connect(url: Optional[str]) -> "NoTelemetry | GrpcTelemetry":
    """Telemetry to `url` (`host:port`, a scheme is ignored); a no-op without one, or without grpcio."""
    if not url:
        return NoTelemetry()
    # Its own remarks would stand in the simulation's stderr, and its tail in error messages.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        import grpc
    except ImportError:
        say("telemetry is off: grpcio is not installed (pip install grpcio)")
        return NoTelemetry()
    try:
        return GrpcTelemetry(grpc, url.split("://", 1)[-1].rstrip("/"))
    except Exception as error:
        say(f"telemetry is off: {error}")
        return NoTelemetry()

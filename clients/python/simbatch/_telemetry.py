"""The way of samples from the simulation to its runner: a bounded queue that a thread empties into a gRPC call.

When the queue is full the simulation waits for the runner, within bounds; what is lost all the same is counted and reported.
Nothing here raises into the simulation, and nothing keeps it from exiting.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from typing import Deque, Iterator, List, Mapping, Optional, Tuple

from . import _wire
from ._http2 import Call, CallError, address
from ._sender import FORKED, Sender, say

METHOD = "/svc.telemetry.v1.Telemetry/StreamBatch"
# Samples that wait. A call that finds the queue full waits until half of it is sent.
QUEUE_SAMPLES = 32768
BATCH_SAMPLES = 128
BATCH_BYTES = 256 * 1024
# How long a sample may wait for others to share its message.
GATHER_SECONDS = 0.005
# How long the runner may take nothing at all before a sample is given up.
STALL_SECONDS = 10.0
# The same limit at the end of the program, for all samples that wait.
CLOSE_STALL_SECONDS = 5.0
CLOSE_SECONDS = 30.0
_STEP_SECONDS = 0.1
_UNANSWERED = f"the runner took nothing for {CLOSE_STALL_SECONDS:g} s"


class StreamedTelemetry(Sender):
    """A stream to the runner. `dropped` counts the samples that were given up, for whatever reason."""

    def __init__(self, target: str, token: Optional[str], closes_at_exit: bool) -> None:
        """Starts the thread that connects and sends. Raises ValueError for an address that cannot be read."""
        self.dropped = 0
        self._pid = os.getpid()
        self._foreign_pid = 0
        self._address = address(target)
        self._token = token
        # The lock is reentrant: a signal handler may send a sample while one is being sent.
        self._changed = threading.Condition()
        self._queue: Deque[Tuple[int, Mapping[str, float]]] = deque()
        self._call: Optional[Call] = None
        self._taken = 0
        self._reported = 0
        self._idle = False
        self._stalled = False
        self._closing = False
        self._closed = False
        self._broken = False
        self._detail = ""
        self._unknown = False
        # The thread starts here and not at the exit: an interpreter that is about to exit starts none.
        self._sender = threading.Thread(target=self._run, name="simbatch-telemetry", daemon=True)
        self._sender.start()
        if closes_at_exit:
            atexit.register(self.close)

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        """Puts a sample into the queue; waits for room while the runner makes progress. Never raises for what it is given."""
        if os.getpid() != self._pid:
            self._refuse_fork()
            return
        with self._changed:
            if len(self._queue) >= QUEUE_SAMPLES and not self._wait_for_room():
                self.dropped += 1
                return
            if self._broken or self._closing:
                self.dropped += 1
                return
            self._queue.append((timestamp_ns, values))
            if self._idle:
                self._idle = False
                self._changed.notify_all()

    def lose(self, samples: int) -> None:
        """Counts samples that cannot be sent; the next message reports them to the runner."""
        with self._changed:
            self.dropped += samples
            if self._idle:
                self._idle = False
                self._changed.notify_all()

    def close(self) -> None:
        """Sends what waits, within bounds, and says on stderr if something was lost."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        atexit.unregister(self.close)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if not self._sender_ends():
            self._unknown = True
            self._detail = _UNANSWERED
        call = self._call
        if call is not None:
            call.abort()
        self._end()
        if self.dropped or self._unknown:
            say(f"{self.dropped or 'some'} telemetry samples were lost" + (f" ({self._detail})" if self._detail else ""))

    def _refuse_fork(self) -> None:
        # A forked child has no sending thread, and must not write to the connection of its parent.
        if self._foreign_pid != os.getpid():
            self._foreign_pid = os.getpid()
            say(FORKED)

    def _wait_for_room(self) -> bool:
        """Waits until the queue is half empty. False when the runner has taken nothing for too long, or is gone."""
        taken, since = self._taken, time.monotonic()
        while len(self._queue) > QUEUE_SAMPLES // 2 and not (self._broken or self._closing):
            if self._stalled:
                return len(self._queue) < QUEUE_SAMPLES
            self._changed.wait(_STEP_SECONDS)
            if self._taken != taken:
                taken, since = self._taken, time.monotonic()
            elif time.monotonic() - since > STALL_SECONDS:
                # Sends no longer wait, until the runner takes data again.
                self._stalled = True
        return True

    def _sender_ends(self) -> bool:
        begin = since = time.monotonic()
        seen = -1
        while self._sender.is_alive():
            self._sender.join(_STEP_SECONDS)
            now = time.monotonic()
            call = self._call
            progress = self._taken + (call.progress if call else 0)
            if progress != seen:
                seen, since = progress, now
            if now - since > CLOSE_STALL_SECONDS or now - begin > CLOSE_SECONDS:
                return not self._sender.is_alive()
        return True

    def _end(self) -> None:
        with self._changed:
            self._broken = True
            self.dropped += len(self._queue)
            self._queue.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        """The sending thread."""
        try:
            self._call = call = Call(*self._address, METHOD, self._token)
            self._send_all(call)
            refused, self._detail = _wire.decode_ack(call.finish())
            self.dropped += refused
        except CallError as error:
            # Samples that were sent and not acknowledged cannot be counted: the note only says that some are missing.
            self._detail, self._unknown = str(error), True
        except Exception as error:  # none of any kind may reach the simulation
            self._detail, self._unknown = str(error) or type(error).__name__, True
        self._end()

    def _send_all(self, call: Call) -> None:
        while True:
            with self._changed:
                if not self._queue and not self._closing and self.dropped == self._reported:
                    self._idle = True
                    self._changed.wait(1.0)
                last = self._closing and not self._queue
            if call.ended:
                raise CallError(call.reason() or "the runner ended the stream")
            call.poll()
            if self._queue and not self._closing and len(self._queue) < BATCH_SAMPLES:
                time.sleep(GATHER_SECONDS)
            for message in self._messages():
                call.send(message)
                self._stalled = False
            if last:
                return

    def _messages(self) -> Iterator[bytes]:
        """The next samples and the number of lost ones as SampleBatches; none when nothing waits and nothing was lost."""
        with self._changed:
            size = min(len(self._queue), BATCH_SAMPLES)
            samples = [self._queue.popleft() for _ in range(size)]
            self._taken += size
            if len(self._queue) <= QUEUE_SAMPLES // 2 < len(self._queue) + size:
                self._changed.notify_all()
        parts: List[bytes] = []
        bytes_in_parts = wrong = 0
        for timestamp_ns, values in samples:
            try:
                part = _wire.encode_sample(timestamp_ns, values)
            except Exception:  # a value that is not a number, a name that is not a text
                wrong += 1
                continue
            parts.append(part)
            bytes_in_parts += len(part)
            if bytes_in_parts >= BATCH_BYTES:
                yield b"".join(parts)
                parts, bytes_in_parts = [], 0
        with self._changed:
            self.dropped += wrong
            lost = self.dropped - self._reported
            self._reported += lost
        if lost:
            parts.append(_wire.encode_lost(lost))
        if parts:
            yield b"".join(parts)

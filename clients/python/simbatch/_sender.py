"""Takers of the samples of a run. The one that sends them is loaded when there is an address for them."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in _run.py
if TYPE_CHECKING:
    from typing import Mapping, Optional

FORKED = "telemetry of a forked process is not sent; send it from the process that called simbatch.run()"


class Sender:
    """Takes the samples of a run."""

    dropped = 0
    """Samples that were given up."""

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        """Takes a sample."""
        raise NotImplementedError

    def lose(self, samples: int) -> None:
        """Counts samples that cannot be sent."""
        raise NotImplementedError

    def close(self) -> None:
        """Sends the waiting samples."""
        raise NotImplementedError


class NoTelemetry(Sender):
    """The sender of a program without telemetry: it takes samples and drops them."""

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        """Does nothing."""

    def lose(self, samples: int) -> None:
        """Does nothing: outside a runner no program waits for samples."""

    def close(self) -> None:
        """Does nothing."""


def connect(url: Optional[str], token: Optional[str], closes_at_exit: bool) -> Sender:
    """Telemetry to `url` (`host:port`, a scheme is ignored), authenticated by `token`; a no-op without a url.

    closes_at_exit: whether the end of the program closes it, and not the caller.
    """
    if not url:
        return NoTelemetry()
    try:
        from ._telemetry import StreamedTelemetry

        return StreamedTelemetry(url, token, closes_at_exit)
    except Exception as error:
        say(f"telemetry is off: {error}")
        return NoTelemetry()


def say(text: str) -> None:
    """Writes one line to stderr, if there is a stderr."""
    try:
        print(f"simbatch: {text}", file=sys.stderr)
    except Exception:
        pass

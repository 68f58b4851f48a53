"""Takers of the samples of a run, and what they print."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in _run.py
if TYPE_CHECKING:
    from typing import Mapping

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


def say(text: str) -> None:
    """Writes one line to stderr, if there is a stderr."""
    try:
        print(f"simbatch: {text}", file=sys.stderr)
    except Exception:
        pass

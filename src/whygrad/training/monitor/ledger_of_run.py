"""The ledger of a capture, kept in the run that is recorded meanwhile."""

from __future__ import annotations

from whygrad.backends.tensorflow.capture import running_capture
from whygrad.backends.tensorflow.freeze.recording import ledger_of
from whygrad.store import RunWriter


def store_ledger(writer: RunWriter) -> None:
    """Keep what is known now; nothing happens where nobody watches."""
    capture = running_capture()
    if capture is None:
        return
    capture.recorder.paused += 1
    try:
        writer.set_ledger(ledger_of(capture))
    finally:
        capture.recorder.paused -= 1

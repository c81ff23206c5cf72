"""A progress bar that is redrawn in place on a terminal, and plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class ProgressBar:
    """Shows the done share of ``total``. ``show`` may be called often; it limits its output."""

    _WIDTH = 32
    _SECONDS_BETWEEN_LINES = 2.0

    def __init__(self, label: str, total: int, out: TextIO = sys.stderr) -> None:
        self._label = label
        self._total = total
        self._out = out
        self._in_place = out.isatty()
        self._last_line = 0.0

    def show(self, done: int, remark: str = "") -> None:
        """Set the progress to ``done``."""
        share = min(1.0, done / self._total)
        if self._in_place:
            filled = round(share * self._WIDTH)
            bar = "█" * filled + "░" * (self._WIDTH - filled)
            self._out.write(f"\r\x1b[2K{self._label}  {bar} {share:4.0%}  {done:,} of {self._total:,}  {remark}")
        elif done >= self._total or time.monotonic() - self._last_line > self._SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._out.write(f"{self._label}: {done:,} of {self._total:,} ({share:.0%})  {remark}\n")
        self._out.flush()

    def close(self) -> None:
        """Keep the bar and go to the next line."""
        if self._in_place:
            self._out.write("\n")
            self._out.flush()

"""What a step prints becomes lines of its log."""

import io
import sys
import threading

_LONGEST_LINE = 250_000


class LogStream(io.TextIOBase):
    """`tell(text, frame)`: takes one line, and where the code stands that has printed it."""

    def __init__(self, tell, descriptor):
        super().__init__()
        self._tell = tell
        self._descriptor = descriptor
        self._partial = ""
        self._lock = threading.RLock()

    encoding = "utf-8"
    errors = "backslashreplace"

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() takes a text, not {type(text).__name__}")
        with self._lock:
            *lines, self._partial = (self._partial + text).split("\n")
            for line in lines:
                self._tell(_shown(line), sys._getframe(1))
            if len(self._partial) > _LONGEST_LINE:
                self.finish_line()
        return len(text)

    def finish_line(self):
        """What was printed without a line end is a line when its call has ended."""
        with self._lock:
            text, self._partial = self._partial, ""
        if text:
            self._tell(_shown(text), None)


def _shown(line):
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… ({len(line) - _LONGEST_LINE} more characters)"

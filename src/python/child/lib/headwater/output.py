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
        self._parts = []
        self._size = 0
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
            self._parts.append(text)
            self._size += len(text)
            if "\n" in text:
                *lines, rest = "".join(self._parts).split("\n")
                self._parts, self._size = [rest], len(rest)
                for line in lines:
                    self._tell(_shown(line), sys._getframe(1))
            if self._size > _LONGEST_LINE:
                self.finish_line()
        return len(text)

    @property
    def buffer(self):
        return _Bytes(self)

    def reconfigure(self, **_settings):
        """Lines of a log have one encoding."""

    def finish_line(self):
        """What was printed without a line end is a line when its call has ended."""
        with self._lock:
            text, self._parts, self._size = "".join(self._parts), [], 0
        if text:
            self._tell(_shown(text), None)


class _Bytes(io.RawIOBase):
    """For code that writes bytes to `sys.stdout.buffer`."""

    def __init__(self, stream):
        super().__init__()
        self._stream = stream

    def writable(self):
        return True

    def write(self, data):
        self._stream.write(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)


def _shown(line):
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… ({len(line) - _LONGEST_LINE} more characters)"

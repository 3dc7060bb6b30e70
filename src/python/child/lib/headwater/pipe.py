"""Messages to and from the server: JSON, one a line, over the file descriptor that the server has opened."""

import json
import os
import threading

HOST_FD = 3
_CHUNK = 65536


class Pipe:
    def __init__(self):
        self._writing = threading.Lock()

    def send(self, message):
        """Waits while the server reads slowly. When the server is gone, so is this process."""
        data = (json.dumps(message, separators=(",", ":")) + "\n").encode("ascii")
        try:
            with self._writing:
                view = memoryview(data)
                while view:
                    view = view[os.write(HOST_FD, view) :]
        except OSError:
            os._exit(0)

    def messages(self):
        """Yields each message; ends when the server has closed its side."""
        unread = b""
        while True:
            try:
                chunk = os.read(HOST_FD, _CHUNK)
            except OSError:
                return
            if not chunk:
                return
            *lines, unread = (unread + chunk).split(b"\n") if b"\n" in chunk else ([unread + chunk])
            for line in lines:
                yield json.loads(line)

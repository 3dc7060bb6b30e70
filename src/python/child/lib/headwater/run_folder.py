"""`/tmp` for one call of a step. It starts with the files of earlier steps. Changes are sent to the server at the end."""

import base64
import os
import stat

_PART = 192 * 1024
_MOST_BYTES = 512 * 2**20
_MOST_FILES = 10_000
_DEEPEST = 100


class RunFolder:
    def __init__(self, path, ask, ignored):
        self._path = path
        self._ask = ask
        self._ignored = ignored
        self._given = {}

    def fetch(self, is_empty):
        if is_empty:
            return
        for file in self._ask({"operation": "list-files"}).get("value", []):
            place = os.path.join(self._path, file["path"])
            if file["kind"] == "folder":
                os.makedirs(place, exist_ok=True)
            else:
                self._fetch_file(file, place)
        self._given = self._look(None)

    def _fetch_file(self, file, place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as out:
            while True:
                answer = self._ask({"operation": "read-file", "path": file["path"], "at": out.tell()})
                part = base64.b64decode(answer.get("value", ""))
                out.write(part)
                if len(part) < _PART:
                    break
        if file.get("isExecutable") is True:
            os.chmod(place, 0o755)

    def keep(self, note):
        """Raises ValueError when the files exceed a limit. `note` receives a line for each entry that is not kept."""
        now = self._look(note)
        size = sum(found[1] for found in now.values())
        if size > _MOST_BYTES:
            raise ValueError(
                f"all files of one run in /tmp may have {_MOST_BYTES // 2**20} MB together, "
                f"and these have {-(-size // 2**20)}: remove what no later step needs"
            )
        # Deletes removed and replaced entries first, to make room for new ones.
        for path, found in self._given.items():
            if path not in now or now[path][0] != found[0]:
                self._ask({"operation": "remove-file", "path": path})
        for path, found in now.items():
            if self._given.get(path) == found:
                continue
            if found[0] == "folder":
                self._ask({"operation": "make-folder", "path": path})
            else:
                self._send_file(path)

    def _send_file(self, path):
        with open(os.path.join(self._path, path), "rb") as file:
            is_executable = bool(os.fstat(file.fileno()).st_mode & 0o100)
            at = 0
            while True:
                part = file.read(_PART)
                is_last = len(part) < _PART
                text = base64.b64encode(part).decode("ascii")
                self._ask({"operation": "write-file", "path": path, "at": at, "base64": text, "isLast": is_last, "isExecutable": is_executable})
                at += len(part)
                if is_last:
                    return

    def _look(self, note):
        """Returns path -> current state. Folders precede their contents."""
        found = {}
        left = [entry for entry in _entries(self._path) if entry.name not in self._ignored]
        while left:
            entry = left.pop()
            path = os.path.relpath(entry.path, self._path)
            if not _is_text(path):
                if note is not None:
                    note(f"{entry.path!a} has a name that is no text, and the steps after this one do not have it")
            elif entry.is_dir(follow_symlinks=False):
                found[path] = ("folder", 0)
                if path.count("/") >= _DEEPEST:
                    raise ValueError(f"/tmp/{path[:200]}… lies more than {_DEEPEST} folders deep, which no later step can have")
                os.chmod(entry.path, 0o700)
                left.extend(sorted(_entries(entry.path), key=lambda one: one.name, reverse=True))
            elif entry.is_file(follow_symlinks=False):
                facts = entry.stat()
                found[path] = ("file", facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, stat.S_IMODE(facts.st_mode))
            elif note is not None:
                note(f"/tmp/{path} is neither a file nor a folder, and the steps after this one do not have it")
            if len(found) > _MOST_FILES:
                raise ValueError(f"one run may keep {_MOST_FILES} files and folders in /tmp: remove what no later step needs")
        return found


def clear_folder(path, ignored):
    """Raises OSError when an entry cannot be removed."""
    left = [entry for entry in _entries(path) if entry.name not in ignored]
    folders = []
    while left:
        entry = left.pop()
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            folders.append(entry.path)
            left.extend(_entries(entry.path))
        else:
            os.unlink(entry.path)
    for folder in reversed(folders):
        os.rmdir(folder)


def _entries(folder):
    if not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        return list(entries)


def _is_text(path):
    try:
        path.encode("utf-8")
        return True
    except UnicodeEncodeError:
        return False

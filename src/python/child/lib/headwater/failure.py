"""How an exception is told: its name, its message, and its traceback through the code of the step and its packages."""

import os
import traceback

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LONGEST = 100_000


def threw(error, path, url):
    """`path`: of the step's file in tracebacks; `url`: under which the server knows it."""
    told = _told(error)
    _leave_out_own_frames(told, set())
    stack = "".join(told.format()).strip()[-_LONGEST:]
    line = _line_in(error, path)
    if line is not None:
        # The server reads the place from this line.
        stack = f"{stack}\n    at {url}:{line}"
    message = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else _text(error)
    if isinstance(error, PermissionError) and any(frame.filename.endswith(("subprocess.py", "popen_fork.py")) for frame in told.stack):
        message += " (steps may not start programs; --allow-run true lets one, inside the wall: pd update <workflow>)"
    name = type(error).__name__
    return {"kind": "threw", "error": {"name": name[:_LONGEST], "message": message[:_LONGEST], "stack": stack}}


def _told(error):
    try:
        return traceback.TracebackException.from_exception(error)
    except Exception:
        # Its text cannot be made.
        return traceback.TracebackException(type(error), None, error.__traceback__)


def _text(error):
    """An exception may throw again when it is asked what it says."""
    try:
        return str(error)
    except Exception as again:
        return f"(its text cannot be made: {type(again).__name__})"


def _line_in(error, path):
    """Of the innermost line of the step's own file."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _leave_out_own_frames(told, seen):
    if told is None or id(told) in seen:
        return
    seen.add(id(told))
    kept = [frame for frame in told.stack if not frame.filename.startswith(_OWN_FOLDER) and not frame.filename.startswith("<frozen importlib")]
    told.stack = traceback.StackSummary.from_list(kept)
    _leave_out_own_frames(told.__cause__, seen)
    _leave_out_own_frames(told.__context__, seen)

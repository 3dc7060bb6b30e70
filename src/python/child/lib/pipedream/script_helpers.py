"""The older interface of Python steps: `steps`, and `export()`, for files without a handler."""

from headwater.step_host import current_script as _current_script


def export(name, value):
    _current_script().export(name, value)


def __getattr__(name):
    if name == "steps":
        return _current_script().steps
    raise AttributeError(f"pipedream.script_helpers has steps and export, no {name}")

"""`pd`, the argument of a step's handler."""

import base64
import math

from .data_store import DataStore
from .plain import json_text, plain

_DAY_MS = 24 * 60 * 60 * 1000
_LONGEST_WAIT_MS = 365 * _DAY_MS
# Same limits as in domain/limits.ts.
_LONGEST_NAME = 10_000
_LONGEST_BODY = 9_000_000


class HandedBack(dict):
    """Result of a `pd.flow` call. A step that returns it has no return value."""


class StepExports(dict):
    """A step without a return value has no `$return_value`. Reading it returns None."""

    def __missing__(self, key):
        if key == "$return_value":
            return None
        raise KeyError(key)


class Pd:
    def __init__(self, call, report):
        self._report = report
        self.steps = {name: StepExports(value) if isinstance(value, dict) else value for name, value in call.steps.items()}
        self.context = call.context
        self.inputs = {name: _input(name, value, call) for name, value in call.configured.items()}
        self.flow = Flow(call, report)
        self.send = Send(report)
        self._call = call

    def export(self, name, value):
        self._report["exports"][str(name)] = plain(value, f"pd.export({name!r})")

    def respond(self, response):
        """Only the first response counts. With `immediate`, the client gets it now, otherwise at the end of the run."""
        is_immediate = isinstance(response, dict) and response.get("immediate") is True
        if not is_immediate and "response" in self._report:
            return
        made = response_of(response)
        self._report["response"] = made
        if is_immediate:
            self._call.respond(made)


class Flow:
    def __init__(self, call, report):
        self._call = call
        self._report = report

    def exit(self, reason=None):
        return self._wish({"kind": "exit", **({} if reason is None else {"reason": str(reason)})})

    def delay(self, ms, context=None):
        return self._pause({"kind": "delay", "ms": self._wait(ms, "pd.flow.delay")}, context)

    def suspend(self, ms=_DAY_MS, context=None):
        return self._pause({"kind": "suspend", "ms": self._wait(ms, "pd.flow.suspend")}, context)

    def rerun(self, ms, context=None, maxRetries=10):
        return self._pause({"kind": "rerun", "ms": self._wait(ms, "pd.flow.rerun"), "maxRetries": int(maxRetries)}, context)

    def _pause(self, wish, context):
        if context is not None:
            wish["context"] = plain(context, f"the context of pd.flow.{wish['kind']}")
        self._wish(wish)
        addresses = self._call.context
        return HandedBack({name: addresses.get(name, f"about:blank#{name}-{wish['kind']}") for name in ("resume_url", "cancel_url")})

    def _wish(self, wish):
        self._report["flow"] = wish
        return HandedBack()

    def _wait(self, ms, what):
        if isinstance(ms, bool) or not isinstance(ms, (int, float)) or not ms >= 0 or math.isinf(ms):
            raise TypeError(f"{what} was given {ms!r}: a wait is a number of milliseconds, 0 or more")
        if ms > _LONGEST_WAIT_MS:
            self._call.note(f"{what} was given {ms} ms: a run waits for a year at most, and goes on then")
        return math.ceil(ms)


class Send:
    def __init__(self, report):
        self._report = report

    def email(self, subject=None, text=None, html=None, **others):
        what = {"subject": subject, "text": text, "html": html or None, **others}
        given = {name: value for name, value in what.items() if value is not None}
        self._report["sends"].append({"to": "email", "what": plain(given, "pd.send.email")})

    def __getattr__(self, name):
        raise AttributeError(f"pd.send.{name} does not exist in a Python step: pd.send.email does")


def _input(name, value, call):
    kind = call.kinds.get(name)
    if kind == "app":
        return {"$auth": dict(value) if isinstance(value, dict) else {}}
    return DataStore(str(value), call.ask) if kind == "data_store" else value


def response_of(given):
    """Raises TypeError unless `given` is a dictionary, and ValueError for an invalid status or a value above a limit."""
    if not isinstance(given, dict):
        raise TypeError(f"pd.respond takes a dictionary with status, headers and body, not {given!r:.200}")
    text, encoding, content_type = _body(given.get("body"))
    if len(text) > _LONGEST_BODY:
        raise ValueError(f"pd.respond: the body has {len(text)} characters, and may have {_LONGEST_BODY}")
    headers = {} if content_type is None else {"content-type": content_type}
    for name, value in (given.get("headers") or {}).items():
        for part in [name, *(value if isinstance(value, (list, tuple)) else [])]:
            if len(str(part)) > _LONGEST_NAME:
                raise ValueError(f"pd.respond: a header has {len(str(part))} characters, and may have {_LONGEST_NAME}")
        if value is not None:
            headers[str(name).lower()] = [str(one) for one in value] if isinstance(value, (list, tuple)) else str(value)
    return {"status": _status(given.get("status")), "headers": headers, "body": text, "encoding": encoding}


def _status(given):
    if given is None:
        return 200
    try:
        status = int(given)
    except (TypeError, ValueError):
        status = 0
    if status < 200 or status > 599:
        raise ValueError(f"pd.respond: status is a whole number from 200 to 599, not {given!r}")
    return status


def _body(body):
    if body is None:
        return "", "utf8", None
    if isinstance(body, str):
        return body, "utf8", "text/html; charset=utf-8"
    if isinstance(body, (bytes, bytearray, memoryview)):
        return base64.b64encode(body).decode("ascii"), "base64", "application/octet-stream"
    return json_text(body, "the body of pd.respond"), "utf8", "application/json; charset=utf-8"

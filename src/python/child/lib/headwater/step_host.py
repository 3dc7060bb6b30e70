"""Loads one step, makes its calls on the main thread, one after the other, and answers the server on another."""

import builtins
import inspect
import json
import linecache
import os
import queue
import sys
import threading
import time
import types
from urllib.parse import unquote, urlparse

from .failure import threw
from .output import LogStream
from .pd import HandedBack, Pd, StepExports
from .pipe import Pipe
from .plain import json_text, plain
from .run_folder import RunFolder, clear_folder

# As in sandbox/protocol.ts: changes when a message changes.
_PROTOCOL = 14
_DOOR_WORD = "through-the-door"
_NOTHING_DONE = {"emits": [], "stateChanges": {}, "touched": {}}
# Beside what the step may take: the interpreter, and the stacks of its threads.
_OWN_MEMORY_MB = 96
_SHARED_MB = 768
_current_script = None


def run(words):
    """Does not return."""
    StepHost(words).run()


def current_script():
    if _current_script is None:
        raise RuntimeError("pipedream.script_helpers is for a file without a handler: pd has steps and export")
    return _current_script


class StepHost:
    def __init__(self, words):
        self._pipe = Pipe()
        self._work = queue.SimpleQueue()
        self._answers = {}
        self._asked = 0
        self._asking = threading.Lock()
        self._call = None
        self._step = None
        self._process = os.getpid()
        self._of_thread = threading.local()
        self._folder = os.getcwd()
        self._temporary = os.environ.get("TMPDIR", "/tmp")
        self._ignored = frozenset(os.listdir(self._temporary) if os.path.isdir(self._temporary) else [])
        self._door = None
        _limit_memory(words)
        if _DOOR_WORD in words:
            from .network_door import lead_through_door

            self._door = lead_through_door(os.path.join(os.path.dirname(self._folder), "door"))
        self._streams = [LogStream(self._teller(level), descriptor) for level, descriptor in (("stdout", 1), ("stderr", 2))]
        sys.stdin = open(os.devnull, encoding="utf-8")
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = self._streams
        builtins.exit = builtins.quit = sys.exit

    def run(self):
        threading.Thread(target=self._listen, daemon=True).start()
        self._pipe.send({"type": "child:ready", "protocol": _PROTOCOL})
        while True:
            message = self._work.get()
            if message["type"] == "host:load":
                self._load(message)
            elif message["type"] == "host:call":
                self._run_call(message)
            else:
                os._exit(0)

    def _listen(self):
        for message in self._pipe.messages():
            kind = message["type"]
            if kind == "host:ping":
                self._pipe.send({"type": "child:pong", "memoryBytes": _memory_bytes()})
            elif kind == "host:answer":
                waiting = self._answers.pop(message["number"], None)
                if waiting is not None:
                    waiting.put(message)
            elif kind in ("host:load", "host:call", "host:stop"):
                self._work.put(message)
        os._exit(0)

    def _load(self, message):
        path = unquote(urlparse(message["url"]).path)
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        with open(os.path.join(os.path.dirname(path), "step.json"), encoding="utf-8") as file:
            facts = json.load(file)
        try:
            os.environ.update(message["env"])
            self._step = Step(text, facts, url=message["url"], site=os.path.join(os.path.dirname(path), "site"))
            self._pipe.send({"type": "child:loaded", "definition": {"hasRun": True}})
        except MemoryError:
            _die_without_memory()
        except BaseException as error:
            self._finish_lines()
            self._pipe.send({"type": "child:load-failed", "outcome": threw(error, facts["path"], message["url"])})

    def _run_call(self, message):
        if not (self._clear() and self._is_network_there()):
            self._give_back(message)
        call = self._call = StepCall(message, self, self._step.kinds)
        report = {"exports": {}, "sends": []}
        end = {"outcome": {"kind": "returned"}}
        try:
            returned = self._called(call, message, report)
            end["report"] = json_text(report, "what a step exports and sends")
            if returned is not None:
                end["returned"] = returned
        except MemoryError:
            _die_without_memory()
        except BaseException as error:
            end["outcome"] = threw(error, self._step.path, self._step.url)
            end["report"] = _report_of_failure(report)
        if os.getpid() != self._process:
            # A copy that the step has made of its process; the call is that of the other one.
            os._exit(0)
        self._finish_lines()
        self._call = None
        self._pipe.send({"type": "child:done", "id": call.id, "part": _NOTHING_DONE, **end})

    def _clear(self):
        """Another run must not find what one has left. False: something stays, as where a thread goes on writing."""
        try:
            os.chdir(self._folder)
            clear_folder(self._temporary, self._ignored)
            return True
        except OSError:
            return False

    def _give_back(self, message):
        """A call that this process is no good for: it is made in another one."""
        reason = "its process could not be made ready for it"
        self._pipe.send({"type": "child:done", "id": message["id"], "outcome": {"kind": "interrupted", "reason": reason}, "part": _NOTHING_DONE})
        os._exit(0)

    def _called(self, call, message, report):
        if message["method"]["kind"] != "action":
            raise ValueError(f"a Python step is called with its inputs alone, and not asked for {message['method']['kind']}")
        files = message.get("files")
        if files is None:
            return self._returned(call, report)
        folder = RunFolder(self._temporary, call.ask, self._ignored)
        try:
            folder.fetch(files["isEmpty"])
            returned = self._returned(call, report)
            folder.keep(call.note)
            return returned
        finally:
            self._clear()

    def _returned(self, call, report):
        """As JSON text; None: nothing."""
        try:
            value = self._step.call(call, report)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
            return None
        if value is None or isinstance(value, HandedBack):
            return None
        return json_text(value, "what the step returns")

    def _is_network_there(self):
        return self._door is None or self._door.is_open

    def ask(self, call_id, request):
        """The server's answer: a message with `value`, where there is one. Raises RuntimeError with what it says is wrong."""
        waiting = queue.SimpleQueue()
        with self._asking:
            self._asked += 1
            number = self._asked
            self._answers[number] = waiting
        self._pipe.send({"type": "child:ask", "id": call_id, "number": number, "request": request})
        answer = waiting.get()
        if answer.get("error") is not None:
            raise RuntimeError(answer["error"])
        return answer

    def tell(self, message):
        self._pipe.send(message)

    def log(self, level, text, frame=None):
        line = {"at": int(time.time() * 1000), "level": level, "text": text}
        place = None if self._step is None else self._step.place_of(frame)
        if place is not None:
            line["rawFrom"] = place
        self._pipe.send({"type": "child:log", "id": self._call_of_thread(), "line": line})

    def _call_of_thread(self):
        """Threads of an earlier call go on printing into its log, and not into that of the next one."""
        call = self._call
        if threading.current_thread() is not threading.main_thread():
            call = getattr(self._of_thread, "call", None) or call
            self._of_thread.call = call
        return None if call is None else call.id

    def _teller(self, level):
        return lambda text, frame: self.log(level, text, frame)

    def _finish_lines(self):
        for stream in self._streams:
            stream.finish_line()


class StepCall:
    """What one call knows, and how it reaches the server."""

    def __init__(self, message, host, kinds):
        self.id = message["id"]
        self.configured = message["configured"]
        self.kinds = kinds
        self.steps = message["method"].get("steps", {})
        self.context = message["method"].get("context", {})
        self._host = host

    def ask(self, request):
        return self._host.ask(self.id, request)

    def note(self, text):
        self._host.log("system", text)

    def respond(self, made):
        self._host.tell({"type": "child:respond", "id": self.id, "response": made, "isUnsettled": False})


class Step:
    """The file of a step, and the files beside it. Its module's own lines run once, when it is loaded; a file without a handler runs whole with each call."""

    def __init__(self, text, facts, *, url, site):
        self.kinds = facts["kinds"]
        self.path = facts["path"]
        self.url = url
        linecache.cache[self.path] = (len(text), None, text.splitlines(True), self.path)
        if os.path.isdir(site):
            from site import addsitedir

            addsitedir(site)
        if facts["files"]:
            from .local_modules import add_local_modules

            add_local_modules(facts["files"])
        self._code = compile(text, self.path, "exec", dont_inherit=True)
        self._module = self._run_module() if facts["hasHandler"] else None
        if self._module is not None and not callable(getattr(self._module, "handler", None)):
            raise TypeError("handler is no function when the file is loaded: a step in Python needs def handler(pd)")

    def call(self, call, report):
        if self._module is None:
            return self._call_script(call, report)
        returned = self._module.handler(Pd(call, report))
        if inspect.isawaitable(returned):
            return _awaited(returned)
        return returned

    def place_of(self, frame):
        """Where the step's own code stands, as the server finds it in its map."""
        while frame is not None and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return None if frame is None else f"{self.url}:{frame.f_lineno}:1"

    def _run_module(self):
        module = types.ModuleType("step")
        module.__file__ = self.path
        sys.modules["step"] = module
        exec(self._code, module.__dict__)
        return module

    def _call_script(self, call, report):
        global _current_script
        _current_script = Script(call, report)
        try:
            exec(self._code, {"__name__": "__main__", "__file__": self.path, "__builtins__": builtins})
        finally:
            _current_script = None
        return None


class Script:
    """What `pipedream.script_helpers` offers a file without a handler."""

    def __init__(self, call, report):
        self.steps = {name: StepExports(value) if isinstance(value, dict) else value for name, value in call.steps.items()}
        self._report = report

    def export(self, name, value):
        self._report["exports"][str(name)] = plain(value, f"export({name!r})")


def _report_of_failure(report):
    """Its author is to know what has not left."""
    for send in report["sends"]:
        send["problem"] = "not sent: what sends it has failed"
    try:
        return json_text(report, "what a step exports and sends")
    except ValueError:
        return "{}"


def _awaited(returned):
    import asyncio

    async def wait():
        return await returned

    return asyncio.run(wait())


def _limit_memory(words):
    """So that a step which takes too much is told so, and the machine goes on."""
    given = [word for word in words if word.startswith("--memory=")]
    if not given:
        return
    import resource

    most = (int(given[0].partition("=")[2]) + _OWN_MEMORY_MB) * 2**20
    # Shared memory is no data to the kernel; libraries reserve much that they do not use.
    for kind, wanted in ((resource.RLIMIT_DATA, most), (resource.RLIMIT_AS, most + _SHARED_MB * 2**20)):
        _soft, hard = resource.getrlimit(kind)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (limit, limit))


def _die_without_memory():
    """The words by which the server knows it; what holds the memory goes with the process."""
    os.write(2, b"FATAL ERROR: Python heap out of memory\n")
    os._exit(134)


def _memory_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

"""Without a network of its own the process reaches it through the server's door: one local socket asks, and each connection has a local socket of its own."""

import errno
import json
import os
import socket
import threading

_CONNECT = socket.socket.connect
_IGNORED_LEVELS = frozenset([socket.IPPROTO_TCP, socket.IPPROTO_IP, getattr(socket, "IPPROTO_IPV6", 41)])


def lead_through_door(path):
    door = _Door(path)
    _lead_sockets(door)
    _lead_lookups(door)
    return door


class _Door:
    def __init__(self, path):
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _CONNECT(self._socket, path)
        self._lock = threading.Lock()
        self._asked = 0
        self._answers = {}
        self.is_open = True
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, question):
        """Raises OSError with the reason, as the network would."""
        answered = threading.Event()
        with self._lock:
            self._asked += 1
            number = self._asked
            self._answers[number] = [answered, None]
            self._socket.sendall((json.dumps({"number": number, **question}) + "\n").encode())
        answered.wait()
        answer = self._answers.pop(number)[1]
        if answer is None:
            raise OSError(errno.ENETDOWN, "the door to the network is closed")
        if "refusal" in answer:
            refusal = answer["refusal"]
            raise OSError(getattr(errno, refusal["code"], errno.EIO), refusal["message"])
        return answer["value"]

    def close(self, connection):
        with self._lock:
            self._socket.sendall((json.dumps({"close": connection}) + "\n").encode())

    def _listen(self):
        with self._socket.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                answer = json.loads(line)
                waiting = self._answers.get(answer.get("number"))
                if waiting is not None:
                    waiting[1] = answer
                    waiting[0].set()
        self.is_open = False
        for waiting in list(self._answers.values()):
            waiting[0].set()


def _lead_sockets(door):
    original_option = socket.socket.setsockopt
    original_close = socket.socket._real_close

    def connect(self, address):
        if self.family not in (socket.AF_INET, socket.AF_INET6):
            return _CONNECT(self, address)
        if self.type != socket.SOCK_STREAM:
            raise OSError(errno.EACCES, "a step reaches others by connections alone: datagrams do not leave")
        host, port = address[0].decode() if isinstance(address[0], (bytes, bytearray)) else address[0], address[1]
        if not isinstance(port, int):
            raise TypeError(f"a port is a number, not {port!r}")
        if not 0 <= port <= 65535:
            raise OverflowError("connect(): port must be 0-65535.")
        if not isinstance(host, str) or not host or len(host) > 255:
            raise socket.gaierror(socket.EAI_NONAME, f"{host!r:.100} is no name of a host")
        family = 4 if self.family == socket.AF_INET else 6
        question = {"kind": "connect", "host": host, "port": port, "family": family if _is_name(host) else 0}
        granted = door.ask(question)
        local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _CONNECT(local, f"{door.path}-{granted['id']}")
        timeout = self.gettimeout()
        # The object stays what it is for those who hold it; what lies beneath it is the local socket.
        os.dup2(local.fileno(), self.fileno(), inheritable=False)
        local.close()
        self.settimeout(timeout)
        _CONNECTIONS[self.fileno()] = (granted["id"], (granted["address"], port))
        return None

    def connect_ex(self, address):
        try:
            connect(self, address)
            return 0
        except OSError as error:
            return error.errno or errno.EIO

    def setsockopt(self, *given):
        if self.fileno() in _CONNECTIONS and given and given[0] in _IGNORED_LEVELS:
            return None
        return original_option(self, *given)

    def getpeername(self):
        known = _CONNECTIONS.get(self.fileno())
        return _PEER(self) if known is None else known[1]

    def real_close(self, *given):
        known = _CONNECTIONS.pop(self.fileno(), None)
        original_close(self, *given)
        if known is not None:
            try:
                door.close(known[0])
            except OSError:
                pass

    socket.socket.connect = connect
    socket.socket.connect_ex = connect_ex
    socket.socket.setsockopt = setsockopt
    socket.socket.getpeername = getpeername
    socket.socket._real_close = real_close


# By file descriptor: a secure socket takes over that of the plain one.
_CONNECTIONS = {}
_PEER = socket.socket.getpeername


def _is_name(host):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
            return False
        except OSError:
            continue
    return True


def _lead_lookups(door):
    original = socket.getaddrinfo

    def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        name = host.decode() if isinstance(host, bytes) else host
        if name is None or not _is_name(name):
            return original(host, port, family, type, proto, flags)
        wanted = {socket.AF_INET: 4, socket.AF_INET6: 6}.get(family, 0)
        try:
            found = door.ask({"kind": "lookup", "host": name, "family": wanted})
        except OSError as error:
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from None
        return [made for one in found for made in original(one["address"], port, 0, type, proto, flags)]

    def gethostbyname(host):
        return getaddrinfo(host, None, socket.AF_INET)[0][4][0]

    socket.getaddrinfo = getaddrinfo
    socket.gethostbyname = gethostbyname

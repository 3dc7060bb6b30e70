"""The value of a data store prop in `pd.inputs`."""

from .plain import plain


# Same limit as in domain/limits.ts.
_LONGEST_KEY = 10_000


class MissingKey(KeyError, TypeError):
    """The hosted platform documents TypeError; Python's own mappings raise KeyError."""


class DataStore:
    def __init__(self, name, ask):
        self._name = name
        self._ask = ask

    def _request(self, operation, **more):
        return self._ask({"operation": operation, "store": self._name, **more})

    def __getitem__(self, key):
        answer = self._request("get", key=_key(key))
        if "value" not in answer:
            raise MissingKey(key)
        return answer["value"]

    def __setitem__(self, key, value):
        self.set(key, value)

    def __delitem__(self, key):
        self._request("delete", key=_key(key))

    def __contains__(self, key):
        return self._request("has", key=_key(key)).get("value") is True

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._request("keys").get("value", []))

    def get(self, key, default=None):
        return self._request("get", key=_key(key)).get("value", default)

    def set(self, key, value, ttl=None):
        """`ttl` is in seconds. With None, the value does not expire."""
        self._request("set", key=_key(key), value=plain(value, f"the value of {key!r}"), **_ttl(ttl))

    def set_ttl(self, key, ttl=None):
        """`ttl` is in seconds from now. With None, the value does not expire."""
        self._request("set-ttl", key=_key(key), **_ttl(ttl))

    def keys(self):
        return iter(self._request("keys").get("value", []))

    def values(self):
        return iter([value for _key_, value in self._request("entries").get("value", [])])

    def items(self):
        return iter([(key, value) for key, value in self._request("entries").get("value", [])])

    def clear(self):
        self._request("clear")

    def __repr__(self):
        return f"<data store {self._name}>"


def _ttl(ttl):
    if ttl is None:
        return {}
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl < float("inf"):
        raise TypeError(f"ttl is {ttl!r}: it is a number of seconds, more than 0, or None")
    return {"ttl": ttl}


def _key(key):
    if not isinstance(key, str):
        raise TypeError(f"a key of a data store is a text, not {key!r}")
    if len(key) > _LONGEST_KEY:
        raise ValueError(f"a key of a data store has {len(key)} characters, and may have {_LONGEST_KEY}")
    if any("\ud800" <= character <= "\udfff" for character in key):
        raise ValueError(f"a key of a data store is half of a character: {key!r:.100}")
    return key

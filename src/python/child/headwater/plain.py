"""What leaves a step leaves as JSON. What JSON cannot carry is refused, with the place where it lies."""

import json

_DEEPEST = 200
# As in domain/limits.ts.
_MOST_CHARACTERS = 10_000_000
_MOST_MEMBERS = 500_000


def json_text(value, what):
    """Raises TypeError, or ValueError for a number that JSON has no form for."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        reason = _first_problem(value, what, 0)
        raise (type(error) if isinstance(error, ValueError) else TypeError)(reason or f"{what} cannot be JSON: {error}") from None
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"{what} has {len(text)} characters as JSON, and may have {_MOST_CHARACTERS}")
    if sum(text.count(mark) for mark in ",:[{") > _MOST_MEMBERS and _members(value) > _MOST_MEMBERS:
        raise ValueError(f"{what} has more than {_MOST_MEMBERS} members")
    return text


def plain(value, what):
    return json.loads(json_text(value, what))


def _first_problem(value, place, depth):
    if depth > _DEEPEST:
        return f"{place} is nested deeper than JSON can carry, or contains itself"
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int, float, bool, type(None))):
                return f"{place} has a key of the type {type(key).__name__} ({key!r:.100}); JSON has only text as keys"
            found = _first_problem(item, f"{place}[{key!r}]", depth + 1)
            if found:
                return found
        return None
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            found = _first_problem(item, f"{place}[{index}]", depth + 1)
            if found:
                return found
        return None
    try:
        json.dumps(value, allow_nan=False)
        return None
    except ValueError:
        return f"{place} is {value!r}, which JSON has no number for; None or a text can be returned in its place"
    except TypeError:
        return f"{place} is a {type(value).__name__} ({value!r:.100}), which JSON cannot carry; str(...) makes a text of it"


def _members(value):
    if isinstance(value, dict):
        return 1 + sum(2 + _members(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return 1 + sum(1 + _members(item) for item in value)
    return 0

"""What leaves a step leaves as JSON. What JSON cannot carry is refused, with the place where it lies."""

import json
import re

# As deep as the server reads is 2000: nobody's data is, and each level of JSON takes several of Python's stack.
_DEEPEST = 200
# As in domain/limits.ts.
_MOST_CHARACTERS = 10_000_000
_MOST_MEMBERS = 500_000
_LONG_NUMBER = re.compile(r"\d{16}")
_LARGEST_WHOLE = 2**53


def json_text(value, what):
    """Raises TypeError, or ValueError for a number that JSON has no form for."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        reason = _first_problem(value, what, 0)
        raise (type(error) if isinstance(error, ValueError) else TypeError)(reason or f"{what} cannot be JSON: {error}") from None
    if _LONG_NUMBER.search(text):
        problem = _first_long_number(value, what, 0)
        if problem:
            raise ValueError(problem)
    if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(value):
        raise ValueError(f"{what} is nested more than {_DEEPEST} deep")
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


def _first_long_number(value, place, depth):
    """Whoever reads the JSON would get another number, or none."""
    if isinstance(value, bool) or depth > _DEEPEST:
        return None
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return f"{place} is {str(value)[:60]}, of which a number keeps only some digits; str(...) keeps all"
    if isinstance(value, dict):
        found = (_first_long_number(item, f"{place}[{key!r}]", depth + 1) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        found = (_first_long_number(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value))
    else:
        return None
    return next((problem for problem in found if problem), None)


def _members(value):
    if isinstance(value, dict):
        return 1 + sum(2 + _members(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return 1 + sum(1 + _members(item) for item in value)
    return 0


def _is_too_deep(value):
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ())]
        if not level:
            return False
    return True

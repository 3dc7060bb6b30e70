"""Reads a Python step without running it: says what is wrong with it, what it imports, and whether it has a handler.

check.py <folder>: reads step.json there, which has path, text and files, and writes result.json beside it.
"""

import ast
import io
import json
import os
import re
import sys
import tokenize

_ADD_PACKAGE = re.compile(r"#\s*pipedream\s+add-package\s+(.*)")
_OWN = frozenset(["pipedream"])
# In a row above an import.
_MOST_COMMENTS = 100


def main(folder):
    with open(os.path.join(folder, "step.json"), encoding="utf-8") as file:
        step = json.load(file)
    result = {"problems": [], "imports": [], "added": [], "hasHandler": False, "isScript": False}
    _read(step["path"], step["text"], result, is_entry=True)
    for path, text in step["files"].items():
        _read(path, text, result, is_entry=False)
    local = {path.split("/")[0].rpartition(".py")[0] or path.split("/")[0] for path in step["files"]}
    result["isScript"] = any(one["name"].split(".")[0] in _OWN for one in result["imports"])
    result["imports"] = [one for one in result["imports"] if _is_foreign(one["name"], local)]
    with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


def _read(path, text, result, is_entry):
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        result["problems"].append({"file": path, "line": error.lineno or 1, "column": max(1, error.offset or 1), "text": error.msg})
        return
    except (ValueError, RecursionError, MemoryError) as error:
        result["problems"].append({"file": path, "line": 1, "text": f"Python cannot read it: {str(error) or type(error).__name__}"})
        return
    if is_entry:
        result["hasHandler"] = any(_defines_handler(statement) for statement in tree.body)
    comments = _comments(text)
    covering = {}
    lines = text.splitlines()
    for line, comment in comments.items():
        found = _ADD_PACKAGE.match(comment)
        if found:
            result["added"].append({"requirement": found.group(1).strip(), "file": path, "line": line})
            covering[_import_after(line, comments, lines)] = True
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            # `from google.cloud import storage` names google.cloud.storage.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            result["imports"].append({"name": name, "file": path, "line": node.lineno, "isCovered": node.lineno in covering})


def _comments(text):
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = token.string
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def _import_after(line, comments, lines):
    """The line that a comment is about: its own, or the next one that is no comment."""
    if not lines[line - 1].lstrip().startswith("#"):
        return line
    first = line
    line += 1
    while line in comments and line <= len(lines) and line < first + _MOST_COMMENTS and lines[line - 1].lstrip().startswith("#"):
        line += 1
    return line


def _defines_handler(statement):
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == "handler"
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(isinstance(target, ast.Name) and target.id == "handler" for target in targets)
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name) == "handler" for alias in statement.names)
    inner = [one for name in ("body", "orelse", "finalbody") for one in getattr(statement, name, [])]
    inner += [one for handler in getattr(statement, "handlers", []) for one in handler.body]
    return any(_defines_handler(one) for one in inner)


def _is_foreign(name, local):
    top = name.split(".")[0]
    return top not in _OWN and top not in local and not _is_of_python(top)


def _is_of_python(top):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return top in names or top == "__main__"
    if top == "__main__":
        return True
    # Before 3.10: started without site-packages, it finds its own modules alone.
    import importlib.util

    return importlib.util.find_spec(top) is not None


main(sys.argv[1])

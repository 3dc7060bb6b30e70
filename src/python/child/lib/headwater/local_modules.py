"""Files beside a step, which it imports by their names."""

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys


def add_local_modules(files):
    """`files`: path from the step's folder -> text."""
    # Before Python's own: a file beside the step is what its author means.
    sys.meta_path.insert(0, _Finder(files))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def __init__(self, files):
        self._files = files

    def find_spec(self, fullname, path=None, target=None):
        place = self._place(fullname)
        if place is None:
            folder = fullname.replace(".", "/") + "/"
            if not any(name.startswith(folder) for name in self._files):
                return None
            # A folder without __init__.py.
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [folder]
            return spec
        return importlib.util.spec_from_loader(fullname, self, origin=place, is_package=place.endswith("/__init__.py"))

    def get_source(self, fullname):
        return self._files[self._place(fullname)]

    def is_package(self, fullname):
        return self._place(fullname).endswith("/__init__.py")

    def get_code(self, fullname):
        place = self._place(fullname)
        text = self._files[place]
        linecache.cache[place] = (len(text), None, text.splitlines(True), place)
        return compile(text, place, "exec", dont_inherit=True)

    def _place(self, fullname):
        base = fullname.replace(".", "/")
        return next((place for place in (f"{base}.py", f"{base}/__init__.py") if place in self._files), None)

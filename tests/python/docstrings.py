"""Every public name of hetero, and every public method and property of its classes, says what it does: docstrings.py."""
import importlib
import inspect
import pathlib
import re
import sys
import unittest

import hetero

MODULES = ["hetero", "hetero.argument_types", "hetero.exceptions", "hetero.layout", "hetero.placement", "hetero.preprocess", "hetero.profiling",
           "hetero.properties", "hetero.properties.device", "hetero.properties.hint", "hetero.properties.streams", "hetero.results", "hetero.shapes",
           "hetero.vision", "hetero.vision_results"]
# A build without plugins has no hetero.gst, and says so where it is imported.
HAS_GST = (pathlib.Path(hetero.__file__).parent / "gst").is_dir()
if HAS_GST:
    MODULES.append("hetero.gst")
# pybind11 writes "name(self: Tensor, source: object) -> None" above what we say.
SIGNATURE = re.compile(r"^(\d+\. )?\w*\(.*\)( -> .*)?$|^Overloaded function\.$")


def said(member):
    """The words of a docstring of its own."""
    doc = getattr(member, "__doc__", None) or ""
    if isinstance(member, type) and member.__doc__ in {base.__doc__ for base in member.__mro__[1:]}:
        return ""
    return "\n".join(line for line in doc.splitlines() if not SIGNATURE.match(line.strip())).strip()


def overloads_without(member):
    """Whether one of several signatures has no words below it."""
    lines = [line.strip() for line in (getattr(member, "__doc__", None) or "").splitlines() if line.strip()]
    numbered = [index for index, line in enumerate(lines) if re.match(r"^\d+\. \w+\(", line)]
    return any(index + 1 == len(lines) or SIGNATURE.match(lines[index + 1]) for index in numbered)


def is_member(name, member):
    is_public = not name.startswith("_") or name == "__call__"
    return is_public and (callable(member) or isinstance(member, (property, classmethod, staticmethod)) or hasattr(member, "attrname"))


def silent_members(owner):
    """Names of the class's own members that say nothing."""
    fields = getattr(owner, "_fields", ())
    for name, member in vars(owner).items():
        if is_member(name, member) and name not in fields and not isinstance(member, type):
            if not said(member) or overloads_without(member):
                yield name


def public_classes():
    """(name, class) of all public modules, each once."""
    seen = {}
    for module in map(importlib.import_module, MODULES):
        for name, value in vars(module).items():
            if isinstance(value, type) and not name.startswith("_") and value.__module__.startswith("hetero"):
                if value.__module__ != "hetero._hetero" or name in hetero.__all__:
                    seen[value] = name
    return [(name, value) for value, name in seen.items()]


class Docstrings(unittest.TestCase):
    def test_modules(self):
        self.assertEqual([name for name in MODULES if not importlib.import_module(name).__doc__], [])

    def test_all_names_exist(self):
        for module in map(importlib.import_module, MODULES):
            self.assertEqual([name for name in module.__all__ if not hasattr(module, name)], [], module.__name__)

    def test_public_functions(self):
        silent = []
        for module in map(importlib.import_module, MODULES):
            functions = [name for name in module.__all__ if inspect.isroutine(getattr(module, name))]
            silent += [f"{module.__name__}.{name}" for name in functions if not said(getattr(module, name))]
        self.assertEqual(silent, [])

    def test_classes(self):
        classes = public_classes()
        self.assertGreater(len(classes), 50)
        self.assertEqual([name for name, value in classes if not said(value)], [])

    def test_members(self):
        silent = [f"{owner}.{name}" for owner, value in public_classes() for name in silent_members(value)]
        self.assertEqual(silent, [], f"{len(silent)} members say nothing")

    def test_gst(self):
        if not HAS_GST:
            with self.assertRaisesRegex(ModuleNotFoundError, "gstreamer1.0-hetero-python") as caught:
                importlib.import_module("hetero.gst")
            self.assertEqual(caught.exception.name, "hetero.gst")
            return
        package, extension = map(importlib.import_module, ("hetero.gst", "hetero.gst._gst"))
        classes = [value for value in vars(extension).values() if isinstance(value, type)]
        self.assertEqual(len(classes), 4)
        self.assertEqual([f"{value.__name__}.{name}" for value in classes for name in silent_members(value)], [])
        # What they inherit from the extension's, too.
        for value in (package.VideoFrame, package.RegionOfInterest, package.Tensor):
            self.assertEqual([name for name in dir(value) if not name.startswith("_") and not said(getattr(value, name))], [], value)

    def test_help(self):
        """help() shows what was said, not only signatures."""
        import pydoc
        text = pydoc.plain(pydoc.render_doc(hetero.InferRequest))
        self.assertIn("Raises what the execution or the callback failed with", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])

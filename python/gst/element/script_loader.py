"""Part of the plugin heteropython, which holds this text and runs it once in each interpreter: finds a user's script and tells of its failures."""
import atexit
import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
import traceback
import types

#: Of files under a name that is not their stem, as a module of that name was there: by their real path.
_renamed = {}
_loading = threading.RLock()


class Refusal(Exception):
    """What the user has to set otherwise; its text is all of the message."""


def prepare(is_own):
    """The extension; `hetero` is a bare package in interpreters where the rest of it cannot live."""
    if is_own and "hetero" not in sys.modules:
        spec = importlib.util.find_spec("hetero")
        if spec is None or spec.submodule_search_locations is None:
            raise _no_package(ModuleNotFoundError("No module named 'hetero'", name="hetero"))
        package = types.ModuleType("hetero")
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules["hetero"] = package
    if is_own:
        # There it ends the child by a fatal error.
        os.fork = os.forkpty = _no_fork
    try:
        from hetero.gst import _gst, _gstgva
    except ImportError as failure:
        raise _no_package(failure) from failure
    _gstgva.install()
    return _gst


def _no_fork():
    raise RuntimeError(f"Python {sys.version.split()[0]} forks in its main interpreter only: set interpreter=shared")


def _no_package(failure):
    needed = failure.name or "hetero"
    advice = ("install python3-hetero and gstreamer1.0-hetero-python of the same version, or set PYTHONPATH=BUILD/python"
              if needed.split(".")[0] == "hetero" else f"install {needed} for this Python")
    return Refusal(f"Python {sys.version.split()[0]} ({sys.executable}) cannot import hetero.gst: {failure}; {advice}")


def load(module_name, class_name, function_name, args, kwargs):
    """What is called with each frame, and where it is from."""
    if not module_name:
        raise Refusal("property module is not set: set the path of a Python file or the name of a module, as in module=callback.py")
    if not function_name:
        raise Refusal("property function is empty: set the name of a function, or leave it at process_frame")
    if not class_name and (args or kwargs):
        raise Refusal("properties arg and kwarg are for a class: set class, or leave them out")
    positional, named = _arguments(args, kwargs)
    is_file = module_name.endswith(".py") or os.sep in module_name
    module = _file_module(module_name) if is_file else _named_module(module_name)
    place = getattr(module, "__file__", None) or "no file"
    if not class_name:
        return _member(module, function_name, "function", f"module '{module.__name__}' ({place})"), place
    made = _member(module, class_name, "class", f"module '{module.__name__}' ({place})")(*positional, **named)
    return _member(made, function_name, "method", f"class '{class_name}' of module '{module.__name__}' ({place})"), place


def _arguments(args, kwargs):
    positional, named = [], {}
    for text in args:
        value = _parsed("arg", text)
        positional += value if isinstance(value, list) else [value]
    for text in kwargs:
        value = _parsed("kwarg", text)
        if not isinstance(value, dict):
            raise Refusal(f"property kwarg: {text} is no JSON object, such as {{\"threshold\": 0.5}}")
        named.update(value)
    return positional, named


def _parsed(name, text):
    try:
        return json.loads(text)
    except ValueError as failure:
        raise Refusal(f"property {name}: {text} is no JSON: {failure}") from None
    except RecursionError:
        raise Refusal(f"property {name}: its JSON is nested too deep") from None


def _member(owner, name, kind, place):
    try:
        member = getattr(owner, name)
    except AttributeError:
        # Where a property of the script's object has failed, that is told.
        if hasattr(type(owner), name):
            raise
        raise Refusal(f"{place} has no {kind} '{name}'; it has: {_names(owner, kind)}") from None
    if not callable(member) or kind == "class" and not isinstance(member, type):
        raise Refusal(f"'{name}' of {place} is no {kind} but of type '{type(member).__name__}'; there are: {_names(owner, kind)}")
    return member


def _names(owner, kind):
    def is_one(name):
        member = getattr(owner, name, None)
        if getattr(member, "__module__", None) != own_module:
            return False
        return isinstance(member, type) if kind == "class" else callable(member) and not isinstance(member, type)

    own_module = owner.__name__ if isinstance(owner, types.ModuleType) else type(owner).__module__
    return ", ".join(sorted(name for name in dir(owner) if not name.startswith("_") and is_one(name))) or "none"


def _named_module(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as failure:
        if failure.name is None or not (name + ".").startswith(failure.name + "."):
            raise
        text = f"property module: Python {sys.version.split()[0]} ({sys.executable}) finds no module '{failure.name}'"
        if os.path.isfile(name + ".py"):
            raise Refusal(f"{text}; the file of this name is module={name}.py") from None
        raise Refusal(f"{text}; set the path of a file, NAME.py, or add the module's folder to PYTHONPATH") from None


def _file_module(path):
    absolute = os.path.abspath(path)
    if os.path.isdir(absolute):
        raise Refusal(f"property module: {absolute} is a folder; set the path of a Python file in it")
    if not os.path.isfile(absolute):
        raise Refusal(f"property module: there is no file {absolute}")
    folder, file = os.path.split(absolute)
    stem, real = os.path.splitext(file)[0], os.path.realpath(absolute)
    # Another thread's import of this file has to be complete.
    with _loading:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = _renamed.get(real, stem)
        if name in sys.modules and _is_of(sys.modules[name], real):
            return sys.modules[name]
        number = 1
        while name in sys.modules:
            number += 1
            name = f"{stem}_{number}"
        module = _run_file(name, absolute)
        if name != stem:
            _renamed[real] = name
        return module


def _is_of(module, real):
    file = getattr(module, "__file__", None)
    return file is not None and os.path.realpath(file) == real


def _run_file(name, path):
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path, loader=loader))
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    # A module may put another object in its place.
    return sys.modules.get(name, module)


def describe(failure, module_name):
    """The message, the traceback, and whether the user has to set something."""
    if isinstance(failure, Refusal):
        return str(failure), _whole(failure.__cause__) if failure.__cause__ else "", True
    trace = failure.__traceback__
    while trace and (trace.tb_frame.f_globals is globals() or trace.tb_frame.f_code.co_filename.startswith("<frozen importlib")):
        trace = trace.tb_next
    failure = failure.with_traceback(trace)
    return _summary(failure, _place(module_name)), _whole(failure), False


def _whole(failure):
    return "".join(traceback.format_exception(type(failure), failure, failure.__traceback__))


def _place(module_name):
    """The file of a script, also where it could not be run."""
    module = sys.modules.get(module_name)
    return getattr(module, "__file__", None) or os.path.abspath(module_name)


def _summary(failure, place):
    kind = type(failure).__name__
    frames = traceback.extract_tb(failure.__traceback__)
    own = [frame for frame in frames if frame.filename == place] or frames
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno}, in {own[-1].name})" if own else ""
    if isinstance(failure, SyntaxError):
        return f"{kind}: {failure.msg} ({os.path.basename(failure.filename or '?')}, line {failure.lineno})"
    if isinstance(failure, SystemExit):
        return f"{kind}: the script asked to exit, with {failure.code!r}{where}"
    try:
        text = str(failure)
    except Exception:
        text = "its text cannot be told"
    return f"{kind}: {text}{where}"


def unexpected(result, name):
    """Why a frame does not go on with this result."""
    hint = "; a function that is called for each frame cannot be async" if hasattr(result, "__await__") else ""
    if hint:
        result.close()
    return Refusal(f"function '{name}' returned a value of type '{type(result).__name__}': True or None lets the frame go on, "
                   f"False drops it{hint}")


def exit_status(failure):
    """What a process ends with that this exception ends; it is told as Python does."""
    if isinstance(failure, SystemExit):
        if failure.code is None or isinstance(failure.code, int):
            return (failure.code or 0) & 0xFF
        print(failure.code, file=sys.stderr)
        return 1
    sys.stderr.write(_whole(failure))
    return 1


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def end():
    """What Python does before it ends an interpreter: waits for threads that are no daemons, and calls the functions of atexit."""
    for call in reversed(getattr(threading, "_threading_atexits", [])):
        call()
    while waited := [thread for thread in threading.enumerate()
                     if not thread.daemon and thread is not threading.main_thread() and thread.ident != threading.get_ident()]:
        for thread in waited:
            thread.join()
    # Python 3.14 flushes nothing after these.
    atexit._run_exitfuncs()
    flush()
    # Python takes this thread for the one that has imported threading, and waits for that one otherwise.
    threading.main_thread()._ident = threading.get_ident()

"""The districts of the folders that have them, and who may include whom among them (design, section 2).

A folder lists its rungs from the highest to the lowest: a file includes its own rung and those below it. "" are the files of the folder itself, a
name with a dot is that file, and a tuple is a rung of several.
"""
import pathlib

DISTRICTS = {
    "inference": [
        "inspection", "", ("tracking", "motion", "zones"), "decoders", "writers", "readers", "requests",
        # The bodies of If, Loop and Scan are models that passes prepare.
        ("passes", "ops"),
        "devices", "model", "preprocess", "tensors", "machine", "base",
        # Interfaces of users' libraries, which include nothing of ours but each other.
        ("custom_decoder.h", "custom_device.h", "custom_operator.h", "custom_preprocess.h", "custom_types.h"),
    ],
    "devices/cpu": ["", "kernels", "plan", "moves", "products", "onednn", "loops", "formats", "threads"],
    "devices/gpu": ["", "kernels", "products", "plan", "memory", "programs", "opencl"],
    "hetero": ["", "explain", "multi", "batch", "placement", "planner", "execution", "split", "members"],
    "gst": ["", "brokers", "bindings", "elements", "analysis", "messages", "drawing", "metadata", "frames", "measuring"],
    "serving/metrics": ["plugin.cpp", "", "http", "watch", "exposition"],
    "serving/launch": ["main.cpp", "command", "supervise", "instance", "plan", ""],
    "serving/archive": ["main.cpp", "command", ("verify", "cost"), "merge", "supervise", "worker", "scan", "records", "schedulers", ""],
    "serving/density": ["main.cpp", "command", "results", "process", "trial", "search", ""],
}


def folder_of(name):
    """The folder with districts in which a file lies, or None."""
    return next((folder for folder in DISTRICTS if name.startswith(folder + "/")), None)


def rung_of(folder, name):
    """The place of a file in its folder's list; None for one in a subfolder that is not listed."""
    inside = name[len(folder) + 1:]
    district = inside.split("/")[0] if "/" in inside else ""
    rungs = [rung if isinstance(rung, tuple) else (rung,) for rung in DISTRICTS[folder]]
    return next((i for i, rung in enumerate(rungs) if inside in rung), next((i for i, rung in enumerate(rungs) if district in rung), None))


def included_file(root, name, target):
    """What an include in quotation marks means, from the root: by its whole path or beside the file that includes it."""
    beside = pathlib.PurePosixPath(name).parent / target
    return str(beside) if (root / beside).is_file() else target


def district_problem(root, name, target):
    """What is wrong with one include in quotation marks, or None."""
    folder = folder_of(name)
    target = included_file(root, name, target)
    if folder is None:
        return None
    own = rung_of(folder, name)
    if own is None:
        return f"{name}: its folder is no district of {folder}/; add it to tests/tree/districts.py"
    if folder_of(target) != folder:
        return None
    other = rung_of(folder, target)
    if other is not None and other < own:
        return f"{name}: includes {target}, which is in a higher district; {folder}/ includes downwards only"
    return None

#!/usr/bin/env python3
"""Makes exports, and compares what this project finds on pictures with what the exporter's own library finds.

usage: objects.py HETERO FOLDER RESULTS EXPORTER [--only PATTERN] [--minutes N] [--keep]

HETERO is the command line tool; the library beside it is called. FOLDER, RESULTS and the options are as run.py has them. Nothing but the
model and the files that its exporter writes beside it says how it is read. Pictures have the sizes that the model wants, so that nothing
depends on how they are scaled; what is found on one that has to be scaled is reported alone.
"""

import contextlib
import functools
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import found
from catalogue import EXPORTS
from each_export import SECONDS, arguments, each_export, last_line
from pictures import pixels, prepared
from session import compute_in_float32, inputs_off_by_a_millionth
from settled import settle_on_pictures
from verdicts import said, verdict

SEEDS = 4
# Of the list: what pictures are read for. Embeddings of whole pictures and models of words have no objects.
TASKS = ("detect", "segment", "pose", "obb", "classify", "semantic", "depth", "anomaly", "re-identification", "text")
OURS = Path(__file__).with_name("ours.py")


def inspected(hetero, file, folder, labels):
    """The descriptor that `hetero inspect` writes, None without one, and its warnings."""
    descriptor = folder / "described.json"
    command = [hetero, "inspect", str(file), "--json", "--model-proc", str(descriptor), *(["--labels-file", str(labels)] if labels else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    warnings = json.loads(done.stdout)["warnings"] if done.stdout.startswith("{") else [last_line(done.stderr)]
    return (descriptor if descriptor.exists() else None), [f"inspect: {w}" for w in warnings]


def ours(library, file, descriptor, thresholds, folder, mask_ends, labels):
    """A Found for each picture or a text why there is none, and the warnings."""
    job, result = folder / "job.json", folder / "found.pickle"
    job.write_text(json.dumps({"model": str(file), "model_proc": str(descriptor) if descriptor else None, "mask_ends": mask_ends, "labels_file": str(labels) if labels else None,
                               "pictures": [(str(p), t) for p, t in thresholds.items()]}))
    done = subprocess.run([sys.executable, str(OURS), library, str(job), str(result)], capture_output=True, text=True, timeout=SECONDS)
    warnings = [line.replace(f"{folder}/", "") for line in done.stderr.splitlines() if line.startswith("hetinference: warning")]
    if done.returncode != 0:
        return f"ended with {done.returncode}: {last_line(done.stderr)}", warnings
    answer = pickle.loads(result.read_bytes())
    return answer.replace(f"{folder}/", "") if isinstance(answer, str) else answer, warnings


def difference(mine, theirs, picture):
    height, width, _ = picture.shape
    return found.difference(found.clipped(mine, width, height), found.clipped(theirs, width, height))


def difference_with_itself(own, theirs, picture, threshold):
    """Why its own library does not find the same again where its inputs are off by a part in a million, or its settings by as little as its
    own arithmetic: what rounding decides."""
    for seed, how in [(seed, {}) for seed in range(SEEDS)] + [(None, how) for how in getattr(own, "nearly", [])]:
        with contextlib.nullcontext() if seed is None else inputs_off_by_a_millionth(seed):
            again = own.find(picture, threshold, **how)
        if reason := difference(again, theirs, picture):
            return f"{reason} ({', '.join(f'{k} {v}' for k, v in how.items()) or 'inputs off by a part in a million'})"
    return ""


def compare(hetero, export, folder, row):
    """Fills the row."""
    library = str(Path(hetero).parents[1] / "libhetinference-1.0.so")
    library_of_its_own = importlib.import_module(f"own_{export.exporter}")
    settle_on_pictures(library_of_its_own.IS_NORMALISED, getattr(library_of_its_own, "spread", None))
    compute_in_float32()
    own = library_of_its_own.Own(export, export.make(folder), folder)
    files = prepared(own.sizes, folder, getattr(own, "mode", "RGB"))
    shown = {file: pixels(file) for file in files}
    thresholds, theirs = {}, {}
    for file, picture in shown.items():
        everything = own.find(picture, 0.0)
        thresholds[file] = found.threshold_for(everything.objects or [])
        if everything.objects and not thresholds[file]:
            raise ValueError("all scores are alike")
        theirs[file] = own.find(picture, thresholds[file]) if everything.objects else everything
    row["found"] = [len(t.objects) if t.objects is not None else ", ".join(t.kinds()) for t in theirs.values()]
    if all(t.objects is not None and len(t.objects) < (1 if export.task == "pose" else 5) for t in list(theirs.values())[:3]):
        raise ValueError(f"too few objects are found to tell: {row['found']}")
    *same_size, scaled = files
    labels = getattr(own, "labels_file", None)

    def differences(descriptor):
        mine, warnings = ours(library, own.file, descriptor, thresholds, folder, getattr(library_of_its_own, "MASK_ENDS", "middle"), labels)
        if isinstance(mine, str):
            return None, mine, warnings
        mine = {file: own.adapted(one) if hasattr(own, "adapted") else one for file, one in zip(files, mine)}
        return mine, {file: difference(mine[file], theirs[file], shown[file]) for file in files}, warnings

    descriptor, doubts = inspected(hetero, own.file, folder, labels)
    mine, reasons, warnings = differences(None)
    row["warnings"] = [*dict.fromkeys(warnings + doubts)]
    wrong = mine is None or any(reasons[file] for file in same_size)
    if wrong and descriptor:
        described, said_so, _ = differences(descriptor)
        row["described"] = said_so if described is None else next(filter(None, (said_so[file] for file in same_size)), "")
    if mine is None:
        row["refused"] = reasons
        return
    row["differences"] = [reasons[file] for file in same_size]
    row["scaled"] = reasons[scaled]
    row["itself"] = [reasons[file] and difference_with_itself(own, theirs[file], shown[file], thresholds[file]) for file in same_size]
    # As what they were read instead; or, of what is right, that another reading would not be noticed.
    row["as"] = []
    for name, how in own.variants.items():
        try:
            others = {file: own.find(shown[file], thresholds[file], **how) for file in same_size}
        except Exception:  # without objects, which a mistake may lead to, some graphs do not run
            continue
        if not any(difference(mine[file], others[file], shown[file]) for file in same_size):
            row["as"].append(name)


def main():
    options = arguments(__doc__)
    importlib.import_module(f"{options.exporter}_exports").list_exports()
    EXPORTS[:] = [export for export in EXPORTS if export.task in TASKS]

    def told(row):
        return verdict(row) + (f": {text}" if (text := said(row)) else "")

    return each_export(options.results, options.folder, options.only, options.minutes, functools.partial(compare, str(Path(options.hetero).resolve())), told, options.keep)


if __name__ == "__main__":
    sys.exit(main())

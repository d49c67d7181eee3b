#!/usr/bin/env python3
"""Runs small IR models of every OpenVINO operation here and in OpenVINO, and compares.

usage: compare.py HETERO FOLDER [DEVICE...] [--only PATTERN]

HETERO is the command line tool. FOLDER takes the models, their inputs and outputs; what is
there already is taken from there unless a file of cases changed. A model that OpenVINO itself cannot make or
run is counted apart; a model that we refuse is counted with the reason; a different result
is wrong and the exit status 1, unless KNOWN lists it with its reason.
"""

import argparse
import collections
import fnmatch
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino as ov
from case import CASES

for module in ("arithmetic", "shape", "windows", "detection", "control", "random", "types", "exporters"):
    importlib.import_module(f"cases_{module}")

# Models whose results differ on purpose, and why.
KNOWN = {
    "Divide-1-1": "whole numbers are divided towards minus infinity, as m_pythondiv says; OpenVINO truncates",
    "Divide-1-2": "as Divide-1-1",
    "Convert-1-6": "what an unsigned type cannot hold saturates; OpenVINO wraps",
    "LRN-1-2": "the window spans channels and space, as the operation is defined; OpenVINO sums channels only",
    "MaxPool-1-8": "a window of padding alone is -inf; OpenVINO gives the lowest finite number",
    "MaxPool-8-16": "as MaxPool-1-8",
    "AvgPool-14-17": "the padding's share of the last window counts as in PyTorch; OpenVINO divides by the whole kernel",
    "FakeConvert-13-0": "CPU computes float16 in float32, which moves two ties of f8",
}


def expected_outputs(core, model, case):
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer({i: value for i, value in enumerate(case.inputs)} if case.inputs else {})
    return [np.array(request.get_output_tensor(i).data) for i in range(len(compiled.outputs))]


def prepare(core, case, folder):
    """Writes the model, its inputs and the expected outputs; `skipped` holds the reason where OpenVINO gives none."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "skipped").write_text("it crashes")
    for i, value in enumerate(case.inputs):
        np.save(folder / f"in{i}.npy", value)
    try:
        ov.save_model(case.build(), folder / "model.xml", compress_to_fp16=False)
        expected = expected_outputs(core, core.read_model(folder / "model.xml"), case)
    except Exception as error:  # what OpenVINO throws has no type of its own
        (folder / "skipped").write_text(str(error).strip().splitlines()[-1][:160])
        return
    for i, value in enumerate(expected):
        np.save(folder / f"expected{i}.npy", value)
    (folder / "skipped").unlink()


def prepare_all(cases, folder):
    """Every case that is not there yet, in child processes: OpenVINO itself may crash."""
    sources = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("case*.py")))
    made_from = f"{zlib.crc32(sources.encode()):08x} {os.environ.get('HET_IR_SEED')}"
    if not (folder / "made_from").exists() or (folder / "made_from").read_text() != made_from:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "made_from").write_text(made_from)
    missing = [case for case in cases if not (folder / case.name).exists()]
    while missing:
        child = os.fork()
        if child == 0:
            core = ov.Core()
            for case in missing:
                prepare(core, case, folder / case.name)
            os._exit(0)
        os.waitpid(child, 0)
        missing = [case for case in missing if not (folder / case.name).exists()]


def difference(case, actual, expected):
    """Empty when equal enough; else what differs."""
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, expected {list(expected.shape)}"
    if expected.dtype not in (np.dtype(np.float16),) and actual.dtype != expected.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    if case.tolerance is None or expected.size == 0:
        return ""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    odd = ~np.isfinite(e)
    if not np.array_equal(a[odd], e[odd], equal_nan=True):
        return f"infinities or NaN: {a[odd][:4]}, expected {e[odd][:4]}"
    a, e = a[~odd], e[~odd]
    if not len(e):
        return ""
    limit = case.tolerance * (1 + np.abs(e)) if np.issubdtype(expected.dtype, np.floating) else 0
    worst = int(np.argmax(np.abs(a - e) - limit))
    wrong = int(np.sum(np.abs(a - e) > limit)) + int(np.sum(~np.isfinite(a)))
    if not wrong:
        return ""
    return f"{wrong} of {e.size} values, element {worst}: {a[worst]:.6g}, expected {e[worst]:.6g}"


def run(hetero, device, case, folder):
    """("ok" | "refused" | "wrong", reason)"""
    out = folder / device
    command = [hetero, "run", str(folder / "model.xml"), "-d", device, "--output", str(out)]
    for i in range(len(case.inputs)):
        command += ["--input", f"in{i}={folder}/in{i}.npy"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "wrong", "timed out"
    if done.returncode < 0:
        return "wrong", f"signal {-done.returncode}"
    if done.returncode:
        return "refused", (done.stderr.strip().splitlines() or ["?"])[-1]
    listed = json.loads((out / "outputs.json").read_text())["outputs"]
    expected = [np.load(folder / f"expected{i}.npy") for i in range(len(list(folder.glob("expected*.npy"))))]
    if len(listed) != len(expected):
        return "wrong", f"{len(listed)} outputs, expected {len(expected)}"
    for i, wanted in enumerate(expected):
        found = difference(case, np.load(out / listed[i]["file"]), wanted)
        if found:
            return "wrong", f"output {i}: {found}"
    return "ok", ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("hetero")
    parser.add_argument("folder", type=Path)
    parser.add_argument("devices", nargs="*", default=["REF", "CPU"])
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    cases = [case for case in CASES if fnmatch.fnmatch(case.name, options.only)]
    prepare_all(cases, options.folder)
    skipped = {}
    for case in cases:
        reason = options.folder / case.name / "skipped"
        if reason.exists():
            skipped[case.name] = reason.read_text()
    for name, why in skipped.items():
        print(f"SKIP {name}: OpenVINO: {why}")
    runnable = [case for case in cases if case.name not in skipped]
    wrong = False
    for device in options.devices:
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda case: run(options.hetero, device, case, options.folder / case.name), runnable))
        results = [("known", KNOWN[case.name]) if result[0] == "wrong" and case.name in KNOWN else result
                   for case, result in zip(runnable, results)]
        counts = collections.Counter(kind for kind, _ in results)
        kinds = collections.defaultdict(set)
        for case, (kind, why) in zip(runnable, results):
            kinds[case.name.split("-")[0]].add(kind)
            if kind != "ok":
                print(f"{kind.upper()} {device} {case.name}: {re.sub(str(options.folder) + '/', '', why)}")
        whole = sum(found == {"ok"} for found in kinds.values())
        print(f"{device}: {counts['ok']} models passed, {counts['wrong']} wrong, {counts['known']} differ as listed, {counts['refused']} refused, "
              f"{len(skipped)} skipped; {whole} of {len(kinds)} operations pass whole")
        wrong = wrong or counts["wrong"] > 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

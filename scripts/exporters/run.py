#!/usr/bin/env python3
"""Makes exports, records what their peers compute and compares every device of ours with that.

usage: run.py HETERO FOLDER RESULTS EXPORTER [--only PATTERN] [--minutes N] [--keep]

HETERO is the command line tool. FOLDER takes the files of one export at a time; those of an export that is right are
removed unless --keep. RESULTS is a JSON file with a row per export, added to as exports end; what it holds is not made
again, and so an interrupted run goes on. Ends with 75 when the minutes are over before the list is.
"""

import argparse
import fnmatch
import importlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import record
from catalogue import EXPORTS, Input
from operations import operations
from rows import UNDECIDED, is_right

DEVICES = ("CPU", "REF")
SLOW_DEVICES = ("GPU", "HETERO:GPU,CPU")
SECONDS = 600  # an export, or a verification
DEFAULT_INPUTS = {"": Input()}


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "no message"


def convert(file, folder, compress):
    import openvino

    target = folder / ("model-f16.xml" if compress else "model-f32.xml")
    openvino.save_model(openvino.convert_model(file), target, compress_to_fp16=compress)
    return target


def peers_of(file):
    """The peer that reads this form itself comes first; the other says whether both agree."""
    return (record.OpenVino,) if file.suffix == ".xml" else (record.OnnxRuntime, record.OpenVino)


def record_peer(file, inputs, folder):
    """Writes a golden folder. Returns what is to be said of the peers, the inputs' descriptions and the outputs."""
    said, kept = [], None
    for kind in peers_of(file):
        try:
            peer = kind(file, None if kept is None else {i["name"]: i["shape"] for i in kept[0]})
            values, described = record.fill(peer, inputs)
            outputs = peer.run(values)
        except Exception as error:  # what peers throw has no type of its own
            said.append(f"{kind.__name__} fails: {last_line(str(error))}")
            continue
        if kept is None:
            record.golden(Path(file.name), peer, described, outputs, folder)
            kept = described, outputs
        elif reason := record.difference(outputs, kept[1]):
            said.append(f"peers disagree: {reason}")
    if kept is None:
        raise RuntimeError("; ".join(said))
    return said, *kept


def disagreement_with_itself(file, inputs, outputs):
    """How the first peer's outputs differ where its inputs are off by a part in a million: what rounding decides. Empty: by nothing."""
    peer = peers_of(file)[0](file)
    values, _ = record.fill(peer, inputs)
    for seed in range(4):
        if reason := record.difference(peer.run(record.disturbed(values, seed)), outputs):
            return f"peers disagree: {peer.title} with itself on inputs that are off by a part in a million: {reason}"
    return ""


def verify(hetero, device, folder, golden):
    """"ok", or why not."""
    command = [hetero, "verify", str(golden), "--root", str(folder), "-d", device]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "timed out"
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    if done.returncode == 0 and re.search(r"^1 passed, 0 failed, 0 skipped", last_line(done.stdout)):
        return "ok"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("FAILED", "skipped")) or "error" in line]
    return (lines or [last_line(done.stdout + done.stderr)])[0].replace(str(folder) + "/", "")[:400]


def convert_back(hetero, file, described, outputs, folder):
    """Whether ONNX Runtime loads what `hetero convert` writes and gives the same: "ok", "refused: ..." where the command says that it
    does not, or what is wrong. Second, how ONNX Runtime differs where OpenVINO finds in that file what was recorded."""
    target = folder / "converted.onnx"
    done = subprocess.run([hetero, "convert", str(file), "-o", str(target)], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        return f"convert ends with {done.returncode}: {last_line(done.stderr)}", ""
    reasons = [line.replace(f"{folder}/", "") for line in done.stderr.splitlines() if "only this build loads" in line]
    try:
        peer = record.OnnxRuntime(target)
    except Exception as error:
        return (f"refused: {reasons[0]}" if reasons else f"ONNX Runtime does not load it: {last_line(str(error))}"), ""
    if reasons:
        return f"ONNX Runtime loads it although: {reasons[0]}", ""
    try:
        difference = record.difference(run_with(peer, described), outputs)
    except Exception as error:
        return f"ONNX Runtime does not run it: {last_line(str(error))}", ""
    if difference and file.suffix == ".xml" and is_right_in_openvino(target, described, outputs):
        return "ok", difference
    return difference or "ok", ""


def is_right_in_openvino(file, described, outputs):
    try:
        return not record.difference(run_with(record.OpenVino(file), described), outputs)
    except Exception:  # it takes initialisers without elements for inputs, for one
        return False


def run_with(peer, described):
    return peer.run({name: record.formula(i["shape"], dtype, i["lo"], i["hi"]) for i, (name, _, dtype) in zip(described, peer.inputs)})


def make_and_compare(export, hetero, folder, chosen, queue):
    """Runs in a process of its own: exporters and peers crash, and keep memory."""
    row = {"exporter": export.exporter, "task": export.task, "name": export.name, "options": export.options,
           "known": export.known, "peers": [], "forms": {}, "converted": {}, "operations": []}
    try:
        file = export.make(folder)
    except BaseException as error:
        traceback.print_exc()
        row["not made"] = f"{type(error).__name__}: {last_line(str(error))}"
        queue.put(row)
        return
    made = file
    forms = {"IR" if made.suffix == ".xml" else "ONNX": lambda: made}
    if file.suffix == ".onnx" and export.converts:
        forms["IR f32"] = lambda: convert(made, folder, compress=False)
        forms["IR f16"] = lambda: convert(made, folder, compress=True)
    for form, source in forms.items():
        golden = folder / f"golden {form}"
        try:
            file = source()
            if file.suffix == ".xml":
                row["operations"] = sorted({*row["operations"], *operations(file)})
            said, described, outputs = record_peer(file, export.inputs or DEFAULT_INPUTS, golden)
            row["peers"] += [f"{form}: {text}" for text in said]
        except Exception as error:
            row["peers"].append(f"{form}: no peer gives a result: {last_line(str(error))}")
            continue
        devices = chosen or DEVICES + (SLOW_DEVICES if export.is_small and form in ("ONNX", "IR") else ())
        results = {device: verify(hetero, device, folder, golden) for device in devices}
        # Alone GPU refuses what it has no kernel for; HETERO gives that to CPU.
        row["forms"][form] = {device: result for device, result in results.items() if device != "GPU" or not result.startswith("skipped")}
        row["converted"][form], difference = convert_back(hetero, file, described, outputs, folder)
        if difference:
            row["peers"].append(f"{form}: peers disagree: {difference}")
        agree = not any(text.startswith(f"{form}: peers disagree") for text in row["peers"])
        if agree and set(row["forms"][form].values()) != {"ok"}:
            said = disagreement_with_itself(file, export.inputs or DEFAULT_INPUTS, outputs)
            row["peers"] += [f"{form}: {said}"] if said else []
            agree = not said
        if not agree:
            row["forms"][form] = {device: result if result == "ok" else f"{UNDECIDED}: {result}" for device, result in row["forms"][form].items()}
            if row["converted"][form].startswith("output "):
                row["converted"][form] = f"{UNDECIDED}: {row['converted'][form]}"
    queue.put(row)


def run(export, hetero, folder, chosen):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    queue = multiprocessing.Queue()
    log = open(folder / "log", "w")

    def child():
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        os.chdir(folder)
        make_and_compare(export, hetero, folder, chosen, queue)

    process = multiprocessing.Process(target=child)
    process.start()
    row, end = None, time.monotonic() + 4 * SECONDS
    while row is None and time.monotonic() < end:
        try:
            row = queue.get(timeout=1)
        except Exception:  # Empty
            if not process.is_alive():
                break
    if row is None:
        process.kill()
        row = {"exporter": export.exporter, "task": export.task, "name": export.name, "options": export.options,
               "known": export.known, "peers": [], "forms": {}, "converted": {}, "not made": f"the exporter or a peer ended with {process.exitcode}"}
    process.join()
    return json.loads(json.dumps(row).replace(f"{folder}/", ""))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("hetero")
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("exporter")
    parser.add_argument("--only", default="*")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--devices", nargs="+", help="these instead of all")
    options = parser.parse_args()
    multiprocessing.set_start_method("fork")
    until = time.monotonic() + 60 * options.minutes
    importlib.import_module(f"{options.exporter}_exports").list_exports()
    results = json.loads(options.results.read_text()) if options.results.exists() else {}
    for export in EXPORTS:
        if export.key in results or not fnmatch.fnmatch(export.key, options.only):
            continue
        if time.monotonic() > until:
            return 75
        folder = (options.folder / export.key).resolve()
        start = time.monotonic()
        row = run(export, str(Path(options.hetero).resolve()), folder, options.devices)
        row["seconds"] = round(time.monotonic() - start)
        results[export.key] = row
        aside = options.results.with_suffix(".part")
        aside.write_text(json.dumps(results, indent=1))
        aside.replace(options.results)
        print(f"{'ok' if is_right(row) else 'NOT OK'} {export.key} ({row['seconds']} s)", flush=True)
        if not is_right(row):
            print(json.dumps({k: row[k] for k in ("not made", "peers", "forms", "converted") if row.get(k)}, indent=1), flush=True)
        elif not options.keep:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

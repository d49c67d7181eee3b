#!/usr/bin/env python3
"""Makes exports, records what their peers compute and compares every device of ours with that.

usage: run.py HETERO FOLDER RESULTS EXPORTER [--only PATTERN] [--minutes N] [--keep]

HETERO is the command line tool. FOLDER takes the files of one export at a time; those of an export that is right are
removed unless --keep. RESULTS is a JSON file with a row per export, added to as exports end; what it holds is not made
again, and so an interrupted run goes on. Ends with 75 when the minutes are over before the list is.
"""

import functools
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import record
from catalogue import Input
from each_export import SECONDS, arguments, each_export, last_line
from operations import operations
from rows import UNDECIDED, is_right

DEVICES = ("CPU", "REF")
SLOW_DEVICES = ("GPU", "HETERO:GPU,CPU")
DEFAULT_INPUTS = {"": Input()}


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


def compare(hetero, chosen, export, folder, row):
    """Fills the row of an export."""
    row |= {"known": export.known, "peers": [], "forms": {}, "converted": {}, "operations": []}
    made = file = export.make(folder)
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


def told(row):
    if is_right(row):
        return "right"
    return "not right: " + json.dumps({k: row[k] for k in ("not made", "peers", "forms", "converted") if row.get(k)}, indent=1)


def main():
    options = arguments(__doc__, lambda parser: parser.add_argument("--devices", nargs="+", help="these instead of all"))
    importlib.import_module(f"{options.exporter}_exports").list_exports()
    work = functools.partial(compare, str(Path(options.hetero).resolve()), options.devices)
    return each_export(options.results, options.folder, options.only, options.minutes, work, told, options.keep)


if __name__ == "__main__":
    sys.exit(main())

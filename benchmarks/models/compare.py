#!/usr/bin/env python3
"""Speed of us, OpenVINO and ONNX Runtime on the same models and inputs, measured alternately in one run.

    compare.py BUILD [--list former|tuning|test] [--precisions f32,bf16,int8_ort,int8_nncf] [--models PATTERN] [--quick] [--rounds 5] [--seconds 1.5]
               [--modes latency,throughput] [--crowd N] [--decoder] [--others SHARE] [--unrest RATIO] [--out FOLDER] [--minutes 30] [--anew] [--results FILE] [--data ../shared/data] [--exporters build-exporters]
               [--venv DIR | --python EXE --openvino-python EXE]

Each row is kept in FOLDER/progress.jsonl. No row is begun after so many minutes; the next run of the same build and options goes on with
those that are left. Status 75 while there are some.

BUILD has been configured with -Dtests=true or -Dbenchmarks=true (it needs tools/hetero; with -Dbenchmarks=true the shares of the peak are
told, too). README.md says what is measured.
"""
import argparse
import csv
import datetime
import fnmatch
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import machine  # noqa: E402  (beside this file)
import neighbours  # noqa: E402
import other_programs  # noqa: E402
import peers  # noqa: E402  (beside this folder)
import recorded  # noqa: E402
import results as result_files  # noqa: E402
import rows as row_list  # noqa: E402
import tables  # noqa: E402
from chart import write_chart  # noqa: E402
from measurement import MODES, measure  # noqa: E402
from progress import Progress  # noqa: E402

FIGURES = ("latency_ms", "p90_ms", "p99_ms", "fps", "read_ms", "compile_ms", "measured_ms", "first_ms", "rise_kib")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--list", choices=row_list.LISTS, default="former", help="of models: the former 33, or a half of architectures.py")
    parser.add_argument("--quick", action="store_true", help="2 rounds of 0.6 s, of the former list ten models: under 10 minutes")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--models", default="*", help="pattern of model names")
    parser.add_argument("--precisions", help="f32 and bf16, and of the halves int8_ort and int8_nncf; the former list's quantised models are always there (default: all)")
    parser.add_argument("--crowd", type=int, default=0, help="so many other processes want a core for themselves meanwhile")
    parser.add_argument("--decoder", action="store_true", help="a process that decodes a 1080p H.264 stream at its rate meanwhile (needs gst-launch-1.0, x264enc and avdec_h264)")
    parser.add_argument("--modes", default=",".join(MODES), help="latency, throughput (default: both)")
    parser.add_argument("--others", type=float, default=1, help="share of the cores' time that other programs may take; a row in which they take more is not kept (default: it is told)")
    parser.add_argument("--unrest", type=float, default=float("inf"), help="rows whose rounds of an engine are further apart (slowest over fastest) are "
                        "measured a second time, and the quieter one counts")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, default=30, help="no row is begun later")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs have measured")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/benchmarks/models")
    parser.add_argument("--results", type=pathlib.Path, help="write rows there, too: benchmarks/models/results/MACHINE.json, of which report.py makes docs/performance.md")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    parser.add_argument("--exporters", type=pathlib.Path, default=ROOT / "build-exporters", help="folder of the exporters' environment and of the halves' models, made where they are missing")
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 5)
    arguments.seconds = arguments.seconds or (0.6 if arguments.quick else 1.5)
    arguments.modes = [mode for mode in MODES if mode in arguments.modes.split(",")]
    if not arguments.modes:
        parser.error(f"--modes: {', '.join(MODES)}")
    allowed = ["f32", "bf16"] + ([] if arguments.list == "former" else ["int8_ort", "int8_nncf"])
    arguments.precisions = arguments.precisions.split(",") if arguments.precisions else allowed
    unknown = [p for p in arguments.precisions if p not in allowed]
    if unknown:
        parser.error(f"--precisions {','.join(unknown)}: the {arguments.list} list has {', '.join(allowed)}")
    arguments.build, arguments.data, arguments.exporters = (path.resolve() for path in (arguments.build, arguments.data, arguments.exporters))
    if not (arguments.build / "tools/hetero").exists():
        parser.error(f"{arguments.build} has no tools/hetero: ninja -C {arguments.build} tools/hetero")
    return arguments


def list_cells(arguments, model_list, python):
    if arguments.list == "former":
        model_list.make_architectures(arguments.data, peers.model_folder(arguments), python)
        cells = model_list.former_cells(arguments.data, peers.model_folder(arguments), arguments.precisions)
    else:
        cells = model_list.wider_cells(arguments.list, model_list.Exporters(arguments.exporters), arguments.precisions)
    is_left_out = arguments.quick and arguments.list == "former"
    return [c for c in cells if fnmatch.fnmatch(c.name, arguments.models) and not (is_left_out and c.name not in model_list.QUICK)]


def measure_cell(cell, model_list, arguments, pythons):
    """{"row", "rounds" for the CSV file, "settings" {engine: {mode: settings}}}."""
    try:
        model = cell.provide()
    except model_list.NotMade as reason:
        return {"row": {"list": cell.list, "model": cell.name, "type": cell.type, "engines": [], "not_made": str(reason)}, "rounds": [], "settings": {}}
    files = model_list.write_inputs(model, arguments.out / "inputs" / model.name)
    others = other_programs.Share()
    with neighbours.beside(arguments):
        measured = measure(model, files, cell.precision, arguments, pythons, arguments.out)
    rounds, settings = [], {}
    for mode in MODES:
        for engine, list_ in measured["results"][mode].items():
            rounds += [{"model": cell.name, "precision": cell.type, "mode": mode, "engine": engine, "round": k, **{f: r.get(f) for f in FIGURES}} for k, r in enumerate(list_)]
            if list_:
                settings.setdefault(engine, {})[mode] = list_[0]["settings"]
    return {"row": row_list.make_row(cell.list, cell.name, cell.type, measured, others.now()), "rounds": rounds, "settings": settings}


def row_text(row, peaks):
    if "not_made" in row:
        return f"{row['model']:46} {row['type']:9} not made: {row['not_made']}"
    widths = (46, 9, 24, 18, 9, 26, 18, 9)
    text = " ".join(f"{cell:{width}}" for cell, width in zip(tables.cells(row, peaks), widths)) + "".join(f" {cell:>7}" for cell in tables.load_cells(row))
    numbers = [d if isinstance(d, float) else float("inf") for d in row["differences"].values()]
    text += f" {max(numbers):8.1e}" if numbers else f" {'-':>8}"
    if not numbers or row_list.difference_text(row) or "wrong_shapes" in row:
        text += f"  OUTPUTS: {row['differences']} {row['distances']}" + (f" {row['wrong_shapes']}" if "wrong_shapes" in row else "")
    return text + (f"  {row['failures']}" if "failures" in row else "")


def print_head():
    head = ("model", "type", "latency ms: us/ov/ort", "speed [rounds]", "% of peak", "frames/s: us/ov/ort", "speed [rounds]", "% of peak")
    print(" ".join(f"{cell:{width}}" for cell, width in zip(head, (46, 9, 24, 18, 9, 26, 18, 9))) + "".join(f" {name:>7}" for name in row_list.LOADS) + f" {'differs':>8}")


def print_settings(found, shown):
    for engine, settings in found["settings"].items():
        kind = found["row"]["type"]
        if (engine, kind) not in shown:
            shown.add((engine, kind))
            print(f"# {engine} {kind}: " + "; ".join(f"{mode} {settings[mode]}" for mode in MODES if mode in settings))


def print_summary(rows, peaks, arguments):
    if row_list.worst(rows):
        print("", *tables.columns(tables.SUMMARY_HEAD, [tables.summary_cells(s) for s in row_list.summarise(rows, peaks)]), sep="\n")
        print("", *tables.columns(tables.WORST_HEAD, [tables.worst_cells(cell, peaks) for cell in row_list.worst(rows)]), "", sep="\n")
    tails = row_list.tail_means(rows)
    if tails:
        print("latency's percentiles, speed over the better peer, geometric mean: " + ", ".join(f"{name} {mean:.3f} ({count} models)" for name, (count, mean) in tails.items()))
    print(*row_list.failure_lines(rows), sep="\n")
    if arguments.list == "former":
        ratios = []
        for row in rows:
            for mode, sign in (("latency", -1), ("throughput", 1)):
                middle = row_list.medians(row, mode)
                if "openvino" in middle and "onnxruntime" in middle:
                    ratios.append((row["model"], mode, row["type"], (middle["openvino"] / middle["onnxruntime"]) ** sign))
        far, compared = recorded.far_ratios(recorded.read_table(arguments.data.parent / "measured.md"), ratios)
        print(f"The peers' speed over each other is more than 10 % off the recorded one in {len(far)} of {compared} figures" + (f": {recorded.reason(arguments.cores)}" if far else ""), *far, sep="\n")


def write_results(arguments, progress, peaks, found):
    """Adds the rows to the file of --results."""
    versions = {engine: modes[mode]["version"].split("-")[0] for entry in found for engine, modes in entry["settings"].items() if engine != "hetero" for mode in modes}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip() or "?"
    run = {"date": datetime.date.today().isoformat(), "commit": commit, "library": progress.key["library"][:12], "rounds": arguments.rounds, "seconds": arguments.seconds,
           "crowd": arguments.crowd, "decoder": arguments.decoder, "system": machine.release(), "peers": versions}
    results = result_files.read(arguments.results)
    told = result_files.merge(results, machine.describe(arguments.cores), peaks, arguments.list, run, [entry["row"] for entry in found])
    result_files.write(arguments.results, results)
    print(f"{arguments.results}: {len(results['lists'][arguments.list]['rows'])} rows of the {arguments.list} list" + (f"; {told}" if told else ""))


def write_rounds(rows, rounds, folder):
    with open(folder / "rounds.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rounds[0]))
        writer.writeheader()
        writer.writerows(rounds)
    try:
        write_chart([row for row in rows if "not_made" not in row], folder / "speed.png")
        print(f"{folder}/rounds.csv, {folder}/speed.png")
    except ImportError:
        print(f"{folder}/rounds.csv; no chart: this interpreter has no matplotlib (python3-matplotlib)")


def main():
    arguments = parse_arguments()
    pythons = peers.interpreters(arguments)
    peers.enter(pythons["onnxruntime"])
    import models as model_list  # needs numpy

    progress = Progress(arguments)
    peaks, reason = machine.measure_peaks(arguments.build, arguments.out)
    if peaks and peaks["cores"] != arguments.cores:
        peaks, reason = None, f"no shares of the peak: it is that of {peaks['cores']} cores"
    print(f"# {reason}" if reason else "# 1e9 multiply-adds a second at best, on one core and on all: "
          + ", ".join(f"{kind} {peaks[kind]['one']:.0f} {peaks[kind]['all']:.0f} ({peaks[kind]['instruction']})" for kind in ("f32", "bf16", "int8") if kind in peaks))
    found, shown, left = [], set(), []
    print_head()
    for cell in list_cells(arguments, model_list, pythons["onnxruntime"]):
        entry = progress.find(cell)
        if entry is None:
            if progress.is_over():
                left.append(f"{cell.name} {cell.type}")
                continue
            entry = measure_cell(cell, model_list, arguments, pythons)
            progress.check_library()
            if entry["row"].get("others", 0) > arguments.others:
                print(f"# {cell.name} {cell.type}: other programs took {entry['row']['others']:.0%} of the cores, not counted", flush=True)
                left.append(f"{cell.name} {cell.type}")
                continue
            if "not_made" not in entry["row"]:  # models.py remembers those
                progress.keep(cell, entry)
                entry = progress.quietest(cell)
        print_settings(entry, shown)
        print(row_text(entry["row"], peaks), flush=True)
        found.append(entry)
    rows, rounds = [entry["row"] for entry in found], [one for entry in found for one in entry["rounds"]]
    print_summary(rows, peaks, arguments)
    if rounds:
        write_rounds(rows, rounds, arguments.out)
    if arguments.results and found:
        write_results(arguments, progress, peaks, found)
    if left:
        print(f"Not yet measured: {len(left)}, the next is {left[0]}. Run the same command again to go on; what is above is of what there is.")
    return 75 if left else 0


if __name__ == "__main__":
    sys.exit(main())

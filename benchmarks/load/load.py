#!/usr/bin/env python3
"""Load times and memory of us and of OpenVINO and ONNX Runtime on the same model files.

    load.py BUILD [--data ../shared/data] [--rounds 5] [--csv FILE] [--models PATTERN] [--venv DIR | --python EXE --openvino-python EXE]

BUILD has been configured with -Dbenchmarks=true. Per round and model every engine loads the file
once in a fresh process, in an order that rotates. Models are those of the golden folders, with
their shapes, and the architectures of DATA/architectures, whose weights fill_weights.py makes in
the environment's folder. README.md says what is measured.
"""
import argparse
import csv
import datetime
import fnmatch
import itertools
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import peers

ENGINES = ("hetero", "openvino", "onnxruntime")
# name: (title, the mark, the field, the mark that is subtracted)
MEASURES = {
    "load_ms": ("load ms", "load", "ms", None),
    "load_cpu_ms": ("load CPU ms", "load", "processor_ms", None),
    "read_ms": ("read ms", "read", "ms", None),
    "first_ms": ("first result ms", "first", "ms", None),
    "first_cpu_ms": ("first result CPU ms", "first", "processor_ms", None),
    "rise_kib": ("rise KiB", "loaded", "VmRSS", "before"),
    "peak_kib": ("peak KiB", "loaded", "VmHWM", "before"),
    "anonymous_kib": ("anonymous KiB", "loaded", "RssAnon", "before"),
    "used_kib": ("rise with a result KiB", "inferred", "VmRSS", "before"),
}
RATED = ("load_ms", "load_cpu_ms", "first_cpu_ms", "rise_kib", "peak_kib", "used_kib")


def find_models(data, python, folder):
    """(name, file, shapes) of the golden folders and of the architectures."""
    models = []
    for path in sorted((data / "expected/golden").glob("*/*/golden.json")):
        golden = json.loads(path.read_text())
        shapes = {entry["name"]: entry["shape"] for entry in golden["inputs"]}
        models.append((path.parent.name, data / golden["model"], shapes))
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted((data / "architectures").glob("*.onnx"))
    missing = [source.stem for source in sources if not (folder / source.name).exists()]
    if missing:
        subprocess.run([python, data.parent / "tools/fill_weights.py", folder, *missing], check=True, stdout=subprocess.DEVNULL)
    sides = {"inception_v3": 299}
    return models + [(source.stem, folder / source.name, {"input": [1, 3] + 2 * [sides.get(source.stem, 224)]}) for source in sources]


def command(engine, build, pythons, path, shapes):
    if engine == "hetero":
        return [build / "benchmarks/load/load", path, json.dumps(shapes), "INFERENCE_PRECISION_HINT=f32", "CACHE_DIR="]
    return [pythons[engine], HERE / "peer.py", engine, path, json.dumps(shapes)]


def run(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1][:120] if lines else f"status {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1]), None


def machine():
    names = [line.partition(":")[2].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"


def versions(pythons):
    """Of the peers' packages, by their own interpreters."""
    code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    found = {e: subprocess.run([python, "-c", code, e], capture_output=True, text=True).stdout.strip() for e, python in pythons.items()}
    return ", ".join(f"{engine} {version or 'of unknown version'}" for engine, version in found.items())


def keep_at_hand(path):
    """The first engine must not be the one that waits for the disk."""
    for part in {path, path.with_suffix(".bin")}:
        if part.exists():
            part.read_bytes()


def value(result, measure):
    _, mark, field, start = MEASURES[measure]
    if mark not in result:
        return None
    # Less than a page cannot be told from none; a ratio needs something.
    return max(result[mark][field] - (result[start][field] if start else 0), 4 if start else 1e-3)


def measure(rounds, commands):
    """engine -> the rounds' results; engines that fail are left out, with the reason."""
    results, refusals = {engine: [] for engine in commands}, {}
    for number in range(rounds):
        order = list(commands)
        for engine in order[number % len(order):] + order[:number % len(order)]:
            if engine in refusals:
                continue
            result, reason = run(commands[engine])
            if result is None:
                refusals[engine] = reason
            else:
                results[engine].append(result)
    return {engine: list_ for engine, list_ in results.items() if engine not in refusals}, refusals


def ratios(results, name):
    """The engines' medians, and ours over the better peer's: of the medians, then of every round."""
    medians = {engine: statistics.median(value(r, name) for r in list_) for engine, list_ in results.items()}
    better = min((engine for engine in medians if engine != "hetero"), key=medians.get)
    by_round = [value(a, name) / value(b, name) for a, b in zip(results["hetero"], results[better])]
    return medians, [medians["hetero"] / medians[better], *by_round]


def spread(list_):
    return peers.spread((list_[0], min(list_[1:]), max(list_[1:])))


def summary(name, models):
    """The geometric mean over models, with its own spread over the rounds."""
    means = [math.exp(statistics.mean(map(math.log, column))) for column in zip(*models)]
    at_most = sum(1 for list_ in models if list_[0] < 1.005)
    return f"{MEASURES[name][0]:24} ours over the better peer: geometric mean {spread(means)}, at or below it on {at_most} of {len(models)} models"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parents[1] / "../shared/data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", default="*", help="pattern of model names")
    parser.add_argument("--csv", type=pathlib.Path)
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    pythons = peers.interpreters(arguments)
    data = arguments.data.resolve()
    models = [m for m in find_models(data, pythons["onnxruntime"], peers.model_folder(arguments)) if fnmatch.fnmatch(m[0], arguments.models)]
    rows, rated_models, shown, start = [], {name: [] for name in RATED}, False, time.monotonic()
    print(f"# {datetime.date.today()}, {machine()}, {versions(pythons)}, {arguments.rounds} rounds")
    print(f"{'model':46} {'load ms: us/ov/ort':24} {'ratio [rounds]':17} {'rise MiB: us/ov/ort':20} {'ratio [rounds]':17} {'CPU':>5} {'first':>5} {'peak':>5} {'used':>5}")
    for name, path, shapes in models:
        keep_at_hand(path)
        results, refusals = measure(arguments.rounds, {e: command(e, arguments.build, pythons, path, shapes) for e in ENGINES})
        if not shown and len(results) == len(ENGINES):
            for engine, list_ in results.items():
                print(f"# {engine}: {list_[0]['settings']}")
            shown = True
        if "hetero" not in results or len(results) < 2:
            print(f"{name:46} left out: {refusals}")
            continue
        rated = {measure_name: ratios(results, measure_name) for measure_name in RATED}
        for measure_name, (_, list_) in rated.items():
            rated_models[measure_name].append(list_)
        times = peers.triple(rated["load_ms"][0], ENGINES, ".1f")
        memory = peers.triple({e: kib / 1024 for e, kib in rated["rise_kib"][0].items()}, ENGINES, ".1f")
        rest = " ".join(f"{rated[m][1][0]:5.2f}" for m in ("load_cpu_ms", "first_cpu_ms", "peak_kib", "used_kib"))
        print(f"{name:46} {times:24} {spread(rated['load_ms'][1]):17} {memory:20} {spread(rated['rise_kib'][1]):17} {rest}", flush=True)
        for engine, (number, result) in itertools.chain.from_iterable(((e, r) for r in enumerate(l)) for e, l in results.items()):
            rows.append({"model": name, "engine": engine, "round": number, **{m: value(result, m) for m in MEASURES}})
    for measure_name, list_ in rated_models.items():
        if list_:
            print(summary(measure_name, list_))
    print(f"# {time.monotonic() - start:.0f} s")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, ["model", "engine", "round", *MEASURES])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

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
import fnmatch
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
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


def environment(arguments):
    """The peers' interpreters: given ones, or a virtual environment with the pinned packages."""
    if arguments.python and arguments.openvino_python:
        return {"openvino": arguments.openvino_python, "onnxruntime": arguments.python}
    folder = pathlib.Path(arguments.venv)
    python = folder / "bin" / "python"
    subprocess.run(["bash", "-c", '. "$1" && python_environment "$2" -r "$3"', "load.py", HERE.parents[1] / "scripts/environment.sh", folder, HERE / "requirements.txt"], check=True)
    return {"openvino": str(python), "onnxruntime": str(python)}


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
        return [build / "benchmarks/load/load", path, json.dumps(shapes), "INFERENCE_PRECISION_HINT=f32"]
    return [pythons[engine], HERE / "peer.py", engine, path, json.dumps(shapes)]


def run(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1][:120] if lines else f"status {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1]), None


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
    """Ours over the better peer's: of the medians, and the least and largest of the rounds."""
    medians = {engine: statistics.median(value(r, name) for r in list_) for engine, list_ in results.items()}
    peers = [engine for engine in medians if engine != "hetero"]
    if "hetero" not in medians or not peers:
        return medians, None
    better = min(peers, key=medians.get)
    by_round = [value(a, name) / value(b, name) for a, b in zip(results["hetero"], results[better])]
    return medians, (medians["hetero"] / medians[better], min(by_round), max(by_round))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parents[1] / "../shared/data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", default="*", help="pattern of model names")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--venv", default=str(HERE.parents[1] / "build-peers"))
    parser.add_argument("--python", help="interpreter that has onnxruntime, onnx and numpy")
    parser.add_argument("--openvino-python", help="interpreter that has openvino and numpy")
    arguments = parser.parse_args()
    pythons = environment(arguments)
    data = arguments.data.resolve()
    models = [m for m in find_models(data, pythons["onnxruntime"], pathlib.Path(arguments.venv) / "models") if fnmatch.fnmatch(m[0], arguments.models)]
    rows, logs, shown = [], {name: [] for name in RATED}, False
    print(f"{'model':46} {'load ms: us/ov/ort':26} {'ratio [rounds]':20} {'CPU':>5} {'first':>6} {'rise MiB: us/ov/ort':22} {'ratio':>5} {'peak':>5} {'used':>5}")
    for name, path, shapes in models:
        results, refusals = measure(arguments.rounds, {e: command(e, arguments.build, pythons, path, shapes) for e in ENGINES})
        if not shown and len(results) == len(ENGINES):
            for engine, list_ in results.items():
                print(f"# {engine}: {list_[0]['settings']}")
            shown = True
        if "hetero" not in results or len(results) < 2:
            print(f"{name:46} left out: {refusals}")
            continue
        rated = {measure_name: ratios(results, measure_name) for measure_name in RATED}
        for measure_name, (_, ratio) in rated.items():
            logs[measure_name].append(math.log(ratio[0]))
        loads, load_ratio = rated["load_ms"]
        rises, _ = rated["rise_kib"]
        times = "/".join(f"{loads[e]:.1f}" if e in loads else "-" for e in ENGINES)
        memory = "/".join(f"{rises[e] / 1024:.1f}" if e in rises else "-" for e in ENGINES)
        spread = f"{load_ratio[0]:.2f} [{load_ratio[1]:.2f} {load_ratio[2]:.2f}]"
        rest = " ".join(f"{rated[m][1][0]:5.2f}" for m in ("rise_kib", "peak_kib", "used_kib"))
        print(f"{name:46} {times:26} {spread:20} {rated['load_cpu_ms'][1][0]:5.2f} {rated['first_cpu_ms'][1][0]:6.2f} {memory:22} {rest}", flush=True)
        for engine, (number, result) in itertools.chain.from_iterable(((e, r) for r in enumerate(l)) for e, l in results.items()):
            rows.append({"model": name, "engine": engine, "round": number, **{m: value(result, m) for m in MEASURES}})
    for measure_name, list_ in logs.items():
        if list_:
            at_most = sum(1 for x in list_ if x <= math.log(1.005))
            print(f"{MEASURES[measure_name][0]:24} ours over the better peer: geometric mean {math.exp(statistics.mean(list_)):.3f}, at or below it on {at_most} of {len(list_)} models")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, ["model", "engine", "round", *MEASURES])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

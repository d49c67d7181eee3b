#!/usr/bin/env python3
"""Speed of us, OpenVINO and ONNX Runtime on the same models and inputs, measured alternately in one run.

    compare.py BUILD [--quick] [--rounds 5] [--seconds 1.5] [--models PATTERN] [--crowd N] [--out FOLDER] [--minutes 30] [--anew]
               [--data ../shared/data] [--venv DIR | --python EXE --openvino-python EXE]

Each model's figures are kept in FOLDER/progress.jsonl. No model is begun after so many minutes; the next run of the same build and options
goes on with those that are left. Status 75 while there are some.

BUILD has been configured with -Dtests=true or -Dbenchmarks=true (it needs tools/hetero). README.md says what is measured.
"""
import argparse
import contextlib
import csv
import fnmatch
import hashlib
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import peers  # noqa: E402  (beside this folder)

ENGINES = ("hetero", "openvino", "onnxruntime")
MODES = ("latency", "throughput")
SETTINGS = ("INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "OPTIMAL_NUMBER_OF_INFER_REQUESTS")
# More than a rounding: the outputs' largest difference over their range, by precision.
TOLERANCES = {"f32": 1e-3, "bf16": 5e-2, "int8": 1e-1}


def our_command(build, model, files, mode, precision, arguments, outputs, cache="", seconds=None):
    """A hetero run for the outputs, or a hetero bench."""
    hetero = build / "tools/hetero"
    shapes = ",".join(f"{p.name}[{','.join(map(str, p.shape))}]" for p in model.inputs)
    if outputs:
        return [hetero, "run", model.file, "-d", "CPU", "--shape", shapes, "--output", outputs, "--properties", f"INFERENCE_PRECISION_HINT={precision},CACHE_DIR=",
                *itertools.chain.from_iterable(("--input", f"{name}={file}") for name, file in files.items())]
    streams = ["-nstreams", 1, "-api", "sync"] if mode == "latency" else ["-nstreams", arguments.cores]
    return [hetero, "bench", "-m", model.file, "-d", "CPU", "-hint", "none", *streams, "-nthreads", arguments.cores, "-t", seconds or arguments.seconds, "-json", "-cache_dir", cache,
            "-infer_precision", precision, "-shape", shapes, "-i", *(f"{name}:{file}" for name, file in files.items())]


def execute(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        raise RuntimeError(lines[-1][:160] if lines else f"status {done.returncode}")
    return done.stdout


def run_ours(build, model, files, mode, precision, arguments, outputs):
    if outputs:
        execute(our_command(build, model, files, mode, precision, arguments, outputs))
    with tempfile.TemporaryDirectory() as cache:
        printed = json.loads(execute(our_command(build, model, files, mode, precision, arguments, None, cache)))
        # Again with the choices that are stored now.
        stored = json.loads(execute(our_command(build, model, files, mode, precision, arguments, None, cache, 0.01)))
    return {"read_ms": stored["read_ms"], "compile_ms": stored["compile_ms"], "first_ms": stored["read_ms"] + stored["compile_ms"] + stored["first_inference_ms"],
            "measured_ms": printed["compile_ms"], "rise_kib": stored["rise_bytes"] / 1024, "latency_ms": printed["latency_ms"]["median"], "fps": printed["throughput_fps"],
            "settings": {name: printed["properties"][name] for name in SETTINGS}}


def run_peer(engine, python, model, files, mode, precision, arguments, outputs):
    request = {"engine": engine, "model": str(model.file), "inputs": {name: str(file) for name, file in files.items()}, "mode": mode, "precision": precision,
               "cores": arguments.cores, "seconds": arguments.seconds, "outputs": str(outputs) if outputs else None}
    return json.loads(execute([python, HERE / "peer.py", json.dumps(request)]).splitlines()[-1])


def largest_difference(ours, theirs):
    """Over all outputs: the largest difference over the range of the peer's values; None when shapes differ."""
    import numpy

    worst = 0.0
    for file in sorted(theirs.glob("output_*.npy")):
        a, b = numpy.load(ours / file.name).astype("f8"), numpy.load(file).astype("f8")
        if a.size != b.size:
            return None
        if b.size:
            span = max(float(b.max() - b.min()), 1e-6)
            worst = max(worst, float(numpy.abs(a.ravel() - b.ravel()).max()) / span)
    return worst


def measure(model, files, precision, arguments, pythons, work):
    """{mode: {engine: [result of a round]}}, refusals {engine: reason}, {engine: difference of outputs}."""
    results, refusals = {mode: {e: [] for e in ENGINES} for mode in MODES}, {}
    kind = "int8" if model.quantised else precision
    engines = [e for e in ENGINES if not (e == "onnxruntime" and (precision == "bf16" or model.file.suffix == ".xml"))]
    for number, mode in itertools.product(range(arguments.rounds), MODES):
        for engine in engines[number % len(engines):] + engines[:number % len(engines)]:
            if engine in refusals:
                continue
            outputs = work / model.name / precision / engine if number == 0 and mode == MODES[0] else None
            try:
                if engine == "hetero":
                    result = run_ours(arguments.build, model, files, mode, precision, arguments, outputs)
                else:
                    result = run_peer(engine, pythons[engine], model, files, mode, precision, arguments, outputs)
                results[mode][engine].append(result)
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                refusals[engine] = str(failure)
    folder = work / model.name / precision
    differences = {e: largest_difference(folder / "hetero", folder / e) for e in engines if e != "hetero" and e not in refusals and "hetero" not in refusals}
    return kind, results, refusals, differences


def better_ratio(by_engine, field, larger_is_better):
    """Our speed over the better peer's (above 1: we are faster): of the medians, the least and largest of the rounds, and the peer."""
    medians = {e: statistics.median(r[field] for r in list_) for e, list_ in by_engine.items() if list_}
    peer_names = [e for e in medians if e != "hetero"]
    if "hetero" not in medians or not peer_names:
        return medians, None
    better = (max if larger_is_better else min)(peer_names, key=medians.get)
    sign = 1 if larger_is_better else -1
    rounds = [(a[field] / b[field]) ** sign for a, b in zip(by_engine["hetero"], by_engine[better])]
    return medians, ((medians["hetero"] / medians[better]) ** sign, min(rounds), max(rounds), better)


class Progress:
    """What earlier runs of the same build with the same options have measured, by model and precision."""

    OPTIONS = ("rounds", "seconds", "crowd", "cores", "quick")

    def __init__(self, arguments):
        self.until = time.monotonic() + 60 * arguments.minutes
        self.file = arguments.out / "progress.jsonl"
        library = next(arguments.build.glob("libhetinference-1.0.so.0"), arguments.build / "tools/hetero")
        self.key = {"library": hashlib.sha256(library.read_bytes()).hexdigest(), **{name: getattr(arguments, name) for name in self.OPTIONS}}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if arguments.anew:
            self.file.unlink(missing_ok=True)
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        # A line that a stopped run has not finished ends without its bracket.
        entries = [json.loads(line) for line in lines if line.endswith("}")]
        self.known = {(e["model"], e["precision"]): e["measured"] for e in entries if e["key"] == self.key}

    def is_over(self):
        return time.monotonic() > self.until

    def find(self, model, precision):
        return self.known.get((model.name, precision))

    def keep(self, model, precision, measured):
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": self.key, "model": model.name, "precision": precision, "measured": measured}) + "\n")


@contextlib.contextmanager
def crowd(count):
    """Processes that do nothing but want a core each."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def write_chart(rows, file):
    """A bar a model and mode; needs matplotlib."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    labels = [f"{r['model']} {r['precision']}" for r in rows]
    figure, axes = pyplot.subplots(figsize=(10, 0.32 * len(rows) + 1.5))
    for offset, mode, colour in ((-0.2, "latency", "#4878a8"), (0.2, "throughput", "#d98b3a")):
        axes.barh([k + offset for k in range(len(rows))], [r[mode + "_ratio"] or 0 for r in rows], 0.38, label=mode, color=colour)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("speed over the better of OpenVINO and ONNX Runtime")
    figure.legend(loc="upper right", ncols=2, fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="ten models, 2 rounds of 0.6 s: under 10 minutes")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--models", default="*", help="pattern of model names")
    parser.add_argument("--precisions", default="f32,bf16", help="of models that are not quantised")
    parser.add_argument("--crowd", type=int, default=0, help="so many other processes want a core for themselves meanwhile")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, default=30, help="no model is begun later")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs have measured")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "out/benchmarks/models")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parents[1] / "../shared/data")
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 5)
    arguments.seconds = arguments.seconds or (0.6 if arguments.quick else 1.5)
    progress = Progress(arguments)
    pythons = peers.interpreters(arguments)
    peers.enter(pythons["onnxruntime"])
    import models as model_list  # needs numpy
    import recorded

    data, work = arguments.data.resolve(), arguments.out
    model_list.make_architectures(data, peers.model_folder(arguments), pythons["onnxruntime"])
    chosen = [m for m in model_list.find_models(data, peers.model_folder(arguments)) if fnmatch.fnmatch(m.name, arguments.models) and (not arguments.quick or m.name in model_list.QUICK)]
    rows, logs, rounds, shown, peers_ratios, left = [], {}, [], set(), [], []
    print(f"{'model':46} {'type':5} {'latency ms: us/ov/ort':24} {'speed [rounds]':18} {'frames/s: us/ov/ort':26} {'speed [rounds]':18} {'compile':>8} {'empty':>6} {'first':>6} {'rise':>6} {'differs':>8}")
    for model in chosen:
        files = model_list.write_inputs(model, work / model.name)
        for precision in ["f32"] if model.quantised else arguments.precisions.split(","):
            measured_model = progress.find(model, precision)
            if measured_model is None:
                if progress.is_over():
                    left.append(f"{model.name} {precision}")
                    continue
                with crowd(arguments.crowd):
                    measured_model = measure(model, files, precision, arguments, pythons, work)
                progress.keep(model, precision, measured_model)
            kind, results, refusals, differences = measured_model
            for engine in ENGINES:
                if results["throughput"][engine] and (engine, precision) not in shown:
                    shown.add((engine, precision))
                    print(f"# {engine} {precision}: latency {results['latency'][engine][0]['settings']}; throughput {results['throughput'][engine][0]['settings']}")
            latency, latency_ratio = better_ratio(results["latency"], "latency_ms", False)
            fps, fps_ratio = better_ratio(results["throughput"], "fps", True)
            loads = {field: better_ratio(results["latency"], field, False)[1] for field in ("compile_ms", "first_ms", "rise_kib")}
            text = f"{model.name:46} {kind:5} {peers.triple(latency, ENGINES, '.2f'):24} {peers.spread(latency_ratio):18} {peers.triple(fps, ENGINES, '.1f'):26} {peers.spread(fps_ratio):18}"
            # Here less is better, so ours over theirs.
            columns = [f"{1 / loads[f][0]:6.2f}" if loads[f] else f"{'-':>6}" for f in loads]
            measured = [r["measured_ms"] for r in results["latency"]["hetero"]]
            theirs = loads["compile_ms"] and statistics.median(r["compile_ms"] for r in results["latency"][loads["compile_ms"][3]])
            columns.insert(1, f"{statistics.median(measured) / theirs:6.2f}" if measured and theirs else f"{'-':>6}")
            text += "".join(" " + column for column in columns)
            worst = max((d for d in differences.values() if d is not None), default=None)
            text += f" {worst:8.1e}" if worst is not None else f" {'-':>8}"
            if worst is None or worst > TOLERANCES[kind]:
                text += f"  OUTPUTS: {differences}"
            print(text + (f"  {refusals}" if refusals else ""), flush=True)
            rows.append({"model": model.name, "precision": kind, "latency_ratio": latency_ratio and latency_ratio[0], "throughput_ratio": fps_ratio and fps_ratio[0]})
            for mode, ratio in (("latency", latency_ratio), ("throughput", fps_ratio)):
                if ratio:
                    logs.setdefault((kind, mode), []).append(math.log(ratio[0]))
            for mode, medians in (("latency", {e: 1 / ms for e, ms in latency.items()}), ("throughput", fps)):
                if "openvino" in medians and "onnxruntime" in medians:
                    peers_ratios.append((model.name, mode, precision, medians["openvino"] / medians["onnxruntime"]))
            for mode in MODES:
                for engine, list_ in results[mode].items():
                    rounds += [{"model": model.name, "precision": kind, "mode": mode, "engine": engine, "round": k, **{f: r.get(f) for f in ("latency_ms", "fps", "read_ms", "compile_ms", "measured_ms", "first_ms", "rise_kib")}}
                               for k, r in enumerate(list_)]
    if left:
        print(f"Not yet measured: {len(left)}, the next is {left[0]}. Run the same command again to go on; the means below are of what there is.")
    for (kind, mode), list_ in logs.items():
        ahead = sum(1 for x in list_ if x >= 0)
        print(f"{kind:5} {mode:10} speed over the better peer: geometric mean {math.exp(statistics.mean(list_)):.3f}, at least 1.00 on {ahead} of {len(list_)} models, least {math.exp(min(list_)):.2f}")
    far, compared = recorded.far_ratios(recorded.read_table(data.parent / "measured.md"), peers_ratios)
    print(f"The peers' speed over each other is more than 10 % off the recorded one in {len(far)} of {compared} figures" + (f": {recorded.reason(arguments.cores)}" if far else ""), *far, sep="\n")
    work.mkdir(parents=True, exist_ok=True)
    if rounds:
        with open(work / "rounds.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rounds[0]))
            writer.writeheader()
            writer.writerows(rounds)
        try:
            write_chart(rows, work / "speed.png")
            print(f"{work}/rounds.csv, {work}/speed.png")
        except ImportError:
            print(f"{work}/rounds.csv; no chart: this interpreter has no matplotlib (python3-matplotlib)")
    return 75 if left else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Where time is lost, layer kind by layer kind, beside the peers' own counters and the roofline: layers.py BUILD [--models GLOB]...

On the tuning half of architectures.py, each model on one core with one stream and one thread. Resumable: a model and type that stands in
OUT/layers.jsonl for the same library and processor is not measured again. BUILD has tools/hetero and benchmarks/cpu_peak. Run by an interpreter with onnx, onnxruntime and openvino.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import architectures  # noqa: E402  (beside this file)
import layer_report  # noqa: E402
import layer_times  # noqa: E402
from machine import describe  # noqa: E402
from progress import digest, library_of, read_lines  # noqa: E402

TYPES = ("f32", "bf16")
WORDS = 1000  # every vocabulary of the list has as many
TIMEOUT_S = 300  # nothing of the list takes a minute


def run(command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, **keywords)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:6]))} ... ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def write_inputs(file, folder):
    """Noise for pictures, words and a mask of ones for texts: {name: file.npy}."""
    import onnx

    generator, files = numpy.random.default_rng(0), {}
    for k, value in enumerate(onnx.load(str(file), load_external_data=False).graph.input):
        tensor = value.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else 1 for d in tensor.shape.dim]
        if tensor.elem_type == onnx.TensorProto.FLOAT:
            array = generator.uniform(-2.0, 2.0, shape).astype(numpy.float32)
        else:
            array = (numpy.ones(shape) if "mask" in value.name else generator.integers(0, WORDS, shape)).astype(numpy.int64)
        files[value.name] = folder / f"input_{k}.npy"
        numpy.save(files[value.name], array)
    return files


def ours(build, file, inputs, precision, core, folder):
    """Rows as layer_times.py prints them."""
    names = [f"{name}:{path}" for name, path in inputs.items()]
    trace = folder / "trace.json"
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{build}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    # The seconds that CACHE_DIR measures choices in come first, as in compare.py; the second run finds them.
    seconds = 0.1
    for _ in range(2):
        output = run(["taskset", "-c", str(core), str(build / "tools/hetero"), "bench", "-m", str(file), "-d", "CPU", "-hint", "none", "-nstreams", "1", "-nthreads", "1", "-api",
                      "sync", "-t", str(seconds), "-infer_precision", precision, "--cache_dir", str(folder / f"cache_{precision}"), "--pcsort", "no_sort", "--trace", str(trace),
                      "--json", "-i", *names], env=environment)
        result = json.loads(output)
        seconds = max(layer_times.SECONDS, 1.3e-3 * layer_times.RUNS * result["latency_ms"]["median"])
    times = {}
    events = json.loads(trace.read_text())
    for event in events["traceEvents"] if isinstance(events, dict) else events:
        if event["ph"] == "X":
            times.setdefault(event["name"], []).append(event["dur"])
    fused, rows = {}, []
    for counter in result["counters"]:
        if counter["exec_type"].startswith("fused:"):
            fused.setdefault(counter["exec_type"][len("fused:"):], []).append(counter["node"])
    for counter in result["counters"]:
        if counter["node"] in times:
            name = counter["node"]
            kernel = f"{counter['exec_type']} {counter['type']} {counter['layout']}"
            rows.append([name, counter["layer_type"], kernel, layer_times.in_groups(times[name]), [name] + fused.get(name, []), []])
    return rows


def peer(engine, file, inputs, precision, core):
    request = {"engine": engine, "model": str(file), "inputs": {k: str(v) for k, v in inputs.items()}, "precision": precision}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return json.loads(run(["taskset", "-c", str(core), sys.executable, str(HERE / "layer_times.py"), json.dumps(request)], env=environment).splitlines()[-1])


def machine(build, core):
    """The rates of one core that a layer's least time is from: multiply-adds of cpu_peak, and copies of 1 MiB, which stay in the caches."""
    peaks = [json.loads(run(["taskset", "-c", str(core), str(build / "benchmarks/cpu_peak/bench_cpu_peak"), "0.5"])) for _ in range(5)]
    source, target, least = numpy.ones(1 << 17), numpy.empty(1 << 17), 1.0
    for _ in range(3000):
        start = time.perf_counter()
        numpy.copyto(target, source)
        least = min(least, time.perf_counter() - start)
    return {**{t: 1e9 * max(p[t]["one"] for p in peaks) for t in TYPES}, "bytes": 2 * source.nbytes / least}


def measure(options, name, precision, file):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        inputs = write_inputs(file, folder)
        record = {"model": name, "type": precision, "engines": {}, "errors": {}}
        engines = {"ours": lambda: ours(options.build, file, inputs, precision, options.core, folder),
                   "openvino": lambda: peer("openvino", file, inputs, precision, options.core)}
        if precision == "f32":
            engines["onnxruntime"] = lambda: peer("onnxruntime", file, inputs, precision, options.core)
        for engine, take in engines.items():
            try:
                record["engines"][engine] = take()
            except Exception as error:  # an engine that fails is told, and the others count
                record["errors"][engine] = str(error)
        return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--models", action="append", help="names or patterns of the tuning half")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=TYPES)
    parser.add_argument("--files", type=pathlib.Path, default=ROOT / "build-exporters/models", help="folder of NAME.onnx (make_architectures.py)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/benchmarks/layers")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=35.0, help="the same command goes on afterwards")
    parser.add_argument("--report", action="store_true", help="only the tables of what is measured")
    parser.add_argument("--again", action="store_true", help="also what is measured already: the quieter measurement of each engine counts")
    parser.add_argument("--except", action="append", default=[], dest="left_out", help="names or patterns that stay out of the tables")
    parser.add_argument("--measure-only", action="store_true", help="no tables")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    lines = options.out / "layers.jsonl"
    key = {"library": digest(library_of(options.build)), "processor": describe(1)}
    records = [record for record in read_lines(lines) if record.get("key") == key]

    def keep(record):
        records.append({"key": key, **record})
        with lines.open("a", encoding="utf-8") as out:
            out.write(json.dumps(records[-1]) + "\n")

    chosen = [a.name for a in architectures.list_architectures()
              if a.half == "tuning" and (not options.models or any(fnmatch.fnmatch(a.name, m) for m in options.models))]
    if options.report and not records:
        sys.exit(f"{lines} has nothing of this library on this processor")
    if not options.report:
        if not any("machine" in r for r in records):
            keep({"machine": machine(options.build, options.core)})
        measured, start = collections.Counter((r["model"], r["type"]) for r in records if "model" in r), time.monotonic()
        wanted = [(n, t) for n in chosen for t in options.types if options.again or not measured[n, t]]
        # Those least often measured come first, so that the same command goes on.
        for name, precision in sorted(wanted, key=lambda cell: measured[cell]):
            file = options.files / f"{name}.onnx"
            if not file.exists():
                print(f"{name}: not measured, {file} is missing (make_architectures.py writes it)")
                continue
            if time.monotonic() - start > 60 * options.minutes:
                print("The minutes are over; the same command goes on.")
                break
            keep(measure(options, name, precision, file))
            print(f"{name} {precision}: " + ", ".join(f"{e} {sum(r[3] for r in rows) / 1e3:.2f} ms" for e, rows in records[-1]["engines"].items()),
                  *(f"{e} failed: {text}" for e, text in records[-1]["errors"].items()), flush=True)
    if not options.measure_only:
        told = [n for n in chosen if not any(fnmatch.fnmatch(n, m) for m in options.left_out)]
        layer_report.report([r for r in records if "machine" in r or r["model"] in told], options.types, options.files, options.out)


if __name__ == "__main__":
    main()

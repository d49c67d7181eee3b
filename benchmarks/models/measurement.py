"""Measures one model in one type: rounds over engines and modes, a fresh process each."""
import itertools
import json
import os
import pathlib
import shutil
import tempfile

from processes import Failure, execute

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ("hetero", "openvino", "onnxruntime")
MODES = ("latency", "throughput")
SETTINGS = ("INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "OPTIMAL_NUMBER_OF_INFER_REQUESTS")


# Compiles until all choices are stored, two seconds of measuring each.
MOST_COMPILES = 6


def shapes_of(model):
    return ",".join(f"{p.name}[{','.join(map(str, p.shape))}]" for p in model.inputs)


def our_command(build, model, files, mode, precision, arguments, outputs, cache="", seconds=None):
    """A hetero run for the outputs, or a hetero bench."""
    hetero = build / "tools/hetero"
    if outputs:
        return [hetero, "run", model.file, "-d", "CPU", "--shape", shapes_of(model), "--output", outputs, "--properties", f"INFERENCE_PRECISION_HINT={precision},CACHE_DIR=",
                *itertools.chain.from_iterable(("--input", f"{name}={file}") for name, file in files.items())]
    streams = ["-nstreams", 1, "-api", "sync"] if mode == "latency" else ["-nstreams", arguments.cores]
    return [hetero, "bench", "-m", model.file, "-d", "CPU", "-hint", "none", *streams, "-nthreads", arguments.cores, "-t", seconds or arguments.seconds, "-json", "-cache_dir", cache,
            "-infer_precision", precision, "-shape", shapes_of(model), "-i", *(f"{name}:{file}" for name, file in files.items())]


def execute_ours(build, command):
    """With the library of this build, whatever the environment names."""
    paths = [str(build), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return execute(command, env={**os.environ, "LD_LIBRARY_PATH": ":".join(paths)})


def parse(printed):
    """The JSON object that a program ends with."""
    try:
        return json.loads(printed)
    except ValueError:
        raise Failure("refused", f"it printed no result: {printed[-80:]!r}") from None


def content(folder):
    """Of all its files; whether a program has added to it shows in that."""
    return {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def run_ours(model, files, mode, precision, arguments):
    with tempfile.TemporaryDirectory() as cache:
        printed = parse(execute_ours(arguments.build, our_command(arguments.build, model, files, mode, precision, arguments, None, cache)))
        # Again with the choices that are stored now; a model with many is not through after its first seconds of measuring.
        for _ in range(MOST_COMPILES):
            before = content(cache)
            stored = parse(execute_ours(arguments.build, our_command(arguments.build, model, files, mode, precision, arguments, None, cache, 0.01)))
            if content(cache) == before:
                break
    return {"read_ms": stored["read_ms"], "compile_ms": stored["compile_ms"], "first_ms": stored["read_ms"] + stored["compile_ms"] + stored["first_inference_ms"],
            "measured_ms": printed["compile_ms"], "rise_kib": stored["rise_bytes"] / 1024, "latency_ms": printed["latency_ms"]["median"],
            "p90_ms": printed["latency_ms"]["p90"], "p99_ms": printed["latency_ms"]["p99"], "fps": printed["throughput_fps"],
            "settings": {name: printed["properties"][name] for name in SETTINGS}}


def run_for_outputs(model, files, precision, arguments, folder):
    """Ours in `folder`/hetero, for bf16 those of float32 in `folder`/float32, too."""
    kinds = [(precision, "hetero")] + ([("f32", "float32")] if precision == "bf16" else [])
    for kind, name in kinds:
        execute_ours(arguments.build, our_command(arguments.build, model, files, "latency", kind, arguments, folder / name))


def run_peer(engine, python, model, files, mode, precision, arguments, outputs):
    request = {"engine": engine, "model": str(model.file), "inputs": {name: str(file) for name, file in files.items()}, "mode": mode, "precision": precision,
               "cores": arguments.cores, "seconds": arguments.seconds, "outputs": str(outputs) if outputs else None}
    return parse((execute([python, HERE / "peer.py", json.dumps(request)]).splitlines() or [""])[-1])


def multiply_adds(build, model):
    """Of one execution; None where hetero does not read the model."""
    try:
        return parse(execute_ours(build, [build / "tools/hetero", "query", model.file, "--shape", shapes_of(model), "--multiply-adds", "--json"]))["multiply_adds"]
    except Failure:
        return None


def compare_outputs(ours, theirs):
    """The largest difference over the range of the values of `theirs`, over all outputs; a text where shapes differ."""
    import numpy

    worst = 0.0
    for file in sorted(theirs.glob("output_*.npy")):
        if not (ours / file.name).exists():
            return f"{file.stem} is there alone"
        a, b = numpy.load(ours / file.name).astype("f8"), numpy.load(file).astype("f8")
        if a.shape != b.shape:
            return f"{file.stem} {list(b.shape)} where ours is {list(a.shape)}"
        known = numpy.isfinite(b)
        if not numpy.array_equal(a[~known], b[~known], equal_nan=True):
            return float("inf")
        if known.any():
            span = max(float(b[known].max() - b[known].min()), 1e-6)
            difference = numpy.abs(a[known] - b[known]).max() / span
            worst = max(worst, float(difference) if numpy.isfinite(difference) else float("inf"))
    return worst


def says_nothing(folder):
    """True when each output has one value only, or none that is finite: every difference would be 0."""
    import numpy

    outputs = [numpy.load(file).ravel() for file in folder.glob("output_*.npy")]
    known = [values[numpy.isfinite(values)] for values in outputs]
    return all(values.size == 0 or values.min() == values.max() for values in known)


def distances(folder, precision):
    """How far others are apart, to judge a difference by: the peers from each other; in bf16 either engine from our float32."""
    if precision == "bf16":
        pairs = {engine: (engine, "float32") for engine in ("hetero", "openvino")}
    else:
        pairs = {"peers": ("openvino", "onnxruntime")}
    return {name: compare_outputs(folder / a, folder / b) for name, (a, b) in pairs.items() if (folder / a).exists() and (folder / b).exists()}


def engines_for(model, precision):
    """ONNX Runtime has f32 only, and reads no IR."""
    return [e for e in ENGINES if not (e == "onnxruntime" and (precision == "bf16" or model.file.suffix == ".xml"))]


def measure(model, files, precision, arguments, pythons, work):
    """{"results": {mode: {engine: [figures of a round]}}, "failures": {engine: {mode: how}}, "differences": {peer: number or text}, "distances": {as distances()
    says: number or text}, "says_nothing", "multiply_adds", "engines"}.

    An engine that fails in a mode is not asked again in that mode; what it did before, and the other mode, count.
    """
    engines = engines_for(model, precision)
    results, failures = {mode: {e: [] for e in ENGINES} for mode in MODES}, {}
    folder = work / "outputs"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        for number, mode in itertools.product(range(arguments.rounds), arguments.modes):
            for engine in engines[number % len(engines):] + engines[:number % len(engines)]:
                if mode in failures.get(engine, {}):
                    continue
                outputs = folder / engine if number == 0 and not (folder / engine).exists() else None
                try:
                    if engine != "hetero":
                        result = run_peer(engine, pythons[engine], model, files, mode, precision, arguments, outputs)
                    else:
                        if outputs:
                            run_for_outputs(model, files, precision, arguments, folder)
                        result = run_ours(model, files, mode, precision, arguments)
                    results[mode][engine].append(result)
                except Failure as failure:
                    failures.setdefault(engine, {})[mode] = str(failure)
        done = [e for e in engines if (folder / e).exists() and any(results[mode][e] for mode in MODES)]
        differences = {e: compare_outputs(folder / "hetero", folder / e) for e in done if e != "hetero" and "hetero" in done}
        apart = distances(folder, precision)
        nothing = "hetero" in done and says_nothing(folder / "hetero")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"results": results, "failures": failures, "differences": differences, "distances": apart, "says_nothing": nothing,
            "multiply_adds": multiply_adds(arguments.build, model), "engines": engines}

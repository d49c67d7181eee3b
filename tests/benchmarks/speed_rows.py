#!/usr/bin/env python3
"""What benchmarks/models makes of its measurements, with programs that only look like engines: speed_rows.py ROOT CASE."""
import argparse
import copy
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import numpy

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks/models"))
import measurement  # noqa: E402
import processes  # noqa: E402
import progress  # noqa: E402
import results as result_files  # noqa: E402
import rows as row_list  # noqa: E402
import tables  # noqa: E402

CASES = {}
HETERO = """#!/usr/bin/env python3
import json, os, sys
import numpy
if sys.argv[1] == "run":
    folder = sys.argv[sys.argv.index("--output") + 1]
    os.makedirs(folder)
    numpy.save(folder + "/output_0.npy", numpy.array([0, 5, 10.0]))
elif sys.argv[1] == "query":
    print(json.dumps({"multiply_adds": 2e9}))
elif sys.argv[1] == "bench":
    names = ["INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"]
    print(json.dumps({"read_ms": 1, "compile_ms": 2, "first_inference_ms": 3, "rise_bytes": 4096, "latency_ms": {"median": 10, "p90": 12, "p99": 20}, "throughput_fps": 150, "properties": {n: "" for n in names}}))
"""
PEER = """#!/usr/bin/env python3
import json, os, sys
import numpy
request = json.loads(sys.argv[2])
if request["engine"] == "openvino" and request["mode"] == "throughput":
    os.abort()
if request["engine"] == "onnxruntime":
    sys.exit("it has no such operator")
if request["outputs"]:
    os.makedirs(request["outputs"])
    numpy.save(request["outputs"] + "/output_0.npy", numpy.array([0, 4, 9.0]))
print(json.dumps({"read_ms": 1, "compile_ms": 4, "first_ms": 12, "rise_kib": 8, "latency_ms": 15, "p90_ms": 15, "p99_ms": 30, "fps": 100, "settings": {"version": "1"}}))
"""


def case(function):
    CASES[function.__name__] = function


def row(model, latency, throughput=None, kind="f32", **more):
    """Rounds of (ours, OpenVINO's, ONNX Runtime's) in either mode."""
    engines = ("hetero", "openvino", "onnxruntime")
    found = {"list": "tuning", "model": model, "type": kind, "engines": list(engines), "others": 0, "loads": {}, "differences": {}, **more}
    for mode, rounds in (("latency", latency), ("throughput", throughput or [])):
        found[mode] = {engine: [one[k] for one in rounds if one[k] is not None] for k, engine in enumerate(engines) if rounds and rounds[0][k] is not None}
    return found


@case
def ends():
    def how(script, **options):
        try:
            return processes.execute([sys.executable, "-c", script], **options)
        except processes.Failure as failure:
            return str(failure)

    assert how("print(1)") == "1\n"
    assert how("import os; os.kill(os.getpid(), 11)") == "crashed (signal 11, SIGSEGV)", how("import os; os.kill(os.getpid(), 11)")
    assert how("import sys; sys.exit('no such layer')") == "refused: no such layer"
    assert how("import sys; sys.exit(3)") == "refused: status 3"
    assert how("import time; time.sleep(9)", timeout_s=0.2) == "timed out: after 0.2 s"


@case
def crash_in_one_mode():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tools").mkdir()
        for file, text in ((folder / "tools/hetero", HETERO), (folder / "peer", PEER)):
            file.write_text(text.replace("/usr/bin/env python3", sys.executable))
            file.chmod(0o755)
        model = types.SimpleNamespace(name="m", file=folder / "m.onnx", inputs=[types.SimpleNamespace(name="x", shape=[1, 2])])
        arguments = argparse.Namespace(build=folder, rounds=2, seconds=0.1, cores=2, modes=list(measurement.MODES))
        pythons = dict.fromkeys(("openvino", "onnxruntime"), folder / "peer")
        measured = measurement.measure(model, {"x": folder / "x.npy"}, "f32", arguments, pythons, folder)
    found = row_list.make_row("tuning", "m", "f32", measured, 0.0)
    assert found["latency"] == {"hetero": [10, 10], "openvino": [15, 15]}, found
    assert found["throughput"] == {"hetero": [150, 150]}, found
    assert found["tails"] == {"p90": {"hetero": [12, 12], "openvino": [15, 15]}, "p99": {"hetero": [20, 20], "openvino": [30, 30]}}, found
    tails = row_list.tail_means([found, row("no tails", [(1, 2, 3)])])
    assert tails == {"p90": (1, 15 / 12), "p99": (1, 30 / 20)}, tails
    assert abs(found["differences"]["openvino"] - 1 / 9) < 1e-4 and found["distances"] == {} and "says_nothing" not in found, found
    assert row_list.speed(found, "latency")[::3] == (1.5, "openvino") and row_list.speed(found, "throughput") is None
    lines = row_list.failure_lines([found])
    assert lines == ["OpenVINO: crashed (signal 6, SIGABRT) on 1 of 1 rows: m f32 (throughput only)", "ONNX Runtime: refused on 1 of 1 rows: m f32 (it has no such operator)",
                     "ours: outputs further than a rounding (f32 0.001 of their range) from a peer's on 1 of 1 rows: m f32 0.11"], lines


def saved(folder, name, *outputs):
    (folder / name).mkdir()
    for k, values in enumerate(outputs):
        numpy.save(folder / name / f"output_{k}.npy", numpy.array(values))


@case
def outputs():
    nan = float("nan")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for engine, values in {"hetero": [0, 5, 10.0], "openvino": [0, 4, 10.0], "onnxruntime": [0, 8, 10.0], "float32": [0, 5, 20.0], "constant": [3, 3, 3.0],
                               "nan": [nan] * 3, "no_nan": [0, 5, nan], "other": [1, 2.0]}.items():
            saved(folder, engine, values)
        saved(folder, "two", [3.0, 3.0], [1.0, 2.0])

        def differ(a, b):
            return measurement.compare_outputs(folder / a, folder / b)

        assert differ("hetero", "openvino") == 0.1 and differ("hetero", "hetero") == 0
        assert differ("hetero", "no_nan") == differ("no_nan", "hetero") == float("inf"), "NaN in one of them"
        assert "output_0" in differ("hetero", "other") and differ("hetero", "two") == "output_0 [2] where ours is [3]"
        assert [measurement.says_nothing(folder / engine) for engine in ("hetero", "constant", "nan", "two")] == [False, True, True, False]
        assert measurement.distances(folder, "f32") == {"peers": 0.4}, measurement.distances(folder, "f32")
        assert measurement.distances(folder, "bf16") == {"hetero": 0.5, "openvino": 0.5}, measurement.distances(folder, "bf16")
    rows = [row("near", [(1, 2, 3)], differences={"openvino": 1e-4, "onnxruntime": 1e-3}),
            row("far", [(1, 2, 3)], differences={"openvino": 0.2, "onnxruntime": 0.3}, distances={"peers": 0.25}),
            row("rounded", [(1, 2, None)], kind="bf16", differences={"openvino": 0.06}, distances={"hetero": 0.02, "openvino": 0.07}),
            row("not_finite", [(1, 2, None)], kind="bf16", differences={"openvino": "not finite alike"}), row("constant", [(1, 2, 3)], says_nothing=True)]
    lines = row_list.failure_lines(rows)
    assert lines == ["ours: outputs further than a rounding (f32 0.001, bf16 0.05 of their range) from a peer's on 3 of 5 rows: far f32 0.3 (OpenVINO from ONNX Runtime 0.25), "
                     "rounded bf16 0.06 (ours from float32 0.02, OpenVINO from it 0.07), not_finite bf16 not finite alike",
                     "outputs that have one value only, so that nothing is compared, on 1 of 5 rows: constant f32"], lines


@case
def summary():
    rows = [row("fast", [(10, 20, 30), (10, 22, 30)]), row("slow", [(20, 18, 30), (20, 18, 30)]), row("even", [(10, 10, 10), (10, 10, 10)]),
            row("ours_fails", [(None, 10, 10), (None, 10, 10)], failures={"hetero": {"latency": "refused: why"}}), row("alone", [(10, None, None)]),
            row("in_bf16", [(1, 2, None)], kind="bf16")]
    found = {(s["type"], s["mode"]): s for s in row_list.summarise(rows, None)}
    assert set(found) == {("f32", "latency"), ("bf16", "latency")}, found
    f32 = found["f32", "latency"]
    assert abs(f32["mean"] - (2.1 * 0.9 * 1) ** (1 / 3)) < 1e-9, f32
    assert (f32["ahead"], f32["above_floor"], f32["models"], f32["lost"]) == (2, 2, 4, 1), f32
    assert (round(f32["least"], 9), f32["least_model"]) == (0.9, "slow"), f32
    assert f32["round_means"][0] < f32["mean"] < f32["round_means"][1], f32
    assert [(cell[1]["model"], round(cell[0][0], 2)) for cell in row_list.worst(rows, 2)] == [("slow", 0.9), ("even", 1.0)]
    assert row_list.failure_lines(rows) == ["ours: refused on 1 of 6 rows: ours_fails f32 (latency only: why)"], row_list.failure_lines(rows)
    late = row("late", [(1, 9, 9), (None, 9, 9)], failures={"hetero": {"latency": "crashed"}})
    late["latency"]["hetero"] = [1]
    s, = row_list.summarise([late, row("even", [(10, 10, 10)])], None)
    assert (s["mean"], s["models"], s["lost"], s["ahead"]) == (1, 2, 1, 1), "ours crashed in its second round"
    s, = row_list.summarise([late], None)
    assert (s["models"], s["lost"]) == (1, 1) and len(tables.summary_cells(s)) == len(tables.SUMMARY_HEAD), s
    stopped = row("stopped", [(10, 5, 20), (10, None, 20)])
    assert row_list.summarise([stopped, rows[0]], None)[0]["round_means"] == (1, 1), "the better peer stopped: its rounds alone are compared"


@case
def shapes():
    differs = "output_0 [1, 5] where ours is [1, 6]"
    assert row_list.wrong_shapes({"openvino": differs, "onnxruntime": 1e-6}) == {"openvino": differs}
    assert row_list.wrong_shapes({"openvino": differs, "onnxruntime": differs}) == {"hetero": differs}, "both peers agree: ours is another"
    assert row_list.wrong_shapes({"openvino": 1e-6, "onnxruntime": 1e-6}) == {}
    line = row_list.failure_lines([row("m", [(1, 2, 3)], wrong_shapes={"openvino": differs})])
    assert line == [f"OpenVINO: outputs of another shape on 1 of 1 rows: m f32 ({differs})"], line


@case
def shares():
    peaks = {"cores": 2, "tiles": False, "f32": {"one": 50.0, "all": 100.0, "instruction": "fma"}}
    one = row("m", [(40, 80, 100)], [(30, 10, 20)], multiply_adds=2e9)
    assert row_list.shares(one, "latency", peaks) == (0.5, 0.25) and row_list.shares(one, "throughput", peaks) == (0.6, 0.4)
    assert row_list.shares({**one, "type": "bf16"}, "latency", peaks) == (None, None), "there is no peak of this type"
    with_tiles = {**peaks, "tiles": True, "int8": peaks["f32"]}
    assert row_list.share({**one, "type": "int8_ort"}, "latency", "hetero", with_tiles) is None, "tiles are not in the peak"
    near = row("m", [(21, 20, 100)], multiply_adds=2e9)
    assert row_list.summarise([near], peaks)[0]["at_peak"] == 1, "behind, yet at the peak"


@case
def result_files_():
    convnext, gcvit = "timm.convnext_nano", "timm.gcvit_xxtiny"
    run = {"library": "a", "rounds": 2, "seconds": 0.3, "crowd": 0}
    machine, peaks = {"processor": "p"}, {"cores": 2, "tiles": False, "f32": {"one": 1, "all": 2}}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results/M.json")
        results = result_files.read(file)
        assert result_files.merge(results, machine, peaks, "tuning", run, [row(gcvit, [(1, 2, 3)]), row(convnext, [(1, 2, 3)])]) == ""
        result_files.write(file, results)
        assert result_files.read(file) == results and [r["model"] for r in results["lists"]["tuning"]["rows"]] == [convnext, gcvit]
        assert sum(line.startswith('{"list"') for line in file.read_text().splitlines()) == 2, "a row takes a line"
    less = {**peaks, "f32": {"one": 0.9, "all": 1.5}}
    assert result_files.merge(results, machine, less, "tuning", run, [row(convnext, [(9, 9, 9)])]) == ""
    assert results["peaks"] == peaks, "a peak beside other programs is no peak"
    assert [r["latency"]["hetero"] for r in results["lists"]["tuning"]["rows"]] == [[9], [1]], "the same build: rows stay"
    results["lists"]["tuning"]["rows"].append(row("timm.dla34", [(1, 2, 3)]))
    result_files.merge(results, machine, peaks, "tuning", run, [])
    assert len(results["lists"]["tuning"]["rows"]) == 2, "a model of the other half goes"
    result_files.merge(results, machine, peaks, "test", run, [row("timm.dla34", [(1, 2, 3)])])
    assert "gone" in result_files.merge(results, machine, peaks, "tuning", {**run, "library": "b"}, [row(convnext, [(1, 2, 3)])])
    assert [len(results["lists"][name]["rows"]) for name in ("tuning", "test")] == [1, 1]
    assert "another machine" in result_files.merge(results, {"processor": "q"}, None, "tuning", run, []) and list(results["lists"]) == ["tuning"]


@case
def progress_():
    """Rows stay for the same library, options and machine, and no half-written line is one."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library = folder / "libhetinference-1.0.so.0"
        library.write_text("code")
        cell = types.SimpleNamespace(list="tuning", name="m", type="f32")

        def resumed(**changed):
            options = {"build": folder, "out": folder / "out", "minutes": 1, "anew": False, "rounds": 2, "seconds": 0.1, "crowd": 0, "decoder": False, "modes": ["latency"], "cores": 2, "others": 1, "unrest": float("inf"), **changed}
            return progress.Progress(argparse.Namespace(**options))

        assert resumed().find(cell) is None
        entry = {"row": row("m", [(1, 2, 3)], others=0.2)}
        resumed().keep(cell, entry)
        with open(folder / "out/progress.jsonl", "a") as file:
            file.write('{"key": {}, "list": "tuning", "mod')
        assert resumed().find(cell)["row"]["others"] == 0.2
        resumed().keep(types.SimpleNamespace(list="test", name="n", type="f32"), entry)
        assert resumed().find(cell)["row"]["others"] == 0.2, "behind the half-written line"
        assert resumed(others=0.1).find(cell) is None, "disturbed more than is allowed now"
        restless = types.SimpleNamespace(list="tuning", name="restless", type="f32")
        for slowest, again in ((30, True), (15, True), (20, False)):
            assert (resumed(unrest=1.2).find(restless) is None) == again, "measured twice is enough"
            resumed().keep(restless, {"row": row("m", [(1, 10, 3), (1, slowest, 3)])})
        assert resumed(unrest=1.2).find(restless)["row"]["latency"]["openvino"] == [10, 15], "the quietest one"
        assert resumed(rounds=3).find(cell) is None and resumed(cores=1).find(cell) is None
        library.write_text("other code")
        assert resumed().find(cell) is None, "another library"
        library.write_text("code")
        assert resumed().find(cell) and resumed(anew=True).find(cell) is None and resumed().find(cell) is None


@case
def document():
    """The check of the document's tables fails where a figure differs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "benchmarks/models", folder / "benchmarks/models", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs/performance.md", folder / "docs")

        def report(*options):
            return subprocess.run([sys.executable, folder / "benchmarks/models/report.py", *options], capture_output=True, text=True)

        assert report("--check").returncode == 0, report("--check").stdout
        file = next((folder / "benchmarks/models/results").glob("*.json"))
        results = result_files.read(file)
        changed = copy.deepcopy(results)
        content = next(iter(changed["lists"].values()))["rows"]
        first = next(one for one in content if one.get("latency", {}).get("hetero"))
        first["latency"]["hetero"] = [2 * ms for ms in first["latency"]["hetero"]]
        result_files.write(file, changed)
        done = report("--check")
        assert done.returncode == 1 and "report.py" in done.stdout, done
        assert report().returncode == 0 and report("--check").returncode == 0, "it writes what it checks"
        page = folder / "docs/performance.md"
        page.write_text(page.read_text().replace("<!-- up to here -->", ""))
        done = report("--check")
        assert done.returncode == 1 and "up to here" in done.stderr, done


for module in ("result_files", "progress"):
    CASES[module] = CASES.pop(module + "_")

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(f"usage: speed_rows.py ROOT CASE; cases: {', '.join(CASES)}")
    CASES[sys.argv[2]]()

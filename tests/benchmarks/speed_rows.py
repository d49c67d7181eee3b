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

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks/models"))
import measurement  # noqa: E402
import processes  # noqa: E402
import results as result_files  # noqa: E402
import rows as row_list  # noqa: E402

CASES = {}
HETERO = """#!/usr/bin/env python3
import json, sys
if sys.argv[1] == "query":
    print(json.dumps({"multiply_adds": 2e9}))
elif sys.argv[1] == "bench":
    names = ["INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"]
    print(json.dumps({"read_ms": 1, "compile_ms": 2, "first_inference_ms": 3, "rise_bytes": 4096, "latency_ms": {"median": 10}, "throughput_fps": 150, "properties": {n: "" for n in names}}))
"""
PEER = """#!/usr/bin/env python3
import json, os, sys
request = json.loads(sys.argv[2])
if request["engine"] == "openvino" and request["mode"] == "throughput":
    os.abort()
if request["engine"] == "onnxruntime":
    sys.exit("it has no such operator")
print(json.dumps({"read_ms": 1, "compile_ms": 4, "first_ms": 12, "rise_kib": 8, "latency_ms": 15, "fps": 100, "settings": {"version": "1"}}))
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
            file.write_text(text)
            file.chmod(0o755)
        model = types.SimpleNamespace(name="m", file=folder / "m.onnx", inputs=[types.SimpleNamespace(name="x", shape=[1, 2])])
        arguments = argparse.Namespace(build=folder, rounds=2, seconds=0.1, cores=2)
        pythons = dict.fromkeys(("openvino", "onnxruntime"), folder / "peer")
        measured = measurement.measure(model, {"x": folder / "x.npy"}, "f32", arguments, pythons, folder)
    found = row_list.make_row("tuning", "m", "f32", measured, 0.0)
    assert found["latency"] == {"hetero": [10, 10], "openvino": [15, 15]}, found
    assert found["throughput"] == {"hetero": [150, 150]}, found
    assert row_list.speed(found, "latency")[::3] == (1.5, "openvino") and row_list.speed(found, "throughput") is None
    lines = row_list.failure_lines([found])
    assert lines == ["OpenVINO: crashed (signal 6, SIGABRT) on 1 of 1 rows: m f32 (throughput only)", "ONNX Runtime: refused on 1 of 1 rows: m f32 (it has no such operator)"], lines


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
    run = {"library": "a", "rounds": 2, "seconds": 0.3, "crowd": 0}
    machine, peaks = {"processor": "p"}, {"cores": 2, "tiles": False, "f32": {"one": 1, "all": 2}}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results/M.json")
        results = result_files.read(file)
        assert result_files.merge(results, machine, peaks, "tuning", run, [row("b", [(1, 2, 3)]), row("a", [(1, 2, 3)])]) == ""
        result_files.write(file, results)
        assert result_files.read(file) == results and [r["model"] for r in results["lists"]["tuning"]["rows"]] == ["a", "b"]
        assert sum(line.startswith('{"list"') for line in file.read_text().splitlines()) == 2, "a row takes a line"
    less = {**peaks, "f32": {"one": 0.9, "all": 1.5}}
    assert result_files.merge(results, machine, less, "tuning", run, [row("a", [(9, 9, 9)])]) == ""
    assert results["peaks"] == peaks, "a peak beside other programs is no peak"
    assert [r["latency"]["hetero"] for r in results["lists"]["tuning"]["rows"]] == [[9], [1]], "the same build: rows stay"
    result_files.merge(results, machine, peaks, "test", run, [row("c", [(1, 2, 3)])])
    assert "gone" in result_files.merge(results, machine, peaks, "tuning", {**run, "library": "b"}, [row("a", [(1, 2, 3)])])
    assert [len(results["lists"][name]["rows"]) for name in ("tuning", "test")] == [1, 1]
    assert "another machine" in result_files.merge(results, {"processor": "q"}, None, "tuning", run, []) and list(results["lists"]) == ["tuning"]


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


CASES["result_files"] = CASES.pop("result_files_")

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(f"usage: speed_rows.py ROOT CASE; cases: {', '.join(CASES)}")
    CASES[sys.argv[2]]()

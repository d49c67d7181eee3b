#!/usr/bin/env python3
"""Benchmarks of the Python interface in their shortest form, without OpenVINO: python_requests.py ROOT BUILD CASE [PYTHON of the package]."""
import importlib.util
import pathlib
import re
import subprocess
import sys

ROOT, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
MODEL = ROOT / "pipelines/demo/models/scene_detector.onnx"
NUMBER = r"-?\d+\.\d+"
SPREAD = rf"({NUMBER}) \[({NUMBER}) ({NUMBER})\]"


def run(script, *models):
    """What it prints; rounds and seconds are the fewest."""
    command = [sys.executable, "-B", ROOT / "benchmarks/python" / script, BUILD, *models, "--alone", "--rounds", 2, "--seconds", 0.02]
    if len(sys.argv) > 4:
        command += ["--our-python", sys.argv[4]]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{script} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(is_right, printed):
    if not is_right:
        raise AssertionError(f"not what was expected:\n{printed}")


def spread_of(match, first):
    """(median, least, most), which are in order."""
    middle, least, most = (float(match[first + k]) for k in range(3))
    expect(least <= middle <= most, match[0])
    return middle


def overhead():
    """Each way of each model costs something in either language."""
    if not (BUILD / "benchmarks/python/request_cost").exists():
        skip(f"{BUILD} has no benchmarks (-Dbenchmarks=true)")
    if importlib.util.find_spec("onnx") is None:
        skip(f"{sys.executable} has no onnx (python3-onnx), which makes the models")
    printed = run("overhead.py")
    for model in ("16 numbers", "picture in", "picture in and out"):
        expect(f"\n{model}, us a request" in "\n" + printed, printed)
    for way in ("alone", "shared", "copied", "called", "async shared", "async copied"):
        rows = re.findall(rf"^  {way} +({NUMBER}) +({NUMBER}) +{SPREAD}$", printed, re.MULTILINE)
        expect(len(rows) == 3 and all(float(row[0]) > 0 and float(row[1]) > 0 for row in rows), printed)


def async_queue():
    printed = run("async_queue.py", MODEL)
    expect(re.search(r"^scene_detector, [1-9]\d* requests$", printed, re.MULTILINE), printed)
    rates = re.search(rf"ours in C\+\+ {SPREAD}, ours in Python {SPREAD}$", printed, re.MULTILINE)
    expect(rates and spread_of(rates, 1) > 0 and spread_of(rates, 4) > 0, printed)
    ratio = re.search(rf"ours in Python over ours in C\+\+ +{SPREAD}$", printed, re.MULTILINE)
    expect(ratio and spread_of(ratio, 1) > 0, printed)


def threads():
    printed = run("threads.py", MODEL)
    found = re.search(rf"^scene_detector +ours: +({NUMBER}) and +({NUMBER}) inferences/s, scaling {SPREAD}$", printed, re.MULTILINE)
    expect(found and float(found[1]) > 0 and float(found[2]) > 0 and spread_of(found, 3) > 0, printed)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def main():
    if not (BUILD / "python/hetero").is_dir():
        skip(f"{BUILD} has no Python package (pybind11 is missing)")
    {case.__name__: case for case in (overhead, async_queue, threads)}[sys.argv[3]]()


main()

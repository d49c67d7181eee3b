#!/usr/bin/env python3
"""What a request costs in Python beside C++: us a request, ours and OpenVINO's.

    overhead.py BUILD [--rounds 5] [--seconds 0.5] [--alone] [--our-python EXE] [--venv DIR | --python EXE --openvino-python EXE]

Models that compute next to nothing, on one stream of one thread. README.md says what the ways of running a request are. Every round runs, in turns and
in processes of their own, our C++ interface, ours in Python, OpenVINO's C++ interface and OpenVINO in Python; the difference of two languages is of one
round. Printed are medians with the least and the most of the rounds.
BUILD needs -Dbenchmarks=true. OpenVINO's C++ program is compiled against its Python package, with $CXX or c++.
"""
import argparse
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

import sides
from processes import Failure, execute

WAYS = ("alone", "shared", "copied", "called", "async shared", "async copied")
CONFIG = {"NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": "1"}
# Shapes of input and output: the ReLU of the input, or of its first elements.
MODELS = {"16 numbers": ([1, 16], [1, 16]), "picture in": ([1, 3, 224, 224], [1, 3, 1, 1]), "picture in and out": ([1, 3, 224, 224], [1, 3, 224, 224])}


def write_model(file, in_shape, out_shape):
    try:
        from onnx import TensorProto, helper, save
    except ImportError:
        raise SystemExit(f"{sys.executable} has no onnx, which makes the models (Debian: python3-onnx, for /usr/bin/python3)") from None

    constants = [helper.make_tensor(name, TensorProto.INT64, [len(out_shape)], values) for name, values in (("starts", [0] * len(out_shape)), ("ends", out_shape))]
    first = [] if in_shape == out_shape else [helper.make_node("Slice", ["x", "starts", "ends"], ["first"])]
    graph = helper.make_graph([*first, helper.make_node("Relu", ["first" if first else "x"], ["y"])], "tiny", [helper.make_tensor_value_info("x", TensorProto.FLOAT, in_shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, out_shape)], constants if first else [])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(file))


def compile_openvino_program(python, folder):
    """openvino_request_cost, linked to the library that OpenVINO's Python package has."""
    package = pathlib.Path(execute([python, "-c", "import os, openvino; print(os.path.dirname(openvino.__file__))"]).strip())
    library, program = next(package.glob("libs/libopenvino.so.*")), folder / "openvino_request_cost"
    try:
        execute([*shlex.split(os.environ.get("CXX", "c++")), "-std=c++20", "-O3", "-I", sides.ROOT, "-isystem", package / "include", sides.HERE / "openvino_request_cost.cpp", library,
                 f"-Wl,-rpath,{library.parent}", "-o", program])
    except Failure as failure:
        raise SystemExit(f"OpenVINO's C++ program does not compile: {failure}") from None
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sides.add_arguments(parser, rounds=5, seconds=0.5)
    arguments = parser.parse_args()
    program = arguments.build / "benchmarks/python/request_cost"
    if not program.exists():
        parser.error(f"{program} is not built: meson configure {arguments.build} -Dbenchmarks=true, then ninja")
    with sides.sides(arguments) as both, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = {"hetero": program}
        if "openvino" in both.engines:
            programs["openvino"] = compile_openvino_program(both.pythons["openvino"], folder)
        for model, description in MODELS.items():
            file = folder / f"{model.replace(' ', '_')}.onnx"
            write_model(file, *description)
            measure_model(both, programs, model, file, arguments)


def measure_model(both, programs, model, file, arguments):
    runs = {(engine, language): [] for engine in both.engines for language in ("C++", "Python")}
    for number in range(arguments.rounds):
        for engine, language in sides.in_turn(runs, number):
            if language == "C++":
                found = both.program(programs[engine], file, arguments.seconds)
            else:
                found = both.python(engine, "ways", file, CONFIG, arguments.seconds)
            runs[engine, language].append(found)
    print(f"{model}, us a request" + "".join(f"  {sides.NAMES[engine] + ' C++':>12} {'Python':>8} {'Python - C++':>24}" for engine in both.engines))
    for way in WAYS:
        line = f"  {way:{len(model) + 12}}"
        for engine in both.engines:
            native, python = ([run[way] for run in runs[engine, language]] for language in ("C++", "Python"))
            line += f"  {statistics.median(native):12.2f} {statistics.median(python):8.2f} {sides.figure([p - n for p, n in zip(python, native)]):>24}"
        print(line)
    print(flush=True)


if __name__ == "__main__":
    main()

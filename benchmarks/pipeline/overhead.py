#!/usr/bin/env python3
"""What an inference element costs beside the work it does: us a frame of 64x64 with a trivial model.

    overhead.py BUILD [--rounds 5] [--seconds 3] [--venv DIR | --python EXE --openvino-python EXE]

The model is the mean of each colour. Every round plays, in turn, the source alone (one NV12 frame from memory again and
again), the source with `identity`, with `queue`, with `heteroinference` and, where GStreamer has it, with `onnxinference` (whose
source is RGB), and runs the library alone (bench_request). Printed are medians with the spread, over the source alone: wall time a frame (parts
run side by side) and processor time a frame; then the library's preprocessing alone, its whole frame when one frame follows the other (threads wait for each other), and
    overhead = processor time of heteroinference - that of the source - preprocessing
which has the model's own work in it.
BUILD needs -Dbenchmarks=true.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import plays

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import peers

SIDE = 64
MODEL = """
import sys
from onnx import TensorProto, helper, save
nodes = [helper.make_node("GlobalAveragePool", ["picture"], ["mean"])]
graph = helper.make_graph(nodes, "colour", [helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, 3, int(sys.argv[2]), int(sys.argv[2])])],
                          [helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, 3, 1, 1])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
helper.set_model_props(model, {"mean": "mean"})  # onnxinference takes outputs only with such an id
save(model, sys.argv[1])
"""


def has_element(name):
    return subprocess.run(["gst-inspect-1.0", "--exists", name], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    peers.add_arguments(parser)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "colour.onnx"
        subprocess.run([peers.interpreters(options)["onnxruntime"], "-c", MODEL, model, str(SIDE)], check=True)
        source, rgb = (plays.still(SIDE, SIDE, name) for name in ("NV12", "RGB"))
        sink = "fakesink name=sink"
        cases = {"source": f"{source} ! {sink}", "identity": f"{source} ! identity ! {sink}", "queue": f"{source} ! queue ! {sink}",
                 "heteroinference": f"{source} ! heteroinference model={model} name=element ! {sink}"}
        if has_element("onnxinference"):
            cases["source RGB"] = f"{rgb} ! {sink}"
            cases["onnxinference"] = f"{rgb} ! onnxinference model-file={model} input-image-format=chw ! {sink}"
        else:
            print("onnxinference: not in this GStreamer")
        wall = {name: [] for name in cases}
        cpu = {name: [] for name in cases}
        alone = []
        for _ in range(options.rounds):
            for name, description in cases.items():
                phase = plays.streams(options.build, description, warmup=1, seconds=options.seconds)["plain"]
                frames = phase["frames"][0]
                wall[name].append(phase["seconds"] * 1e6 / frames)
                cpu[name].append(phase["cpu_seconds"] * 1e6 / frames)
            command = [options.build / "benchmarks/pipeline/bench_request", model, SIDE, SIDE, options.seconds]
            alone.append(json.loads(subprocess.run([str(c) for c in command], env=plays.environment(options.build), check=True, stdout=subprocess.PIPE, text=True).stdout))

    def line(name, values):
        print(f"{name:34s} {statistics.median(values):8.2f} us [{min(values):.2f} {max(values):.2f}]")

    for title, times in (("wall", wall), ("processor", cpu)):
        for name in cases:
            base = "source RGB" if name == "onnxinference" else "source"
            line(f"{name}, {title}", times[name] if name.startswith("source") else [a - b for a, b in zip(times[name], times[base])])
    for name in ("preprocess", "request", "cpu"):
        line(f"library: {name}", [row[name] for row in alone])
    line("overhead", [a - b - row["preprocess"] for a, b, row in zip(cpu["heteroinference"], cpu["source"], alone)])


if __name__ == "__main__":
    main()

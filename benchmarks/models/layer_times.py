#!/usr/bin/env python3
"""Times of the nodes of one model by one engine, on one core: layer_times.py REQUEST, a JSON object that layers.py writes.

    engine     openvino or onnxruntime; ours is `hetero bench -trace`
    model      the file; inputs {name: file.npy}
    precision  f32 or bf16

Prints a JSON list of rows [name, operator, kernel, microseconds, names of the layers that it fuses, names of its readers].
A row's time is the least of GROUPS means, each over GROUP warm inferences: OpenVINO tells means only, so all are read alike.
"""
import json
import os
import pathlib
import sys
import tempfile

import numpy

GROUP, GROUPS, SECONDS = 6, 3, 0.5


RUNS = 2 + GROUP * GROUPS  # of one measurement; the first two are cold


def in_groups(times):
    """Times of one node in the order of inferences -> the row's time, from GROUPS groups evenly spread over them."""
    warm = times[2:]
    groups = [warm[k:k + GROUP] for k in range(0, len(warm) - GROUP + 1, GROUP)]
    if not groups:
        raise RuntimeError(f"{len(times)} inferences are too few, {RUNS} were wanted")
    chosen = groups if len(groups) <= GROUPS else [groups[k * (len(groups) - 1) // (GROUPS - 1)] for k in range(GROUPS)]
    return min(sum(g) / GROUP for g in chosen)


def openvino(request, inputs):
    import openvino as ov

    core = ov.Core()
    model = core.read_model(request["model"])
    model.reshape({name: list(array.shape) for name, array in inputs.items()})
    means, first, graph = [], [], {}
    for _ in range(GROUPS):
        compiled = core.compile_model(model, "CPU", {"NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": "1", "INFERENCE_PRECISION_HINT": request["precision"], "PERF_COUNT": True})
        one = compiled.create_infer_request()
        for name, array in inputs.items():
            one.set_tensor(name, ov.Tensor(array))
        for _ in range(2):
            one.infer()
        cold = one.get_profiling_info()
        for _ in range(GROUP):
            one.infer()
        warm = one.get_profiling_info()
        # The counters are means since the start. Names that it made up have other numbers after each compilation, so nodes are known by their place.
        us = lambda counter: 1e6 * counter.real_time.total_seconds()  # noqa: E731
        means.append([max(0.0, ((GROUP + 2) * us(w) - 2 * us(c)) / GROUP) for w, c in zip(warm, cold)])
        if not first:
            first = warm
            for op in compiled.get_runtime_model().get_ordered_ops():
                parts = str(op.get_rt_info()["originalLayersNames"].value) if "originalLayersNames" in op.get_rt_info() else ""
                graph[op.get_friendly_name()] = ([n for n in parts.split(",") if n], sorted({t.get_node().get_friendly_name() for o in op.outputs() for t in o.get_target_inputs()}))
        elif [p.node_type for p in warm] != [p.node_type for p in first]:
            raise RuntimeError("two compilations of the model have other nodes")
    return [[p.node_name, p.node_type, p.exec_type, min(m[k] for m in means), *graph.get(p.node_name, ([], []))]
            for k, p in enumerate(first) if str(p.status).endswith(".EXECUTED")]


def onnxruntime(request, inputs):
    import time

    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = os.path.join(folder, "profile")
        session = ort.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
        end, runs = time.perf_counter() + SECONDS, 0
        while runs < RUNS or (time.perf_counter() < end and runs < 100):
            session.run(None, inputs)
            runs += 1
        events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    times, rows = {}, {}
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            name = event["name"][:-len("_kernel_time")]
            key = (name, event["args"].get("node_index"))
            times.setdefault(key, []).append(event["dur"])
            rows[key] = (event["args"]["op_name"], [list(t.values())[0] for t in event["args"].get("input_type_shape", [])])
    return [[name, operator, operator + str(shapes[:2]), in_groups(times[name, index]), [name], []] for (name, index), (operator, shapes) in rows.items()]


def main():
    request = json.loads(sys.argv[1])
    inputs = {name: numpy.load(file) for name, file in request["inputs"].items()}
    print(json.dumps({"openvino": openvino, "onnxruntime": onnxruntime}[request["engine"]](request, inputs)))


if __name__ == "__main__":
    main()

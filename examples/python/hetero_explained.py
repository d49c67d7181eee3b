#!/usr/bin/env python3
"""How HETERO splits a model over devices, step by step.

    hetero_explained.py [MODEL] [--device HETERO:FIRST,SECOND...]

Who runs which operator and why, affinities set by hand, the order of the devices, a plan that was measured, and what each of them costs.
Without arguments it takes the demo's detector, and GPU and CPU, or CPU and REF on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import collections
import statistics
import sys
import time

import hetero
import numpy

import demo_files

ROUNDS = 20


def show(compiled: hetero.CompiledModel) -> None:
    """The subgraphs in the order of their executions, and what crosses between them."""
    for part in compiled.subgraphs:
        behind = f", behind {', '.join(compiled.subgraphs[i].name for i in part.dependencies)}" if part.dependencies else ""
        print(f"  {part.name} on {part.device}: operators: {len(part.nodes)}, {', '.join(part.inputs)} -> {', '.join(part.outputs)}{behind}")


def show_devices(core: hetero.Core) -> None:
    print("1. Devices of this machine")
    for device in core.available_devices:
        print(f"  {device}: {core.get_property(device, 'FULL_DEVICE_NAME')}")


def ask(core: hetero.Core, model: hetero.Model, device: str) -> None:
    """query_model() says where operators would run; explain_model() why some cannot, too."""
    print(f"2. What {device} would do")
    for name, count in collections.Counter(core.query_model(model, device).values()).items():
        print(f"  {name} takes {count} of {len(model.get_ops())} operators")
    for node in core.explain_model(model, device):
        if node.reason:
            print(f"  {node.type_name} '{node.name}' on {node.device or 'no device'}: {node.reason}")


def set_affinities(core: hetero.Core, path: str, device: str, last_device: str) -> hetero.CompiledModel:
    """The device for an operator is its rt_info["affinity"]; operators without one stay automatic."""
    print(f"3. By hand: the last operator on {last_device}, the others as HETERO chose")
    model = core.read_model(path)
    last = model.get_ops()[-1]
    last.rt_info["affinity"] = last_device
    print(f"  {last.get_type_name()} '{last.friendly_name}' wants {last.rt_info['affinity']}")
    compiled = core.compile_model(model, device)
    show(compiled)
    return compiled


def turn_priorities(core: hetero.Core, model: hetero.Model, devices: list[str]) -> hetero.CompiledModel:
    """Each operator goes to the first device of the list that takes it. The list may be a property as well."""
    priorities = ",".join(reversed(devices))
    print(f"4. Priorities: MULTI_DEVICE_PRIORITIES={priorities}")
    compiled = core.compile_model(model, "HETERO", {"MULTI_DEVICE_PRIORITIES": priorities})
    show(compiled)
    return compiled


def measure_a_plan(core: hetero.Core, model: hetero.Model, device: str) -> hetero.CompiledModel:
    """With HETERO_POLICY=latency devices and candidates are measured while the model is compiled; * marks what was chosen.

    What was measured is kept in CACHE_DIR for the next time; without a folder it is measured here.
    """
    print("5. A measured plan: HETERO_POLICY=latency")
    compiled = core.compile_model(model, device, {"HETERO_POLICY": "latency", "CACHE_DIR": ""})
    for line in str(compiled.get_property("HETERO_PLAN")).splitlines():
        print(f"  {line}")
    show(compiled)
    return compiled


def compare(compiled_models: dict[str, hetero.CompiledModel]) -> None:
    """The same input for each: median of the times, and how far results are from those of the first."""
    print("6. What it costs")
    generator = numpy.random.default_rng(1)
    port = next(iter(compiled_models.values())).input()
    picture = generator.uniform(0, 255, list(port.shape)).astype(port.element_type.to_dtype())
    expected = None
    for name, compiled in compiled_models.items():
        request = compiled.create_infer_request()
        request.infer([picture])  # the first one touches all memory
        times_ms = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            request.infer()
            times_ms.append((time.perf_counter() - begin) * 1000)
        result = request.get_output_tensor(0).data.astype(numpy.float64)
        expected = result if expected is None else expected
        print(f"  {name}: {statistics.median(times_ms):.2f} ms, results differ by {numpy.abs(result - expected).max():.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default=str(demo_files.DETECTOR), help="ONNX or OpenVINO IR with one input of known shape")
    parser.add_argument("--device", help="HETERO:GPU,CPU; by default what this machine has")
    options = parser.parse_args()

    core = hetero.Core()
    has_gpu = any(name.startswith("GPU") for name in core.available_devices)
    device = options.device or ("HETERO:GPU,CPU" if has_gpu else "HETERO:CPU,REF")
    kind, _, names = device.partition(":")
    devices = names.split(",")
    if kind != "HETERO" or len(devices) < 2:
        parser.error(f"--device {device}: HETERO with two devices or more is to be explained, such as HETERO:GPU,CPU")

    model = core.read_model(options.model)
    show_devices(core)
    ask(core, model, device)
    compiled_models = {name: core.compile_model(model, name) for name in devices}
    compiled_models["by hand"] = set_affinities(core, options.model, device, devices[-1])
    compiled_models[f"{devices[-1]} first"] = turn_priorities(core, model, devices)
    compiled_models["measured plan"] = measure_a_plan(core, model, device)
    compare(compiled_models)


if __name__ == "__main__":
    try:
        main()
    except (hetero.HeteroError, ValueError) as error:
        sys.exit(f"hetero_explained.py: {error}")

#!/usr/bin/env python3
"""Number of subgraphs of our HETERO and of OpenVINO's with the same affinities on the same IR models.

openvino_split.py BUILD MODEL.xml...

OpenVINO needs no second kind of device for it: its CPU plugin is registered again under another name. Every model gets several
placements of its nodes on two devices; nodes that only constants lead to go where their reader is, as OpenVINO wants it.
Prints a line per placement, and fails where ours has more subgraphs. The last figure tells why OpenVINO has more: regions of a device,
connected whichever way, that lie on a cycle of regions. OpenVINO cuts these until no cycle is left; ours are made so that none arises.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import peers

SECOND = "SECOND_CPU"  # OpenVINO wants the plugin's name in it
CHEAP = {"Relu", "PRelu", "Clamp", "Sigmoid", "Swish", "HSwish", "Elu", "Softmax", "SoftMax", "Tanh", "Mish"}


def constant_only(nodes):
    """Names of nodes that no model input leads to."""
    names = set()
    for node in nodes:
        inputs = [i.get_source_output().get_node().get_friendly_name() for i in node.inputs()]
        if node.get_type_name() != "Parameter" and all(name in names for name in inputs):
            names.add(node.get_friendly_name())
    return names


def placements(nodes, constants, in_file):
    """{name: {node: 0 or 1}} for the nodes of the file that compute; OpenVINO adds some when it reads old files."""
    compute = [n for n in nodes if n.get_type_name() not in ("Parameter", "Result") and n.get_friendly_name() not in constants and n.get_friendly_name() in in_file]
    names = [n.get_friendly_name() for n in compute]
    half = len(names) // 2
    yield "first half, second half", {name: int(i >= half) for i, name in enumerate(names)}
    yield "thirds 0 1 0", {name: int(len(names) // 3 <= i < 2 * len(names) // 3) for i, name in enumerate(names)}
    yield "activations on 1", {n.get_friendly_name(): int(n.get_type_name() in CHEAP) for n in compute}
    yield "joins on 1", {n.get_friendly_name(): int(n.get_type_name() in ("Add", "Concat", "Eltwise")) for n in compute}
    for seed in (1, 2):
        choice = random.Random(seed)
        device, devices = 0, {}
        for name in names:
            if choice.random() < 0.1:
                device = 1 - device
            devices[name] = device
        yield f"runs at random, seed {seed}", devices


def spread_to_all(nodes, devices):
    """OpenVINO's manual affinities name every node: constants follow a reader, inputs and results their neighbour."""
    whole = dict(devices)
    for node in reversed(nodes):
        name = node.get_friendly_name()
        if name in whole:
            continue
        if node.get_type_name() == "Result":
            whole[name] = None
            continue
        readers = [i.get_node().get_friendly_name() for output in node.outputs() for i in output.get_target_inputs()]
        whole[name] = next((whole[r] for r in readers if whole.get(r) is not None), 0)
    for node in nodes:
        name = node.get_friendly_name()
        if whole[name] is None:
            whole[name] = whole[node.input(0).get_source_output().get_node().get_friendly_name()]
    return whole


def regions_in_cycles(nodes, whole):
    """How many regions - what is connected on a device, whichever way - lie on a cycle of regions, which has to be cut open."""
    region = {node.get_friendly_name(): node.get_friendly_name() for node in nodes}

    def find(name):
        while region[name] != name:
            region[name] = region[region[name]]
            name = region[name]
        return name

    edges = [(i.get_source_output().get_node().get_friendly_name(), node.get_friendly_name()) for node in nodes for i in node.inputs()]
    for source, target in edges:
        if whole[source] == whole[target]:
            region[find(source)] = find(target)
    after = {}
    for source, target in edges:
        if find(source) != find(target):
            after.setdefault(find(source), set()).add(find(target))

    def reached(start):
        seen, stack = set(), [start]
        while stack:
            for name in after.get(stack.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    stack.append(name)
        return seen

    return sum(name in reached(name) for name in {find(name) for name in region})


def openvino_count(core, model, whole):
    model = model.clone()
    for node in model.get_ordered_ops():
        node.get_rt_info()["affinity"] = ["CPU", SECOND][whole[node.get_friendly_name()]]
    try:
        compiled = core.compile_model(model, f"HETERO:CPU,{SECOND}")
    except RuntimeError as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        return None, lines[-1][:140]
    return int(compiled.get_property("HETERO_NUMBER_OF_SUBMODELS")), ""


def our_count(program, path, devices):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"rules": [{"name": name, "device": ["CPU", "REF"][device]} for name, device in devices.items()]}, file)
        file.flush()
        done = subprocess.run([program, "split", "--devices", "CPU,REF", "--affinity", file.name, path], capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stdout + done.stderr).strip()[-300:]
    return json.loads(done.stdout)["subgraphs"], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    peers.enter(peers.interpreters(arguments)["openvino"])
    import openvino

    core = openvino.Core()
    core.register_plugin("openvino_intel_cpu_plugin", SECOND)
    program = arguments.build / "benchmarks/hetero/bench_hetero"
    unexplained = 0
    tally = {"equal": 0, "fewer": 0, "more": 0, "OpenVINO refuses": 0, "we refuse": 0}
    print(f"OpenVINO {openvino.__version__}\n{'model':45} {'placement':28} {'ours':>5} {'OpenVINO':>8} {'in cycles':>9}")
    for path in arguments.models:
        try:
            model = core.read_model(path)
        except RuntimeError:
            print(f"{'/'.join(path.parts[-3:-1]):45} OpenVINO cannot read it")
            continue
        if model.is_dynamic():
            print(f"{'/'.join(path.parts[-3:-1]):45} has unknown dimensions")
            continue
        in_file = {layer.get("name") for layer in xml.etree.ElementTree.parse(path).iter("layer")}
        nodes = model.get_ordered_ops()
        constants = constant_only(nodes)
        for name, devices in placements(nodes, constants, in_file):
            theirs, problem = openvino_count(core, model, spread_to_all(nodes, devices))
            ours, our_problem = our_count(program, path, devices)
            cycles = regions_in_cycles(nodes, spread_to_all(nodes, devices))
            unexplained += bool(theirs and ours and ours < theirs and not cycles)
            if ours is None:
                verdict = "we refuse"
            elif theirs is None:
                verdict = "OpenVINO refuses"
            else:
                verdict = "equal" if ours == theirs else "fewer" if ours < theirs else "more"
            tally[verdict] += 1
            print(f"{'/'.join(path.parts[-3:-1]):45} {name:28} {ours or '-':>5} {theirs or '-':>8} {cycles:>9}  {'' if verdict == 'equal' else verdict} {problem} {our_problem}".rstrip(), flush=True)
    print(", ".join(f"{count} {what}" for what, count in tally.items()) + f", {unexplained} fewer without a cycle")
    return 1 if tally["more"] or tally["we refuse"] else 0


if __name__ == "__main__":
    sys.exit(main())

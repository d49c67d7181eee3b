#!/usr/bin/env python3
"""What benchmarks/models/layers.py makes of runtimes' counters: layer_kinds.py ROOT CASE."""
import pathlib
import sys
import tempfile

import numpy
from onnx import TensorProto, helper, numpy_helper, save

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks/models"))
import layer_graph  # noqa: E402
import layer_report  # noqa: E402
import layer_times  # noqa: E402

CASES = {}


def case(run):
    CASES[run.__name__] = run
    return run


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")


def graph(nodes, shapes, weights, output):
    """A LayerGraph of `nodes` (operator, name, inputs, attributes) that write a tensor of their name; `shapes` are inputs."""
    made = helper.make_graph([helper.make_node(o, i, [n], name=f"node_{n}", **a) for o, n, i, a in nodes], "g",
                             [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                             [numpy_helper.from_array(numpy.ones(s, numpy.float32), n) for n, s in weights.items()])
    with tempfile.TemporaryDirectory() as folder:
        save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)]), f"{folder}/m.onnx")
        return layer_graph.LayerGraph(f"{folder}/m.onnx")


@case
def kinds():
    def convolution(channels, weight, side, groups=1):
        pad = weight[2] // 2
        layers = graph([("Conv", "y", ["x", "w"], {"group": groups, "pads": [pad] * 4})], {"x": [1, channels, side, side]}, {"w": weight}, "y").layers
        return layers[0].kind, layers[0].macs

    expect(convolution(3, [8, 3, 3, 3], 10), ("first convolution", 8 * 27 * 100))
    expect(convolution(8, [16, 8, 1, 1], 10)[0], "1x1, 2 to 100 pixels")
    expect(convolution(8, [16, 8, 1, 1], 11)[0], "1x1, many pixels")
    expect(convolution(8, [16, 8, 1, 1], 1)[0], "1x1, one pixel (gates)")
    expect(convolution(8, [16, 8, 3, 3], 9)[0], "dense 3x3 and larger")
    expect(convolution(8, [8, 4, 3, 3], 9, 2), ("grouped", 8 * 36 * 81))
    expect(convolution(8, [8, 1, 5, 5], 9, 8)[0], "depthwise 5x5")
    expect(convolution(8, [8, 1, 7, 7], 9, 8)[0], "depthwise 7x7 and larger")
    expect(convolution(8, [16, 1, 7, 7], 9, 8)[0], "depthwise, more outputs than inputs")


@case
def attention_and_gates():
    g = graph([("MatMul", "q", ["x", "w"], {}), ("MatMul", "s", ["q", "x"], {}), ("Mul", "t", ["s", "scale"], {}), ("Softmax", "p", ["t"], {}), ("MatMul", "y", ["p", "x"], {})],
              {"x": [200, 200]}, {"w": [200, 200], "scale": [1]}, "y")
    expect([layer.kind for layer in g.layers], ["matmul, many rows", "attention", "elementwise", "attention", "attention"])
    g = graph([("ReduceMean", "m", ["x"], {"axes": [2, 3]}), ("Sigmoid", "s", ["m"], {}), ("Mul", "y", ["x", "s"], {}), ("Mul", "z", ["y", "w"], {})], {"x": [1, 4, 5, 5]}, {"w": [1, 4, 1, 1]}, "z")
    expect([layer.kind for layer in g.layers], ["global pooling", "elementwise", "multiply by a gate", "elementwise"])


def convolution_and_norm():
    return graph([("Conv", "c", ["x", "w"], {}), ("Relu", "r", ["c"], {}), ("Mul", "s", ["r", "scale"], {}), ("Transpose", "t", ["s"], {"perm": [0, 2, 3, 1]}),
                  ("LayerNormalization", "n", ["t", "scales"], {}), ("Mul", "k", ["scales", "scales"], {}), ("Add", "y", ["n", "k"], {})],
                 {"x": [1, 8, 20, 20]}, {"w": [8, 8, 1, 1], "scale": [1], "scales": [8]}, "y")


@case
def attribution():
    """A fused node is its convolution, by whichever name; parts of a norm are that norm; copies of the runtime are none of the file's."""
    g = convolution_and_norm()
    record = {"model": "m", "type": "f32", "engines": {
        "ours": [["node_c", "Conv", "k", 30.0, ["node_c", "node_r", "node_s"], []], ["s/reorder", "Reorder", "k", 5.0, ["s/reorder"], []],
                 ["node_n", "LayerNormalization", "k", 7.0, ["node_n"], []], ["node_k", "Mul", "k", 1.0, ["node_k"], []], ["node_y", "Add", "k", 2.0, ["node_y"], []]],
        "openvino": [["node_s", "Convolution", "k", 20.0, ["node_s"], ["node_t"]], ["node_t", "Transpose", "k", 3.0, ["node_t"], ["ReduceMean_1", "Subtract_2"]],
                     ["ReduceMean_1", "ReduceMean", "k", 4.0, ["ReduceMean_1"], ["Subtract_2"]], ["Subtract_2", "Subgraph", "k", 2.0, ["Subtract_2"], ["MVN_3"]],
                     ["MVN_3", "RMS", "k", 3.0, ["MVN_3"], ["node_y"]], ["node_y", "Eltwise", "k", 1.0, ["node_y"], []]],
        "onnxruntime": [["c_nchwc", "Conv", "k", 21.0, ["c_nchwc"], []], ["node_s", "Mul", "k", 4.0, ["node_s"], []], ["ReorderOutput_token_3", "ReorderOutput", "k", 6.0, ["ReorderOutput_token_3"], []],
                        ["node_n", "LayerNormalization", "k", 8.0, ["node_n"], []], ["node_y", "Add", "k", 1.0, ["node_y"], []]]}}
    found = layer_report.Compared(record, g, {"f32": 1e9, "bytes": 1e9})
    expect(found.best, "openvino")
    expect(found.kinds["ours"], {"1x1, many pixels": 30.0, "reorders by the runtime": 5.0, "norm": 7.0, "constants not folded": 1.0, "elementwise": 2.0, "transposes, pads, casts": 0.0})
    expect({k: v for k, v in found.kinds["openvino"].items() if v}, {"1x1, many pixels": 20.0, "transposes, pads, casts": 3.0, "norm": 9.0, "elementwise": 1.0})
    expect({k: v for k, v in found.kinds["onnxruntime"].items() if v}, {"1x1, many pixels": 25.0, "reorders by the runtime": 6.0, "norm": 8.0, "elementwise": 1.0})
    convolution = found.nodes["ours"][0]
    expect((convolution.macs, convolution.bytes), (8 * 8 * 400, 4 * (2 * 8 * 400 + 64 + 1)))
    expect(convolution.least, 1e6 * max(25600 / 1e9, 4 * 6465 / 1e9))


@case
def least_of_means():
    """The first two inferences are cold; a disturbance counts only where it is in every group; too few inferences are an error."""
    times = [900, 800] + [10] * 12 + [500] * 6 + [10] * 12
    expect(layer_times.in_groups(times), 10.0)
    expect(layer_times.in_groups([0, 0] + [10, 10, 10, 10, 10, 70] * 3), 20.0)
    try:
        layer_times.in_groups([1] * 5)
    except RuntimeError as error:
        expect("5 inferences are too few" in str(error), True)
    else:
        raise AssertionError("five inferences were enough")


@case
def quietest():
    """Of two measurements each engine's quieter one counts, and a failure that was measured later is none."""
    row = lambda us: [["n", "Conv", "k", us, ["n"], []]]  # noqa: E731
    records = [{"model": "m", "type": "f32", "engines": {"ours": row(5.0), "openvino": row(9.0)}, "errors": {"onnxruntime": "no"}},
               {"model": "m", "type": "f32", "engines": {"ours": row(6.0), "openvino": row(8.0), "onnxruntime": row(7.0)}, "errors": {}},
               {"model": "m", "type": "bf16", "engines": {"ours": row(4.0)}, "errors": {"openvino": "no"}}]
    first, second = layer_report.quietest(records)
    expect((first["engines"], first["errors"]), ({"ours": row(5.0), "openvino": row(8.0), "onnxruntime": row(7.0)}, {}))
    expect((second["engines"], second["errors"]), ({"ours": row(4.0)}, {"openvino": "no"}))


CASES[sys.argv[2]]()

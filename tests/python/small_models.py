"""Models of a few operators, as bytes, made with the onnx package; and the runner of this folder's tests."""
import os
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

DATA = os.environ.get("HET_SHARED_DATA", "")


def model_bytes(nodes, inputs, outputs, initializers=(), opset=17, metadata=None):
    """inputs and outputs: {name: (type, shape)}; unknown dimensions are texts."""
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()],
                              [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()], list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    helper.set_model_props(model, metadata or {})
    onnx.checker.check_model(model)
    return model.SerializeToString()


def add_one(shape=(2, 3), kind=TensorProto.FLOAT):
    """y = x + 1"""
    one = helper.make_tensor("one", kind, [], [1])
    return model_bytes([helper.make_node("Add", ["x", "one"], ["y"], name="add")], {"x": (kind, shape)}, {"y": (kind, shape)}, [one],
                       metadata={"author": "tests"})


def chain(shape=(1, 4, 8, 8)):
    """y = sigmoid(relu(x) + 1) * 2, of four nodes."""
    numbers = [helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]), helper.make_tensor("two", TensorProto.FLOAT, [], [2.0])]
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Add", ["r", "one"], ["a"], name="add"),
        helper.make_node("Sigmoid", ["a"], ["s"], name="sigmoid"),
        helper.make_node("Mul", ["s", "two"], ["y"], name="mul"),
    ]
    return model_bytes(nodes, {"x": (TensorProto.FLOAT, shape)}, {"y": (TensorProto.FLOAT, shape)}, numbers)


def chain_of(x):
    return 2 / (1 + np.exp(-(np.maximum(x, 0) + 1)))


def two_inputs():
    """sum = a + b, difference = a - b"""
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"], name="sum_node"), helper.make_node("Sub", ["a", "b"], ["difference"], name="sub_node")]
    both = (TensorProto.FLOAT, (4,))
    return model_bytes(nodes, {"a": both, "b": both}, {"sum": both, "difference": both})


def picture_sum(height=6, width=8):
    """A convolution with known weights on a picture [1,3,height,width], and its mean per channel."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [2, 3, 1, 1], [0.5, 1.0, 2.0, -1.0, 0.25, 0.125])
    nodes = [helper.make_node("Conv", ["picture", "w"], ["c"], name="conv"),
             helper.make_node("GlobalAveragePool", ["c"], ["mean"], name="pool")]
    return model_bytes(nodes, {"picture": (TensorProto.FLOAT, (1, 3, height, width))}, {"mean": (TensorProto.FLOAT, (1, 2, 1, 1))}, [weights])


def picture_sum_of(picture):
    weights = np.array([[0.5, 1.0, 2.0], [-1.0, 0.25, 0.125]])
    return np.einsum("oc,nchw->no", weights, picture.astype(np.float64)).reshape(1, 2, 1, 1) / (picture.shape[2] * picture.shape[3])


def slow(rounds):
    """A loop of additions that takes long: seconds, by the reference device, for 100,000 rounds or so."""
    body_in = [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
               helper.make_tensor_value_info("v", TensorProto.FLOAT, [64])]
    body_out = [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []), helper.make_tensor_value_info("w", TensorProto.FLOAT, [64])]
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Sin", ["v"], ["w"])], "body", body_in, body_out)
    count = helper.make_tensor("count", TensorProto.INT64, [], [rounds])
    true = helper.make_tensor("true", TensorProto.BOOL, [], [True])
    loop = helper.make_node("Loop", ["count", "true", "x"], ["y"], name="loop", body=body)
    return model_bytes([loop], {"x": (TensorProto.FLOAT, (64,))}, {"y": (TensorProto.FLOAT, (64,))}, [count, true])


def real_file(test, name):
    path = pathlib.Path(DATA, name)
    if not DATA or not path.exists():
        test.skipTest(f"there is no {name}: HET_SHARED_DATA is '{DATA}'")
    return path


def demo_model(name="scene_detector.onnx"):
    """Of the project's own."""
    return pathlib.Path(__file__).parents[2] / "pipelines/demo/models" / name


def main():
    """Runs the tests of the script that calls it: exit status 77 when all are skipped."""
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun == 0:
        sys.exit("no test ran")
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)

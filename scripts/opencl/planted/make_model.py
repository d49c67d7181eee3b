#!/usr/bin/env python3
"""A model of one ChannelScale, the operator of examples/custom_operator, and an input: planted.onnx and planted.npy.

    make_model.py FOLDER
"""
import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper

FOLDER = Path(sys.argv[1])
SHAPE = [1, 2, 4, 4]
node = helper.make_node("ChannelScale", ["x"], ["y"], domain="example", scales=[2.0, 3.0])
graph = helper.make_graph([node], "planted", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("example", 1)]), FOLDER / "planted.onnx")
numpy.save(FOLDER / "planted.npy", numpy.arange(32, dtype=numpy.float32).reshape(SHAPE))

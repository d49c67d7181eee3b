"""Integers of every type: what OpenVINO has for more types than ONNX."""

import numpy as np
from case import C, floats, ints, op

SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
SMALL = (np.int8, np.uint8, np.int16, np.uint16)
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)

for dtype in SIGNED + UNSIGNED:
    x = np.array([[1, 2, 3], [7, 20, 0]]).astype(dtype)
    for kind in ("Floor", "Ceiling", "Abs", "Sign", "Atan", "Sqrt", "Erf", "Sigmoid", "Tanh", "ReLU"):
        op(kind, 1, [x])
    for kind in ("Sin", "Cos", "Tan") if dtype in SIGNED else ():  # below zero unsigned types saturate here and wrap in OpenVINO
        op(kind, 1, [x])
    op("Exp", 1, [np.array([0, 1, 2, 3], dtype)])
    op("Log", 1, [np.array([1, 2, 3, 100], dtype)])
    op("Round", 5, [x], {"mode": "half_to_even"})
    op("Round", 5, [x], {"mode": "half_away_from_zero"})
    op("Elu", 1, [x], {"alpha": 1.0})
    op("HSwish", 4, [x])
    op("HSigmoid", 5, [x])
    op("Power", 1, [np.array([1, 2, 3], dtype), C(np.array([3, 2, 4], dtype))])
    places = np.array([2, 0, 1], dtype)
    op("Gather", 8, [DATA, places, C(np.int64(0))])
    op("Gather", 8, [DATA, np.array([[1], [0], [3]], dtype), C(np.int64(1))], {"batch_dims": 1})
    op("GatherElements", 6, [DATA, np.array([[2, 0, 1, 1]], dtype)], {"axis": 0})
    op("GatherND", 8, [DATA, np.array([[2, 1], [0, 3]], dtype)])
    op("ScatterUpdate", 3, [DATA, C(places[:2]), floats(*range(8)).reshape(2, 4), C(np.int64(0))])
    op("ScatterNDUpdate", 4, [DATA, C(np.array([[1], [0]], dtype)), floats(*range(8)).reshape(2, 4)])
    op("ScatterElementsUpdate", 12, [DATA, C(np.array([[2, 0, 1, 1]], dtype)), floats(9, 8, 7, 6).reshape(1, 4), C(np.int64(0))])
    op("OneHot", 1, [places, C(np.int64(4)), C(np.float32(2)), C(np.float32(-1))], {"axis": 1})
    op("EmbeddingBagPackedSum", 3, [DATA, np.array([[0, 2], [1, 1]], dtype)])
    op("Bucketize", 3, [x, C(ints(2, 5, 9))], {"output_type": "i32", "with_right_bound": True})

for dtype in SMALL:
    x = np.array([[1, 2, 3], [4, 5, 0]]).astype(dtype)
    for kind, opset in (("ReduceSum", 1), ("ReduceProd", 1), ("ReduceMean", 1), ("ReduceMax", 1), ("ReduceMin", 1), ("ReduceL1", 4), ("ReduceL2", 4)):
        op(kind, opset, [x, C(ints(1))], {"keep_dims": False})
    op("MatMul", 1, [x, x.T.copy()], {"transpose_a": False, "transpose_b": False})
    op("CumSum", 3, [x, C(np.int64(1))], {"exclusive": False, "reverse": False})

for kind in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"):
    op(kind, 1, [np.array([False, False, True, True]), np.array([False, True, False, True])], {"auto_broadcast": "numpy"})

"""Element by element, activations, reductions, matrices, normalisation."""

import numpy as np
from case import C, floats, integers, ints, op, random

A = random(2, 3, 4)
B = random(3, 1, seed=1)
I = integers(2, 3, 4)
J = integers(3, 1, low=1, high=5, seed=1)

for kind in "Add Subtract Multiply Divide Maximum Minimum SquaredDifference".split():
    op(kind, 1, [A, B])
    op(kind, 1, [I, J])
    op(kind, 1, [I.astype(np.int64), C(J.astype(np.int64))])
    op(kind, 1, [A, random(3, seed=2)], {"auto_broadcast": "PDPD", "axis": 1})
op("Divide", 1, [I, integers(3, 1, low=-5, high=0, seed=3)])
op("Divide", 1, [I, integers(3, 1, low=-5, high=0, seed=3)], {"m_pythondiv": False})
op("Divide", 1, [integers(7, low=0, high=250, dtype=np.uint8), C(ints(3, dtype=np.uint8))])
op("Power", 1, [np.abs(A) + 0.1, B])
op("Power", 1, [A, C(floats(2))])
op("Power", 1, [I, C(ints(2, dtype=np.int32))])
for kind in ("Mod", "FloorMod"):
    op(kind, 1, [A, B])
    op(kind, 1, [I, integers(3, 1, low=-5, high=0, seed=3)])
    op(kind, 1, [I, J])
for kind in "Equal NotEqual Less LessEqual Greater GreaterEqual".split():
    op(kind, 1, [I, integers(2, 3, 4, seed=5)])
    op(kind, 1, [np.round(A), np.round(B)])
for kind in "LogicalAnd LogicalOr LogicalXor".split():
    op(kind, 1, [I > 0, integers(3, 1, seed=4) > 0])
op("LogicalNot", 1, [I > 0])
for kind in "BitwiseAnd BitwiseOr BitwiseXor".split():
    op(kind, 13, [I, J])
    op(kind, 13, [I > 0, J > 2])
op("BitwiseNot", 13, [I])
op("BitwiseNot", 13, [I > 0])
for kind in ("BitwiseLeftShift", "BitwiseRightShift"):
    op(kind, 15, [integers(2, 3, 4, low=0, high=100), J])
    op(kind, 15, [integers(2, 3, 4, low=0, high=100).astype(np.uint8), J.astype(np.uint8)])

for kind in "Abs Ceiling Cos Erf Exp Floor Negative Sigmoid Sign Sin Tanh Sinh Cosh".split():
    op(kind, 1, [A])
for kind in "Acos Asin Atan".split():
    op(kind, 1, [A / 2.1])
op("Tan", 1, [A / 2])
op("Acosh", 4, [np.abs(A) + 1])
op("Asinh", 4, [A])
op("Atanh", 4, [A / 2.1])
op("Log", 1, [np.abs(A) + 0.1])
op("Sqrt", 1, [np.abs(A)])
for kind in "Abs Negative Sign".split():
    op(kind, 1, [I])
SPECIAL = floats(1, np.inf, -np.inf, np.nan, 0)
op("IsNaN", 10, [SPECIAL])
op("IsFinite", 10, [SPECIAL])
op("IsInf", 10, [SPECIAL])
op("IsInf", 10, [SPECIAL], {"detect_negative": False})
op("IsInf", 10, [SPECIAL], {"detect_positive": False})
HALVES = floats(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 1.2, -7.7)
op("Round", 5, [HALVES], {"mode": "half_to_even"})
op("Round", 5, [HALVES], {"mode": "half_away_from_zero"})
op("Clamp", 1, [A], {"min": -0.5, "max": 0.7})
op("Clamp", 1, [I], {"min": -1.5, "max": 2.7})
op("Clamp", 1, [integers(9, low=0, high=255, dtype=np.uint8)], {"min": -3.0, "max": 100.0})
for to in "f32 i32 i64 u8 boolean f16".split():
    op("Convert", 1, [A * 3], {"destination_type": to})
    op("Convert", 1, [I], {"destination_type": to})
op("Convert", 1, [integers(9, low=-300, high=300)], {"destination_type": "u8"})
op("Convert", 1, [integers(9, low=-300, high=300)], {"destination_type": "i8"})
op("Convert", 1, [floats(1.5, -1.5, 300, -300, 1e9)], {"destination_type": "i32"})
op("ConvertLike", 1, [A * 3, C(ints(1, dtype=np.int32))])
for safe in (True, False):
    op("ConvertPromoteTypes", 14, [A, random(3, 1).astype(np.float16)], {"promote_unsafe": safe})
op("ConvertPromoteTypes", 14, [I, J.astype(np.int64)])
op("ConvertPromoteTypes", 14, [A, I.astype(np.float32)[0]], {"pytorch_scalar_promotion": True})
op("Select", 1, [I > 0, A, random(3, 1, seed=8)])
op("Select", 1, [I > 0, A, random(2, 3, 4, seed=8)], {"auto_broadcast": "none"})
op("Select", 1, [I[:, :, :1] > 0, I, C(ints(7, dtype=np.int32))])
op("Identity", 16, [A])

op("ReLU", 1, [A])
op("HSwish", 4, [A * 3])
op("Mish", 4, [A * 3])
op("SoftPlus", 4, [A * 12])
op("SoftSign", 9, [A])
op("HSigmoid", 5, [A * 3])
op("Elu", 1, [A], {"alpha": 0.7})
op("PReLU", 1, [A, C(floats(0.1, 0.2, 0.3))])
op("PReLU", 1, [random(2, 3, 4, 5), C(floats(0.1, 0.2, 0.3))])
op("PReLU", 1, [A, C(floats(0.25))])
op("PReLU", 1, [random(2, 3), C(floats(0.1, 0.2, 0.3))])
op("PReLU", 1, [random(3, 3, 3, seed=3), floats(0.1, 0.2, 0.3)])
op("Selu", 1, [A, C(floats(1.5)), C(floats(1.1))])
op("HardSigmoid", 1, [A, C(np.float32(0.3)), C(np.float32(0.4))])
op("Gelu", 2, [A])
op("Gelu", 7, [A], {"approximation_mode": "TANH"})
op("Gelu", 7, [A], {"approximation_mode": "ERF"})
op("Swish", 4, [A])
op("Swish", 4, [A, C(np.float32(0.7))])

for kind in "ReduceMax ReduceMin ReduceMean ReduceSum ReduceProd".split():
    op(kind, 1, [A, C(ints(1))], {"keep_dims": True})
    op(kind, 1, [A, C(ints(-1, 0))], {"keep_dims": False})
    op(kind, 1, [I, C(ints(1))], {"keep_dims": False})
    op(kind, 1, [A, C(ints())], {"keep_dims": False})
for kind in ("ReduceL1", "ReduceL2"):
    op(kind, 4, [A, C(ints(1))], {"keep_dims": True})
    op(kind, 4, [A, C(np.int64(2))], {"keep_dims": False})
for kind in ("ReduceLogicalAnd", "ReduceLogicalOr"):
    op(kind, 1, [I > -2, C(ints(1))], {"keep_dims": True})
op("SoftMax", 1, [A], {"axis": 1})
op("SoftMax", 8, [A], {"axis": -2})
op("LogSoftmax", 5, [A], {"axis": -1})
for exclusive in (False, True):
    for reverse in (False, True):
        op("CumSum", 3, [A, C(np.int64(-2))], {"exclusive": exclusive, "reverse": reverse})
for right in (False, True):
    op("Bucketize", 3, [np.round(A), C(floats(-1, 0, 1))], {"with_right_bound": right})
    op("Bucketize", 3, [I, C(ints(-2, 0, 1, dtype=np.int32))], {"output_type": "i32", "with_right_bound": right})
op("Bucketize", 3, [A, C(floats())])
SORTED = np.sort(np.round(random(2, 3, 6, seed=1)), axis=-1)
for right in (False, True):
    op("SearchSorted", 15, [SORTED, np.round(A)], {"right_mode": right})
    op("SearchSorted", 15, [SORTED[0, 0], np.round(A)], {"right_mode": right})
op("SearchSorted", 15, [C(ints(1, 3, 5)), integers(7, low=0, high=7).astype(np.int64)], {"output_type": "i32"})

op("MatMul", 1, [random(2, 3, 4), random(4, 5)])
op("MatMul", 1, [random(2, 4, 3), random(2, 5, 4)], {"transpose_a": True, "transpose_b": True})
op("MatMul", 1, [random(4), random(2, 4, 5)])
op("MatMul", 1, [random(2, 3, 4), random(4, seed=3)])
op("MatMul", 1, [random(4), random(4, seed=3)])
op("MatMul", 1, [random(4), random(4, seed=3)], {"transpose_a": True, "transpose_b": True})
op("MatMul", 1, [random(4), random(3, 4)], {"transpose_a": True, "transpose_b": True})
op("Einsum", 7, [random(2, 3, 4), random(4, 5)], {"equation": "abc,cd->abd"})
op("Einsum", 7, [random(2, 3, 4), random(2, 3, 5)], {"equation": "bij,bik->bjk"})
op("Einsum", 7, [random(2, 3, 3)], {"equation": "bii->bi"})
Q, K, V = random(1, 2, 3, 4), random(1, 2, 5, 4, seed=1), random(1, 2, 5, 6, seed=2)
op("ScaledDotProductAttention", 13, [Q, K, V])
op("ScaledDotProductAttention", 13, [Q, K, V], {"causal": True})
op("ScaledDotProductAttention", 13, [Q, K, V, random(3, 5)], {"causal": False})
op("ScaledDotProductAttention", 13, [Q, K, V, integers(1, 1, 3, 5, low=0, high=4) > 0], {"causal": False})
op("ScaledDotProductAttention", 13, [Q, K, V, random(1, 2, 3, 5), C(np.float32(0.3))], {"causal": False})
op("ScaledDotProductAttention", 13, [Q, K, V, C(np.float32(0)), C(floats(0.3))], {"causal": True})
op("ScaledDotProductAttention", 13, [Q[0], K[0], V[0]])
op("Inverse", 14, [random(2, 3, 3) + 3 * np.eye(3, dtype=np.float32)])
op("Inverse", 14, [random(4, 4) + 3 * np.eye(4, dtype=np.float32)], {"adjoint": True})

X = random(2, 4, 5, 6)
for axes in ([2, 3], [1, 2, 3], [-1], [1], [0, 2, 3]):
    for variance in (True, False):
        for mode in ("INSIDE_SQRT", "OUTSIDE_SQRT"):
            op("MVN", 6, [X, C(ints(*axes))], {"normalize_variance": variance, "eps": 1e-3, "eps_mode": mode})
for across in (True, False):
    for variance in (True, False):
        op("MVN", 2, [X], {"across_channels": across, "normalize_variance": variance, "eps": 1e-3})
for axes in ([1], [2, 3], [1, 2, 3], [-1], []):
    for mode in ("add", "max"):
        op("NormalizeL2", 1, [X, C(ints(*axes))], {"eps": 0.01, "eps_mode": mode})
for axes in ([1], [2, 3], [1, 2, 3], [3], []):
    op("LRN", 1, [random(2, 16, 5, 6), C(ints(*axes))], {"alpha": 0.3, "beta": 0.6, "bias": 1.0, "size": 3})
for opset in (1, 5):
    args = [C(floats(1, 2, 3, 4)), C(floats(1, 2, 3, 4)), C(floats(0.1, 0.2, 0.3, 0.4)), C(floats(1, 2, 3, 4))]
    inputs = [X, *args] if opset == 5 else [args[0], args[1], X, args[2], args[3]]
    op("BatchNormInference", opset, inputs, {"epsilon": 0.01})
op("GRN", 1, [X], {"bias": 0.3})
op("GroupNormalization", 12, [X, C(floats(1, 2, 3, 4)), C(floats(4, 3, 2, 1))], {"num_groups": 2, "epsilon": 0.01})

for levels in (256, 2, 16, 255):
    op("FakeQuantize", 1, [X, C(np.float32(-1)), C(np.float32(1.5)), C(np.float32(-0.5)), C(np.float32(2))], {"levels": levels})
    op("FakeQuantize", 1, [X, C(np.float32(0)), C(np.float32(1.5)), C(np.float32(0)), C(np.float32(1.5))], {"levels": levels})
CHANNELS = [random(4, 1, 1, low=-2, high=-1), random(4, 1, 1, low=1, high=2, seed=1)]
op("FakeQuantize", 1, [X, C(CHANNELS[0]), C(CHANNELS[1]), C(CHANNELS[0]), C(CHANNELS[1])], {"levels": 256})
op("FakeQuantize", 1, [X, *(C(random(1, 4, 1, 1, seed=i, low=i, high=i + 0.5) - 1.5) for i in range(0, 4))], {"levels": 256})
for kind in ("f8e4m3", "f8e5m2"):
    op("FakeConvert", 13, [X * 50, C(np.float32(2))], {"destination_type": kind})
    op("FakeConvert", 13, [X, C(random(4, 1, 1, low=0.5)), C(random(4, 1, 1, seed=2))], {"destination_type": kind})

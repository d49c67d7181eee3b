"""Operations with the types that exporters of today write them with: mostly integers, of which shapes are computed."""

import numpy as np
from case import C, floats, integers, ints, op, random

A = random(2, 3, 4)
WHOLE = integers(2, 3, 4, dtype=np.int64)
ZERO32, ONE32 = C(np.int32(0)), C(np.int32(1))

for x in (A, WHOLE, WHOLE.astype(np.int32), WHOLE > 0):
    op("Unsqueeze", 1, [x, C(ints(0, -1))])
    op("Unsqueeze", 1, [x, C(ints(1, dtype=np.int32))])
    op("Squeeze", 1, [x[:, :1], C(ints(1, dtype=np.int32))])
    op("Squeeze", 1, [x[:, :1], C(ints(1, dtype=np.uint64))])
    op("Reshape", 1, [x, C(ints(0, -1, dtype=np.int32))], {"special_zero": True})
    op("Reshape", 1, [x, C(ints(4, -1))], {"special_zero": False})
    op("Transpose", 1, [x, C(ints(2, 0, 1, dtype=np.int32))])
    op("Broadcast", 3, [x[:, :1], C(ints(2, 3, 4, dtype=np.int32))], {"mode": "numpy"})
    op("Broadcast", 3, [x[:, :1], C(ints(5, 2, 1, 4))], {"mode": "bidirectional"})
    op("Concat", 1, [x, x], {"axis": 1})
    op("Split", 1, [x, C(np.int32(-1))], {"num_splits": 2})
    op("Split", 1, [x, C(np.int64(1))], {"num_splits": 3})
    op("VariadicSplit", 1, [x, C(np.int64(2)), C(ints(1, -1, dtype=np.int32))])
    op("GatherND", 8, [x, C(np.array([[1, 2], [0, -1]], np.int64))], {"batch_dims": 0})
    op("Slice", 8, [x, C(ints(0)), C(ints(9)), C(ints(2)), C(ints(-1))])
    op("ShapeOf", 3, [x], {"output_type": "i64"})
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        op("Gather", 8, [x, C(np.array([1, 0], dtype)), ONE32], {"batch_dims": 0})
        op("Gather", 8, [x, C(np.array(2, dtype)), C(np.int64(2))], {"batch_dims": 0})
for x in (WHOLE, WHOLE.astype(np.int32)):
    for kind in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"):
        op(kind, 1, [x, C(ints(-1, dtype=np.int32))], {"keep_dims": False})
        op(kind, 1, [x, C(ints(0, 2))], {"keep_dims": True})
    for kind in ("Equal", "Less", "GreaterEqual"):
        op(kind, 1, [x, C(ints(0, 1, -1, 2, dtype=x.dtype))])
op("Convert", 1, [WHOLE > 0], {"destination_type": "f32"})
op("NonZero", 3, [WHOLE > 0], {"output_type": "i64"})
op("NonZero", 3, [A > 0], {"output_type": "i32"})
op("Range", 4, [C(np.int32(1)), C(np.int64(9)), C(np.int32(3))], {"output_type": "i64"})
op("PRelu", 1, [A, random(4)])
op("Relu", 1, [A])
op("Softmax", 8, [A], {"axis": -2})
for k in (np.int32(2), np.int64(3)):
    op("TopK", 11, [random(3, 7), C(k)], {"axis": -1, "mode": "max", "sort": "value", "index_element_type": "i64", "stable": False})
PICTURE = random(1, 2, 5, 6)
for mode, frame in (("nearest", "asymmetric"), ("linear_onnx", "pytorch_half_pixel"), ("linear", "half_pixel"), ("cubic", "align_corners"),
                    ("bilinear_pillow", "half_pixel"), ("bicubic_pillow", "half_pixel")):
    attributes = {"mode": mode, "coordinate_transformation_mode": frame, "nearest_mode": "floor", "antialias": False,
                  "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75}
    op("Interpolate", 11, [PICTURE, C(ints(9, 4)), C(ints(2, 3))], {**attributes, "shape_calculation_mode": "sizes"}, tolerance=2e-4)
    op("Interpolate", 11, [PICTURE, C(floats(1.5, 2)), C(ints(2, 3, dtype=np.int32))], {**attributes, "shape_calculation_mode": "scales"}, tolerance=2e-4)
BOXES = np.sort(random(1, 6, 4, low=0, high=1), axis=-1)
op("NonMaxSuppression", 9, [BOXES, random(1, 2, 6, low=0, high=1), C(np.int32(4)), C(np.float32(0.5)), C(np.float32(0.1))],
   {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"})

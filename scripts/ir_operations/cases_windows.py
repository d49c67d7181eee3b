"""Convolutions, pooling, resampling, regions, pictures."""

import numpy as np
from case import C, floats, integers, ints, op, random

X = random(1, 4, 9, 8)
WINDOW = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1], "auto_pad": "explicit"}


def window(**changes):
    return {**WINDOW, **changes}


W = random(6, 4, 3, 3)
for change in (
    {},
    {"strides": [2, 1], "pads_begin": [1, 0], "pads_end": [0, 2]},
    {"dilations": [2, 1], "auto_pad": "same_upper", "strides": [2, 2]},
    {"auto_pad": "same_lower", "strides": [2, 3]},
    {"auto_pad": "valid", "strides": [2, 3], "pads_begin": [1, 1]},
):
    op("Convolution", 1, [X, C(W)], window(**change))
    op("GroupConvolution", 1, [X, C(random(2, 3, 2, 3, 3))], window(**change))
    op("ConvolutionBackpropData", 1, [random(1, 6, 4, 5), C(W)], window(**change))
    op("GroupConvolutionBackpropData", 1, [random(1, 6, 4, 5), C(random(2, 3, 2, 3, 3))], window(**change))
op("Convolution", 1, [X, W], window())
op("Convolution", 1, [random(1, 3, 9), C(random(2, 3, 3))], {"strides": [2], "pads_begin": [1], "pads_end": [1], "dilations": [1]})
op("Convolution", 1, [random(1, 2, 4, 5, 6), C(random(3, 2, 2, 3, 3))], {"strides": [1, 2, 1], "pads_begin": [1, 0, 1], "pads_end": [1, 1, 0], "dilations": [1, 1, 1]})
op("ConvolutionBackpropData", 1, [random(1, 6, 4, 5), C(W)], window(strides=[2, 2], output_padding=[1, 0]))
for size in ([9, 11], [8, 10], [10, 12]):
    for auto in ("same_upper", "same_lower", "explicit", "valid"):
        op("ConvolutionBackpropData", 1, [random(1, 6, 4, 5), C(W), C(ints(*size))], window(strides=[2, 2], auto_pad=auto))
op("GroupConvolutionBackpropData", 1, [random(1, 6, 4, 5), C(random(2, 3, 2, 3, 3)), C(ints(8, 10))], window(strides=[2, 2], auto_pad="same_upper"))
OFFSETS = random(1, 2 * 9 * 2, 7, 6, low=-1.5, high=1.5)
for pad in (False, True):
    op("DeformableConvolution", 8, [X, OFFSETS, C(random(6, 4, 3, 3))], window(group=1, deformable_group=2, bilinear_interpolation_pad=pad))
    op("DeformableConvolution", 8, [X, OFFSETS * 3, C(random(6, 2, 3, 3)), random(1, 18, 7, 6, low=0, high=1)], window(group=2, deformable_group=2, bilinear_interpolation_pad=pad))
    op("DeformableConvolution", 8, [X, random(1, 18, 9, 8), C(W)], window(group=1, deformable_group=1, bilinear_interpolation_pad=pad, pads_begin=[1, 1], pads_end=[1, 1]))
    op("DeformableConvolution", 8, [X, random(1, 18, 5, 4), C(W)], window(group=1, deformable_group=1, bilinear_interpolation_pad=pad, auto_pad="same_upper", strides=[2, 2], dilations=[2, 1]))
op("DeformableConvolution", 1, [X, OFFSETS, C(random(6, 4, 3, 3))], window(group=1, deformable_group=2))

for rounding in ("floor", "ceil"):
    for change in (
        {"strides": [2, 2], "kernel": [3, 3], "pads_begin": [0, 0], "pads_end": [0, 0]},
        {"strides": [2, 3], "kernel": [3, 3], "pads_begin": [1, 1], "pads_end": [1, 0]},
        {"strides": [3, 2], "kernel": [2, 3], "pads_begin": [1, 1], "pads_end": [2, 1]},
        {"strides": [2, 2], "kernel": [3, 3], "auto_pad": "same_upper", "pads_begin": [0, 0], "pads_end": [0, 0]},
        {"strides": [2, 2], "kernel": [2, 3], "auto_pad": "same_lower", "pads_begin": [0, 0], "pads_end": [0, 0]},
        {"strides": [2, 2], "kernel": [2, 3], "auto_pad": "valid", "pads_begin": [1, 0], "pads_end": [0, 0]},
    ):
        op("MaxPool", 1, [X], {**change, "rounding_type": rounding})
        op("MaxPool", 8, [X], {**change, "rounding_type": rounding, "dilations": [1, 1], "axis": 2})
        op("MaxPool", 8, [random(1, 4, 12, 13)], {**change, "rounding_type": rounding, "dilations": [2, 2], "axis": 0, "index_element_type": "i32"})
        op("MaxPool", 14, [X], {**change, "rounding_type": "ceil_torch" if rounding == "ceil" else "floor", "dilations": [1, 1], "axis": 1})
        for exclude in (True, False):
            op("AvgPool", 1, [X], {**change, "rounding_type": rounding, "exclude-pad": exclude})
            op("AvgPool", 14, [X], {**change, "rounding_type": "ceil_torch" if rounding == "ceil" else "floor", "exclude-pad": exclude})
op("AvgPool", 16, [X], {"strides": [1, 1], "kernel": [2, 2], "dilations": [2, 3], "pads_begin": [1, 0], "pads_end": [0, 1], "exclude-pad": True})
ADAPTIVE = {"AdaptiveAvgPool": {}, "AdaptiveMaxPool": {"index_element_type": "i32"}}
for kind in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
    for size in ([1, 1], [3, 4], [2, 3], [7, 5], [12, 3]):
        op(kind, 8, [X, C(ints(*size))], ADAPTIVE[kind])
    op(kind, 8, [X[0], C(ints(3))], ADAPTIVE[kind])
    op(kind, 8, [random(1, 2, 4, 5, 6), C(ints(3, 2, 4))], ADAPTIVE[kind])

for axes in ([2, 3],):
    for mode in ("nearest", "linear_onnx", "linear", "cubic"):
        for size in ([12, 13], [5, 4], [12, 5]):
            for coordinates in "half_pixel pytorch_half_pixel asymmetric tf_half_pixel_for_nn align_corners".split():
                rounds = "round_prefer_floor round_prefer_ceil floor ceil simple".split() if mode == "nearest" else ["round_prefer_floor"]
                for rounding in rounds:
                    op("Interpolate", 4, [X, C(ints(*size)), C(floats(size[0] / 9, size[1] / 8)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "sizes", "coordinate_transformation_mode": coordinates, "nearest_mode": rounding, "pads_begin": [0], "pads_end": [0]})
    for mode in ("linear", "cubic", "linear_onnx"):
        for size in ([12, 13], [5, 4]):
            op("Interpolate", 4, [X, C(ints(*size)), C(floats(1, 1)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "sizes", "antialias": True, "pads_begin": [0], "pads_end": [0]})
    for mode in ("nearest", "linear_onnx", "linear", "cubic"):
        for scale in ([1.5, 2.3], [0.7, 0.6]):
            op("Interpolate", 4, [X, C(ints(1, 1)), C(floats(*scale)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "scales", "coordinate_transformation_mode": "half_pixel", "pads_begin": [0], "pads_end": [0]})
            op("Interpolate", 11, [X, C(floats(*scale)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "scales", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})
        op("Interpolate", 4, [X, C(ints(12, 13)), C(floats(1, 1)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "sizes", "pads_begin": [0, 0, 1, 2], "pads_end": [0, 0, 0, 1]})
    for mode in ("bilinear_pillow", "bicubic_pillow"):
        for size in ([12, 13], [5, 4], [12, 4], [4, 4]):
            op("Interpolate", 11, [X, C(ints(*size)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "sizes", "cube_coeff": -0.5})
            op("Interpolate", 11, [X, C(ints(*size)), C(ints(*axes))], {"mode": mode, "shape_calculation_mode": "sizes", "pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 2]})
op("Interpolate", 4, [random(1, 9, 8, 3), C(ints(5, 12)), C(floats(1, 1)), C(ints(1, 2))], {"mode": "linear_onnx", "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0]})
op("Interpolate", 4, [random(1, 2, 4, 5, 6), C(ints(6, 7, 3)), C(floats(1, 1, 1)), C(ints(2, 3, 4))], {"mode": "linear_onnx", "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0]})
op("Interpolate", 4, [random(1, 2, 4, 5, 6), C(ints(6, 7, 3)), C(floats(1, 1, 1)), C(ints(2, 3, 4))], {"mode": "nearest", "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0], "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"})
op("Interpolate", 4, [random(1, 2, 9), C(ints(5)), C(floats(1)), C(ints(2))], {"mode": "linear", "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0]})
op("Interpolate", 4, [X, C(ints(1, 4, 12, 13)), C(floats(1, 1, 1.4, 1.7))], {"mode": "cubic", "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0]})
for mode in ("nearest", "linear", "cubic"):
    for size in ([12, 13], [5, 4], [18, 16]):
        for align in (True, False):
            op("Interpolate", 1, [X, C(ints(*size))], {"axes": [2, 3], "mode": mode, "align_corners": align, "antialias": False, "pads_begin": [0], "pads_end": [0]})
op("Interpolate", 1, [X, C(ints(5, 4))], {"axes": [2, 3], "mode": "linear", "align_corners": False, "antialias": True, "pads_begin": [0], "pads_end": [0]})

GRID = random(1, 5, 6, 2, low=-1.3, high=1.3)
for mode in ("bilinear", "bicubic", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for align in (True, False):
            op("GridSample", 9, [X, GRID], {"mode": mode, "padding_mode": padding, "align_corners": align})

ROIS = C(np.array([[0, 0, 5, 5], [1, 1.5, 7, 8], [-2, -1, 3, 3], [2, 2, 2.2, 2.1]], np.float32))
BATCHES = C(ints(0, 1, 0, 1, dtype=np.int32))
F = random(2, 3, 9, 8)
for mode in ("avg", "max"):
    for ratio in (0, 2):
        op("ROIAlign", 3, [F, ROIS, BATCHES], {"pooled_h": 3, "pooled_w": 2, "sampling_ratio": ratio, "spatial_scale": 0.7, "mode": mode})
        for aligned in ("asymmetric", "half_pixel_for_nn", "half_pixel"):
            op("ROIAlign", 9, [F, ROIS, BATCHES], {"pooled_h": 3, "pooled_w": 2, "sampling_ratio": ratio, "spatial_scale": 0.7, "mode": mode, "aligned_mode": aligned})
for clock in (True, False):
    for ratio in (0, 2):
        op("ROIAlignRotated", 15, [F, C(np.array([[4, 4, 5, 3, 0.3], [3, 3, 2, 6, -1.1], [1, 7, 9, 9, 2]], np.float32)), C(ints(0, 1, 1))], {"pooled_h": 3, "pooled_w": 2, "sampling_ratio": ratio, "spatial_scale": 0.8, "clockwise_mode": clock})
REGIONS = C(np.array([[0, 0, 0, 5, 5], [1, 1, 2, 7, 8], [0, 2, 2, 3, 3]], np.float32))
op("ROIPooling", 2, [F, REGIONS], {"pooled_h": 3, "pooled_w": 2, "spatial_scale": 0.9, "method": "max"})
op("ROIPooling", 2, [F, C(np.array([[0, 0, 0, 0.5, 0.5], [1, 0.1, 0.2, 0.9, 1]], np.float32))], {"pooled_h": 3, "pooled_w": 2, "spatial_scale": 1.0, "method": "bilinear"})
op("PSROIPooling", 1, [random(2, 18, 9, 8), REGIONS], {"output_dim": 2, "group_size": 3, "spatial_scale": 0.85, "mode": "average", "spatial_bins_x": 1, "spatial_bins_y": 1})
op("PSROIPooling", 1, [random(2, 24, 9, 8), C(np.array([[0, 0, 0, 0.5, 0.5], [1, 0.1, 0.2, 0.9, 1]], np.float32))], {"output_dim": 4, "group_size": 3, "spatial_scale": 1.0, "mode": "bilinear", "spatial_bins_x": 3, "spatial_bins_y": 2})
op("DeformablePSROIPooling", 1, [random(2, 18, 9, 8), REGIONS], {"output_dim": 2, "group_size": 3, "spatial_scale": 0.9, "mode": "bilinear_deformable", "spatial_bins_x": 4, "spatial_bins_y": 4, "trans_std": 0.1, "part_size": 3})
op("DeformablePSROIPooling", 1, [random(2, 18, 9, 8), REGIONS, random(3, 2, 3, 3)], {"output_dim": 2, "group_size": 3, "spatial_scale": 0.9, "mode": "bilinear_deformable", "spatial_bins_x": 4, "spatial_bins_y": 4, "trans_std": 0.1, "part_size": 3})
op("RegionYolo", 1, [random(1, 75, 4, 4)], {"anchors": [10.0, 14, 23, 27, 37, 58], "axis": 1, "coords": 4, "classes": 20, "end_axis": 3, "num": 6, "do_softmax": False, "mask": [0, 1, 2]})
op("RegionYolo", 1, [random(1, 125, 4, 4)], {"axis": 1, "coords": 4, "classes": 20, "end_axis": 3, "num": 5, "do_softmax": True, "mask": []})
op("ReorgYolo", 2, [random(1, 8, 6, 6)], {"stride": [2]})

Y, UV = integers(1, 6, 8, 1, low=0, high=256, dtype=np.uint8), integers(1, 3, 4, 2, low=0, high=256, dtype=np.uint8)
U, V = UV[..., :1].copy(), UV[..., 1:].copy()
ONE = integers(1, 9, 8, 1, low=0, high=256, dtype=np.uint8)
for order in ("RGB", "BGR"):
    op(f"NV12to{order}", 8, [Y, UV])
    op(f"NV12to{order}", 8, [ONE])
    op(f"NV12to{order}", 8, [Y.astype(np.float32), UV.astype(np.float32)])
    op(f"I420to{order}", 8, [Y, U, V])
    op(f"I420to{order}", 8, [ONE])
    op(f"I420to{order}", 8, [ONE.astype(np.float32)])

#!/usr/bin/env python3
"""Quantises both exported models to int8 with onnxruntime and writes them beside the others.

    quantise_models.py

Products of convolutions and matrices are int8 (QDQ, weights per channel); ranges come from pictures of the training's
seeds. `hetero accuracy` measures what that costs.
"""
import argparse
import tempfile
from pathlib import Path

import cv2
import numpy as np
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.calibrate import CalibrationDataReader
from onnxruntime.quantization.shape_inference import quant_pre_process

from frames import TRAINING_SEEDS, samples

MODELS = Path(__file__).resolve().parent.parent / "models"
DETECTOR_SIZE = (320, 192)
CROP_SIZE = (32, 32)
SCENES = 24
FRAMES_PER_SCENE = 4


def pixels(picture, size):
    return cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR).transpose(2, 0, 1)[None].astype(np.float32)


def frames_and_crops():
    frames, crops = [], []
    for frame, objects, _ in samples(TRAINING_SEEDS[:SCENES], FRAMES_PER_SCENE):
        frames.append(pixels(frame, DETECTOR_SIZE))
        for thing in objects:
            x1, y1, x2, y2 = thing["box"]
            if not thing.get("ignore"):
                crops.append(pixels(frame[y1:y2, x1:x2], CROP_SIZE))
    return frames, crops


class Pictures(CalibrationDataReader):
    def __init__(self, pictures):
        self.pictures = iter(pictures)

    def get_next(self):
        picture = next(self.pictures, None)
        return None if picture is None else {"images": picture}


def quantise(name, pictures):
    target = MODELS / f"{name}_int8.onnx"
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(MODELS / f"{name}.onnx"), str(prepared), skip_symbolic_shape=True)
        quantize_static(str(prepared), str(target), Pictures(pictures), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, op_types_to_quantize=["Conv", "MatMul", "Gemm", "Relu", "Add"],
                        calibrate_method=CalibrationMethod.MinMax)
    print(f"{target}: {target.stat().st_size} bytes, ranges of {len(pictures)} pictures")


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    frames, crops = frames_and_crops()
    quantise("scene_detector", frames)
    quantise("scene_attributes", crops)


if __name__ == "__main__":
    main()

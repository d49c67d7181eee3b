#!/usr/bin/env python3
"""The models of tensor_models.py find what the demo's detector finds: test_tensor_models.py HETERO.

HETERO is the command line tool. Ends with 77 where the package onnx is missing.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
DEMO = FOLDER.parent / "demo"
sys.path.insert(0, str(DEMO))

import cv2  # noqa: E402

import compare  # noqa: E402
from scene import Scene  # noqa: E402

FRAMES = (20, 60, 150)  # of the demo's scene
THRESHOLD = 0.5
BOXES, CONFIDENCES = 0.11, 0.0011  # pixels of 640x384; as `hetero run` rounds them, in float32


def found(tool, picture, output, model, *options):
    """The objects that `hetero run` finds on a picture."""
    printed = subprocess.run([tool, "run", str(model), "--image", str(picture), "--threshold", str(THRESHOLD),
                              "--properties", "INFERENCE_PRECISION_HINT=f32", *options],
                             check=True, capture_output=True, text=True).stdout
    output.write_text(printed, encoding="utf-8")
    return compare.read(output, 640, 384)


def descriptor(folder, iou_threshold):
    """The detector's descriptor with another threshold of the suppression."""
    described = json.loads((DEMO / "models" / "scene_detector.json").read_text(encoding="utf-8"))
    described["output_postproc"][0]["iou_threshold"] = iou_threshold
    path = folder / "detector.json"
    path.write_text(json.dumps(described), encoding="utf-8")
    return path


def inside(lines):
    """Boxes cut at the border of the picture, which the SSD's graph does."""
    return [(stamp, [d._replace(box=[min(max(corner, 0), side) for corner, side in zip(d.box, (640, 384) * 2)])
                     for d in objects]) for stamp, objects in lines]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        import onnx  # noqa: F401
    except ImportError:
        print("skipped: Python's package onnx, which writes the models, is not installed")
        return 77
    tool, problems, objects = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, str(FOLDER / "tensor_models.py"), str(folder)], check=True)
        labels = (folder / "labels.txt").read_text(encoding="utf-8")
        (folder / "from_one.txt").write_text("background\n" + labels, encoding="utf-8")
        for index in FRAMES:
            picture = folder / "frame.png"
            cv2.imwrite(str(picture), Scene(424242, 640, 384, 300).render(index)[0])
            for model, iou, *options in (("yolo_v8", 0.7), ("yolo_v8_segmentation", 0.7),
                                         ("ssd", 0.45, "--labels-file", str(folder / "from_one.txt"))):
                expected = found(tool, picture, folder / "expected.txt", DEMO / "models" / "scene_detector.onnx",
                                 "--model-proc", str(descriptor(folder, iou)))
                actual = found(tool, picture, folder / "actual.txt", folder / f"{model}.onnx", *options)
                result = compare.compare(inside(expected), inside(actual), BOXES, CONFIDENCES, THRESHOLD)
                problems += [f"{model}: {problem.replace('frame 0', f'frame {index}')}" for problem in result.problems]
                objects += result.objects
    print(*problems, f"{objects} equal objects, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

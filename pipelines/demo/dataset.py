#!/usr/bin/env python3
"""Draws pictures of the scene and what is on them as datasets, as others draw them with a camera.

    dataset.py --output DIR

writes DIR/detection (COCO: images/ and annotations/instances_val.json) and DIR/colors (a folder of cropped objects
per colour). `hetero accuracy` measures the demo's models on them; no training has seen these scenes. Objects that
evaluate.py ignores are crowds, for which COCO has the same rule.
"""
import argparse
import json
import sys
from pathlib import Path

import cv2

from scene import Scene
from sprites import CLASSES

FIRST_SEED = 100000   # seeds below are for training
FRAMES = 300          # of a scene


def pictures(scenes, frames_per_scene):
    """(name, frame, objects) of frames that lie as far apart as there is room."""
    for seed in range(FIRST_SEED, FIRST_SEED + scenes):
        scene = Scene(seed, frames=FRAMES)
        for index in (number * FRAMES // frames_per_scene for number in range(frames_per_scene)):
            frame, objects = scene.render(index)
            yield f"{seed}_{index:03}", frame, objects


def coco_objects(objects, image_id, first_id):
    for number, thing in enumerate(objects, first_id):
        x1, y1, x2, y2 = thing["box"]
        yield {"id": number, "image_id": image_id, "category_id": 1 + CLASSES.index(thing["label"]),
               "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1), "iscrowd": int(thing.get("ignore", False))}


def store(path, picture):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), picture):
        sys.exit(f"dataset.py: cannot write {path}")


def write(output, scenes, frames_per_scene):
    detection = output / "detection"
    images, annotations, crops = [], [], 0
    for image_id, (name, frame, objects) in enumerate(pictures(scenes, frames_per_scene), 1):
        store(detection / "images" / f"{name}.jpg", frame)
        images.append({"id": image_id, "file_name": f"{name}.jpg", "width": frame.shape[1], "height": frame.shape[0]})
        annotations += coco_objects(objects, image_id, len(annotations) + 1)
        for number, thing in enumerate(objects):
            if thing.get("ignore"):
                continue
            x1, y1, x2, y2 = thing["box"]
            store(output / "colors" / thing["color"] / f"{name}_{number}.png", frame[y1:y2, x1:x2])
            crops += 1
    truth = {"images": images, "annotations": annotations,
             "categories": [{"id": number, "name": label} for number, label in enumerate(CLASSES, 1)]}
    path = detection / "annotations" / "instances_val.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(truth) + "\n", encoding="utf-8")
    print(f"{len(images)} pictures with {len(annotations)} objects in {detection}, {crops} crops in {output / 'colors'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--frames", type=int, default=10, help="of each scene")
    options = parser.parse_args()
    if options.scenes < 1 or not 1 <= options.frames <= FRAMES:
        parser.error(f"--scenes takes 1 and more, --frames 1 to {FRAMES}")
    write(options.output, options.scenes, options.frames)


if __name__ == "__main__":
    main()

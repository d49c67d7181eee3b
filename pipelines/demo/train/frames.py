"""Training pictures: scene frames as a camera, an encoder and a scaler leave them."""
import sys
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scene import Scene  # noqa: E402
from sprites import ATTRIBUTES, CLASSES  # noqa: E402,F401

TRAINING_SEEDS = range(0, 1000)
FIRST_EVALUATION_SEED = 100000
SCALERS = (cv2.INTER_LINEAR, cv2.INTER_AREA, cv2.INTER_NEAREST, cv2.INTER_CUBIC)


def through_camera(frame, rng):
    """Light, colour, focus, 4:2:0 chroma and compression, each by chance."""
    if rng.random() < 0.5:
        gains = rng.uniform(0.8, 1.2) * rng.uniform(0.95, 1.05, 3)
        frame = np.clip(frame * gains.astype(np.float32) + rng.uniform(-10, 10), 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        frame = cv2.GaussianBlur(frame, (0, 0), rng.uniform(0.4, 1.2))
    if rng.random() < 0.6:  # a JPEG subsamples the chroma as NV12 does
        quality = int(rng.integers(30, 96))
        frame = cv2.imdecode(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)
    elif rng.random() < 0.8:
        frame = cv2.cvtColor(cv2.cvtColor(frame, cv2.COLOR_BGR2YUV_I420), cv2.COLOR_YUV2BGR_I420)
    return frame


def samples(seeds, per_scene, augment=True, length=300):
    """Yields (frame, objects) of `per_scene` frames of every seed."""
    for seed in seeds:
        scene = Scene(seed, frames=length)
        rng = np.random.default_rng([seed, 3])
        for index in sorted(rng.choice(length, per_scene, replace=False)):
            frame, objects = scene.render(int(index))
            yield (through_camera(frame, rng) if augment else frame), objects, rng

#!/usr/bin/env python3
"""Trains the demo's colour classifier and writes it as ONNX."""
import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional

import frames
import detector_and_classifier as models
from inspect_model import session

SIDE = 32


def crop(frame, box, rng):
    """The box as a detector might give it, stretched to the model's input."""
    x1, y1, x2, y2 = box
    slack = np.array([x2 - x1, y2 - y1, x2 - x1, y2 - y1]) * rng.normal(0, 0.04, 4)
    height, width = frame.shape[:2]
    x1, y1, x2, y2 = np.round(np.array(box) + slack.clip(-12, 12)).astype(int)
    x1, y1 = max(0, min(x1, width - 4)), max(0, min(y1, height - 4))
    x2, y2 = max(x1 + 3, min(x2, width)), max(y1 + 3, min(y2, height))
    scaler = frames.SCALERS[rng.integers(len(frames.SCALERS))]
    return cv2.resize(frame[y1:y2, x1:x2], (SIDE, SIDE), interpolation=scaler)


def load(seeds, per_scene):
    pictures, labels = [], []
    for frame, objects, rng in frames.samples(seeds, per_scene):
        for thing in objects:
            if not thing.get("ignore"):
                pictures.append(crop(frame, thing["box"], rng).transpose(2, 0, 1))
                labels.append(frames.ATTRIBUTES.index(thing["color"]))
    return torch.from_numpy(np.stack(pictures)), torch.tensor(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--per-scene", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--output", default=str(Path(__file__).parent.parent / "models" / "scene_attributes.onnx"))
    options = parser.parse_args()
    if options.scenes > len(frames.TRAINING_SEEDS):
        parser.error(f"--scenes: at most {len(frames.TRAINING_SEEDS)}, the other seeds are not for training")
    print("settings", vars(options), "torch", torch.__version__, flush=True)
    torch.manual_seed(1)

    began = time.time()
    pictures, labels = load(frames.TRAINING_SEEDS[:options.scenes], options.per_scene)
    print(f"{len(pictures)} crops drawn in {time.time() - began:.0f} s", flush=True)
    model = models.Classifier(len(frames.ATTRIBUTES))
    print(sum(p.numel() for p in model.parameters()), "parameters", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), options.rate, weight_decay=0.02)
    batches = len(pictures) // options.batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=options.epochs * batches)
    for epoch in range(1, options.epochs + 1):
        began, total = time.time(), 0.0
        model.train()
        order = torch.randperm(len(pictures))
        for step in range(batches):
            chosen = order[step * options.batch:(step + 1) * options.batch]
            value = functional.cross_entropy(model(pictures[chosen].float()), labels[chosen], label_smoothing=0.02)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            schedule.step()
            total += value.item()
        print(f"epoch {epoch:2d}  loss {total / batches:.4f}  {time.time() - began:.0f} s", flush=True)

    models.export(model, (1, 3, SIDE, SIDE), options.output, "color")
    first = frames.FIRST_EVALUATION_SEED
    unseen, wanted = load(range(first, first + 40), 15)
    run = session(options.output).run
    given = [int(run(None, {"images": picture[None].numpy().astype(np.float32)})[0].argmax()) for picture in unseen]
    right = np.array(given) == wanted.numpy()
    print(f"unseen scenes: accuracy {right.mean():.4f} ({right.sum()} of {len(right)} crops)", flush=True)


if __name__ == "__main__":
    main()

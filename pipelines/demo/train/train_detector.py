#!/usr/bin/env python3
"""Trains the demo's detector and writes it as ONNX."""
import argparse
import math
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional

import frames
import detector_and_classifier as models
from inspect_model import decode, grid, session

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import evaluate  # noqa: E402

WIDTH, HEIGHT = 320, 192
SPANS = {8: (0, 50), 16: (40, 100), 32: (80, 1000)}  # longer side of the objects of a level, in pixels
REACH = 1.3                                          # cells around an object's centre that learn it
BACKGROUND, IGNORED = -1, -2


def targets(objects, scale, cells):
    """Box [x1, y1, x2, y2] and class of every cell."""
    boxes = np.zeros((len(cells), 4), np.float32)
    labels = np.full(len(cells), BACKGROUND, np.int8)
    middle = (cells[:, :2] + 0.5) * cells[:, 2:]
    smallest = np.full(len(cells), np.inf)
    span = np.array([SPANS[int(s)] for s in cells[:, 2]])
    for thing in objects:
        box = np.array(thing["box"], np.float32) * scale
        side, area = max(box[2] - box[0], box[3] - box[1]), (box[2] - box[0]) * (box[3] - box[1])
        inside = np.all((middle > box[:2]) & (middle < box[2:]), 1)
        if thing.get("ignore"):
            labels[inside & (labels == BACKGROUND)] = IGNORED
            continue
        near = np.all(np.abs(middle - (box[:2] + box[2:]) / 2) < REACH * cells[:, 2:], 1)
        chosen = near & inside & (span[:, 0] <= side) & (side < span[:, 1]) & (area < smallest)
        boxes[chosen], labels[chosen], smallest[chosen] = box, frames.CLASSES.index(thing["label"]), area
    return boxes, labels


def load(seeds, per_scene, cells):
    count = len(seeds) * per_scene
    pictures = np.empty((count, 3, HEIGHT, WIDTH), np.uint8)
    boxes = np.empty((count, len(cells), 4), np.float16)
    labels = np.empty((count, len(cells)), np.int8)
    for i, (frame, objects, rng) in enumerate(frames.samples(seeds, per_scene)):
        small = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=frames.SCALERS[rng.integers(len(frames.SCALERS))])
        pictures[i] = small.transpose(2, 0, 1)
        boxes[i], labels[i] = targets(objects, WIDTH / frame.shape[1], cells)
    return torch.from_numpy(pictures), torch.from_numpy(boxes), torch.from_numpy(labels)


def loss(output, boxes, labels, cells):
    """Box, objectness and class losses per object cell."""
    positive = labels >= 0
    count = max(1, int(positive.sum()))
    raw, wanted = output[positive], boxes[positive]
    place = cells.expand(len(output), -1, -1)[positive]
    centre = (raw[:, :2] + place[:, :2]) * place[:, 2:]
    half = torch.exp(raw[:, 2:4].clamp(max=4)) * place[:, 2:] / 2
    low, high = centre - half, centre + half
    shared = (torch.minimum(high, wanted[:, 2:]) - torch.maximum(low, wanted[:, :2])).clamp(min=0).prod(1)
    union = (2 * half).prod(1) + (wanted[:, 2:] - wanted[:, :2]).prod(1) - shared
    hull = (torch.maximum(high, wanted[:, 2:]) - torch.minimum(low, wanted[:, :2])).prod(1)
    overlap = shared / union
    box_loss = (1 - overlap + (hull - union) / hull).sum() / count

    presence = torch.zeros_like(output[..., 4])
    presence[positive] = overlap.detach()
    object_loss = functional.binary_cross_entropy_with_logits(output[..., 4], presence, reduction="none")
    object_loss = object_loss[labels != IGNORED].sum() / count
    kind = functional.one_hot(labels[positive].long(), output.shape[-1] - 5).float()
    class_loss = functional.binary_cross_entropy_with_logits(raw[:, 5:], kind, reduction="sum") / count
    return 3 * box_loss, object_loss, class_loss


def measure(path, seeds, per_scene):
    """Average precision per class of the ONNX file, on scenes it never saw."""
    model, cells = session(path), grid(WIDTH, HEIGHT)
    found = []
    for frame, objects, _ in frames.samples(seeds, per_scene):
        scale = frame.shape[1] / WIDTH
        picture = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR)
        output = model.run(None, {"images": picture.transpose(2, 0, 1)[None].astype(np.float32)})[0][0]
        boxes, scores, labels = decode(output, cells)
        detections = [evaluate.Detection(frames.CLASSES[k], float(s), (b * scale).tolist(), None)
                      for b, s, k in zip(boxes, scores, labels)]
        truths = [evaluate.Truth(o["label"], o["box"], o["color"], o.get("ignore", False)) for o in objects]
        found.append((detections, truths))
    return evaluate.score(found, frames.CLASSES)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--per-scene", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--output", default=str(Path(__file__).parent.parent / "models" / "scene_detector.onnx"))
    options = parser.parse_args()
    if options.scenes > len(frames.TRAINING_SEEDS):
        parser.error(f"--scenes: at most {len(frames.TRAINING_SEEDS)}, the other seeds are not for training")
    print("settings", vars(options), "torch", torch.__version__, flush=True)
    torch.manual_seed(1)

    cells = grid(WIDTH, HEIGHT)
    began = time.time()
    pictures, boxes, labels = load(frames.TRAINING_SEEDS[:options.scenes], options.per_scene, cells)
    print(f"{len(pictures)} pictures drawn in {time.time() - began:.0f} s", flush=True)
    cells = torch.from_numpy(cells)
    model = models.Detector(len(frames.CLASSES)).to(memory_format=torch.channels_last)
    print(sum(p.numel() for p in model.parameters()), "parameters", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), options.rate, weight_decay=0.01)
    steps = options.epochs * (len(pictures) // options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=steps, pct_start=0.1)
    for epoch in range(1, options.epochs + 1):
        began, sums = time.time(), np.zeros(3)
        model.train()
        order = torch.randperm(len(pictures))
        batches = len(pictures) // options.batch
        for step in range(batches):
            chosen = order[step * options.batch:(step + 1) * options.batch]
            pixels = pictures[chosen].float().to(memory_format=torch.channels_last)
            with torch.autocast("cpu", torch.bfloat16):
                output = model(pixels)
            parts = loss(output.float(), boxes[chosen].float(), labels[chosen], cells)
            optimizer.zero_grad()
            sum(parts).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 10)
            optimizer.step()
            schedule.step()
            sums += [part.item() for part in parts]
            if not math.isfinite(sums.sum()):
                sys.exit("the loss is not finite")
        box, presence, kind = sums / batches
        print(f"epoch {epoch:2d}  loss {box + presence + kind:.4f}  box {box:.4f}  object {presence:.4f}  "
              f"class {kind:.4f}  {time.time() - began:.0f} s", flush=True)
        torch.save(model.state_dict(), options.output + ".state")

    models.export(model, (1, 3, HEIGHT, WIDTH), options.output, "detections")
    Path(options.output + ".state").unlink()
    first = frames.FIRST_EVALUATION_SEED
    precision = measure(options.output, range(first, first + 40), 15)
    print("unseen scenes: " + "  ".join(f"{label} {value:.4f}" for label, value in precision.items()))
    print(f"unseen scenes: mAP@0.5 {evaluate.mean(precision):.4f}", flush=True)


if __name__ == "__main__":
    main()

"""Random COCO annotations and results by seed, with what an evaluation can get wrong.

Crowds, objects at and between the borders of COCO's ranges of area, pictures and categories without objects or
detections, doubled objects, scores and overlaps that are equal, overlaps that are just one of COCO's, more
detections than count. The same seed gives the same set with every release of Python.
"""
import hashlib
import json
import random

LIMITS = ([1, 10, 100], [1, 10, 100], [1, 3, 5], [2, 5, 20])


class Dice:
    """Draws by random() alone, whose sequence Python keeps from release to release."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, count):
        return int(self.random() * count)

    def between(self, low, high):
        return low + (high - low) * self.random()

    def chance(self, probability):
        return self.random() < probability

    def pick(self, values):
        return values[self.below(len(values))]

    def shuffle(self, values):
        for i in range(len(values) - 1, 0, -1):
            k = self.below(i + 1)
            values[i], values[k] = values[k], values[i]


def draw_box(dice):
    """Sides from 2 to 300 pixels, on a grid in half of the cases."""
    width, height = (2 * 150 ** dice.random() for _ in range(2))
    box = [dice.between(0, 200), dice.between(0, 200), width, height]
    return [float(max(1, round(v))) if i > 1 else float(round(v)) for i, v in enumerate(box)] if dice.chance(0.5) else box


def draw_object(dice, image_id, category_id):
    box = draw_box(dice)
    area = box[2] * box[3] * (dice.between(0.4, 1.0) if dice.chance(0.3) else 1.0)
    if dice.chance(0.1):
        area = dice.pick([1024.0, 9216.0, 1024, 9216])
    return {"image_id": image_id, "category_id": category_id, "bbox": box, "area": area, "iscrowd": int(dice.chance(0.12))}


def near(dice, box):
    """The same box, one that overlaps it by a simple fraction, or one beside it."""
    x, y, width, height = box
    kind = dice.below(4)
    if kind == 0:
        return list(box)
    if kind == 1:
        return [x, y, width * dice.pick([0.5, 0.55, 0.6, 0.75, 0.9, 0.95]), height]
    shift = dice.pick([0.02, 0.1, 0.3])
    return [x + width * dice.between(-shift, shift), y + height * dice.between(-shift, shift),
            width * dice.between(1 - shift, 1 + shift), height * dice.between(1 - shift, 1 + shift)]


def draw_score(dice, is_coarse):
    return dice.below(5) / 5 if is_coarse else dice.random()


def draw_set(seed):
    """(annotations, results, limits)"""
    dice = Dice(seed)
    category_ids = sorted({1 + dice.below(90) for _ in range(1 + dice.below(6))})
    image_ids = list({1 + dice.below(10000) for _ in range(1 + dice.below(12))})
    image_ids.sort()
    dice.shuffle(image_ids)
    is_coarse = dice.chance(0.4)
    with_objects = [c for c in category_ids if not dice.chance(0.2)] or category_ids[:1]
    objects, results = [], []
    for image_id in image_ids:
        if dice.chance(0.2):
            continue
        for category_id in with_objects:
            for _ in range(dice.below(4)):
                objects.append(draw_object(dice, image_id, category_id))
                if dice.chance(0.15):
                    objects.append({**objects[-1], "iscrowd": int(dice.chance(0.3))})
    for thing in objects:
        for _ in range(dice.pick([0, 1, 1, 1, 2, 6 if thing["iscrowd"] else 1])):
            category_id = thing["category_id"] if dice.chance(0.85) else dice.pick(category_ids)
            results.append({"image_id": thing["image_id"], "category_id": category_id, "bbox": near(dice, thing["bbox"]),
                            "score": draw_score(dice, is_coarse)})
    for _ in range(dice.below(20)):
        results.append({"image_id": dice.pick(image_ids), "category_id": dice.pick(category_ids), "bbox": draw_box(dice),
                        "score": draw_score(dice, is_coarse)})
    if objects and dice.chance(0.15):
        thing = dice.pick(objects)
        results += [{"image_id": thing["image_id"], "category_id": thing["category_id"], "bbox": near(dice, thing["bbox"]),
                     "score": draw_score(dice, is_coarse)} for _ in range(130)]
    if not results:
        results.append({"image_id": image_ids[0], "category_id": category_ids[0], "bbox": [1.0, 2.0, 30.0, 40.0], "score": 0.5})
    dice.shuffle(results)
    annotations = {"images": [{"id": i, "file_name": f"{i}.jpg", "width": 640, "height": 480} for i in image_ids],
                   "categories": [{"id": c, "name": f"category {c}"} for c in category_ids],
                   "annotations": [{"id": k, **thing} for k, thing in enumerate(objects, 1)]}
    return annotations, results, dice.pick(LIMITS)


def fingerprint(annotations, results):
    return hashlib.sha256(json.dumps([annotations, results], sort_keys=True).encode()).hexdigest()[:16]

#!/usr/bin/env python3
"""Tests of the demo's scene, its models' descriptions and the evaluation."""
import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import cv2  # noqa: E402

import compare  # noqa: E402
import dataset  # noqa: E402
import evaluate  # noqa: E402
from scene import Scene  # noqa: E402
from sprites import ATTRIBUTES, CLASSES  # noqa: E402

WIDTH, HEIGHT, FRAMES = 320, 192, 40


def truth_of(scene):
    frames = [{"index": i, "timestamp": scene.timestamp(i), "objects": scene.render(i)[1]}
              for i in range(scene.frames)]
    return {"classes": CLASSES, "attributes": ATTRIBUTES, "width": scene.width, "height": scene.height,
            "fps": scene.fps, "frames": frames}


def perfect(truth):
    """What a faultless pipeline would publish, ignored objects included."""
    lines = []
    for frame in truth["frames"]:
        objects = []
        for thing in frame["objects"]:
            x1, y1, x2, y2 = thing["box"]
            box = {"x_min": x1 / truth["width"], "x_max": x2 / truth["width"],
                   "y_min": y1 / truth["height"], "y_max": y2 / truth["height"]}
            objects.append({"detection": {"bounding_box": box, "confidence": 0.9, "label": thing["label"]},
                            "roi_type": thing["label"], "color": {"label": thing["color"], "confidence": 0.9}})
        lines.append({"objects": objects, "timestamp": frame["timestamp"] + 400})
    return lines


class SceneTest(unittest.TestCase):
    def test_same_seed_gives_the_same_bytes(self):
        one, two = Scene(7, WIDTH, HEIGHT, FRAMES), Scene(7, WIDTH, HEIGHT, FRAMES)
        for index in (0, 1, 39):
            (first, objects), (second, others) = one.render(index), two.render(index)
            self.assertEqual(first.tobytes(), second.tobytes())
            self.assertEqual(objects, others)

    def test_frames_do_not_depend_on_their_order(self):
        one, two = Scene(8, WIDTH, HEIGHT, FRAMES), Scene(8, WIDTH, HEIGHT, FRAMES)
        forth = [one.render(i)[0].tobytes() for i in range(5)]
        back = [two.render(i)[0].tobytes() for i in reversed(range(5))]
        self.assertEqual(forth, back[::-1])

    def test_seeds_differ(self):
        one, two = Scene(7, WIDTH, HEIGHT, FRAMES), Scene(8, WIDTH, HEIGHT, FRAMES)
        self.assertNotEqual(one.render(0)[0].tobytes(), two.render(0)[0].tobytes())

    def test_boxes_lie_in_the_frame(self):
        seen = set()
        for seed in range(5):
            for frame in truth_of(Scene(seed, WIDTH, HEIGHT, FRAMES))["frames"]:
                for thing in frame["objects"]:
                    x1, y1, x2, y2 = thing["box"]
                    self.assertTrue(0 <= x1 < x2 <= WIDTH and 0 <= y1 < y2 <= HEIGHT, thing)
                    self.assertTrue(0 <= thing["occluded"] < 1, thing)
                    seen.add(thing["label"])
        self.assertEqual(seen, set(CLASSES))


class EvaluateTest(unittest.TestCase):
    def setUp(self):
        self.truth = truth_of(Scene(7, WIDTH, HEIGHT, FRAMES))
        self.lines = perfect(self.truth)

    def figures(self, lines):
        """mAP and accuracy, by way of the files that the demo has."""
        with tempfile.TemporaryDirectory() as folder:
            detections, truth = Path(folder, "detections.json"), Path(folder, "scene.json")
            detections.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            truth.write_text(json.dumps(self.truth), encoding="utf-8")
            read = evaluate.read_truth(truth)
            frames = evaluate.align(evaluate.read_detections(detections, read["width"], read["height"]), read)
            precision, _, right, judged = evaluate.score(frames, read["classes"])
            return evaluate.mean(precision), right / judged if judged else 0.0

    def test_perfect_detections(self):
        precision, accuracy = self.figures(self.lines)
        self.assertAlmostEqual(precision, 1.0)
        self.assertEqual(accuracy, 1.0)

    def test_wrong_label_lowers_the_precision(self):
        lines = copy.deepcopy(self.lines)
        detection = next(o for l, f in zip(lines, self.truth["frames"]) for o, t in zip(l["objects"], f["objects"])
                         if not t.get("ignore"))["detection"]
        detection["label"] = next(c for c in CLASSES if c != detection["label"])
        self.assertLess(self.figures(lines)[0], 1.0)

    def test_wrong_colour_lowers_the_accuracy_only(self):
        lines = copy.deepcopy(self.lines)
        for line in lines:
            for entry in line["objects"]:
                entry["color"]["label"] = "none of them"
        precision, accuracy = self.figures(lines)
        self.assertAlmostEqual(precision, 1.0)
        self.assertEqual(accuracy, 0.0)

    def test_missing_and_doubled_detections_lower_the_precision(self):
        fewer, more = copy.deepcopy(self.lines), copy.deepcopy(self.lines)
        for line in fewer[::2]:
            line["objects"] = []
        for line in more:
            line["objects"] = [o for o in line["objects"] for _ in range(2)]
        self.assertLess(self.figures(fewer)[0], 0.8)
        self.assertLess(self.figures(more)[0], 0.99)

    def test_ignored_objects_count_neither_way(self):
        lines = copy.deepcopy(self.lines)
        for line, frame in zip(lines, self.truth["frames"]):
            line["objects"] = [o for o, t in zip(line["objects"], frame["objects"]) if not t.get("ignore")]
        self.assertAlmostEqual(self.figures(lines)[0], 1.0)
        self.assertAlmostEqual(self.figures(self.lines)[0], 1.0)

    def test_nothing_detected(self):
        for line in self.lines:
            line["objects"] = []
        self.assertEqual(self.figures(self.lines), (0.0, 0.0))

    def test_lines_and_frames_must_agree(self):
        with self.assertRaisesRegex(ValueError, "39 lines of detections for 40 frames"):
            self.figures(self.lines[:-1])
        with self.assertRaisesRegex(ValueError, "two lines of detections for frame 3"):
            self.figures(self.lines[:4] + self.lines[3:-1])
        self.lines[-1]["timestamp"] += 10 ** 9
        with self.assertRaisesRegex(ValueError, "no frame within half a frame"):
            self.figures(self.lines)

    def test_average_precision_interpolates_at_all_points(self):
        hit, miss = object(), None
        ranked = [(evaluate.Detection("car", 1 - i / 10, [0, 0, 1, 1], None), t)
                  for i, t in enumerate([hit, miss, hit, miss])]
        self.assertAlmostEqual(evaluate.average_precision(ranked, 4), 0.25 + 0.25 * 2 / 3)
        self.assertIsNone(evaluate.average_precision(ranked, 0))


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.expected = [(0, [self.detection("car", 0.9, 10), self.detection("car", 0.8, 60)]),
                         (33, [self.detection("ball", 0.7, 20)])]
        self.actual = copy.deepcopy(self.expected)

    @staticmethod
    def detection(label, confidence, x, attribute="red"):
        return evaluate.Detection(label, confidence, [x, 10, x + 20, 30], attribute)

    def problems(self):
        return compare.compare(self.expected, self.actual, 0.5, 0.01, 0.5).problems

    def test_what_lies_within_the_tolerances_is_the_same(self):
        self.actual[0][1][:] = [self.detection("car", 0.805, 60.4), self.detection("car", 0.9, 10)]
        found = compare.compare(self.expected, self.actual, 0.5, 0.01, 0.5)
        self.assertEqual((found.problems, found.objects), ([], 3))
        self.assertAlmostEqual(found.box, 0.4)
        self.assertAlmostEqual(found.confidence, 0.005)

    def test_other_places_labels_and_colours(self):
        for other in (self.detection("ball", 0.7, 20.6), self.detection("car", 0.7, 20), self.detection("ball", 0.7, 20, "blue")):
            self.actual[1][1][:] = [other]
            expected, actual = self.problems()
            self.assertRegex(expected, "^frame 1: only the expected run has ball red 0.7000 at .20")
            self.assertRegex(actual, f"^frame 1: only the actual run has {other.label} {other.attribute}")

    def test_other_confidences(self):
        self.actual[1][1][:] = [self.detection("ball", 0.72, 20)]
        self.assertEqual(self.problems(), ["frame 1: ball has a confidence of 0.7200 instead of 0.7000"])

    def test_missing_and_doubled_detections(self):
        del self.actual[0][1][1]
        self.actual[1][1].append(self.detection("ball", 0.7, 20))
        self.assertEqual(len(self.problems()), 2)

    def test_the_threshold_decides_about_one_beside_it(self):
        self.actual[1][1].append(self.detection("car", 0.505, 90))
        self.assertEqual(self.problems(), [])

    def test_runs_of_other_frames_or_without_objects(self):
        with self.assertRaisesRegex(ValueError, "1 frames instead of 2"):
            compare.compare(self.expected, self.actual[:1], 0.5, 0.01, 0.5)
        with self.assertRaisesRegex(ValueError, "frame 1 is of 34 ns instead of 33 ns"):
            compare.compare(self.expected, [self.actual[0], (34, [])], 0.5, 0.01, 0.5)
        with self.assertRaisesRegex(ValueError, "no object is in both runs"):
            compare.compare([(0, [])], [(0, [])], 0.5, 0.01, 0.5)

    def test_what_hetero_run_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "printed")
            path.write_text("truck            0.9560  (389.8, 211.2) - (580.1, 303.3)\n", encoding="utf-8")
            truck = evaluate.Detection("truck", 0.956, [389.8, 211.2, 580.1, 303.3], None)
            self.assertEqual(compare.read(path, 640, 384), [(0, [truck])])
            path.write_text("nothing found\n", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "printed:1: not a detection"):
                compare.read(path, 640, 384)


class DatasetTest(unittest.TestCase):
    def test_coco_and_crops_are_the_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            dataset.write(Path(folder), 2, 7)
            truth = json.loads(Path(folder, "detection/annotations/instances_val.json").read_text(encoding="utf-8"))
            pictures = sorted(Path(folder, "detection/images").iterdir())
            crops = list(Path(folder, "colors").rglob("*.png"))
            self.assertEqual([image["file_name"] for image in truth["images"]], [path.name for path in pictures])
            self.assertEqual(len(pictures), 14)
            self.assertEqual([category["name"] for category in truth["categories"]], CLASSES)
            self.assertTrue({path.parent.name for path in crops} <= set(ATTRIBUTES))
            first = Scene(dataset.FIRST_SEED).render(0)[1]
            self.assertEqual([[x, y, x + w, y + h] for a in truth["annotations"] if a["image_id"] == 1 for x, y, w, h in [a["bbox"]]],
                             [thing["box"] for thing in first])
            self.assertEqual(sum(not a["iscrowd"] for a in truth["annotations"]), len(crops))
            frame = cv2.imread(str(pictures[0]))
            self.assertEqual(frame.shape, (384, 640, 3))


class ModelProcTest(unittest.TestCase):
    def test_labels_are_the_scenes(self):
        for name, labels in (("scene_detector", CLASSES), ("scene_attributes", ATTRIBUTES)):
            text = (FOLDER / "models" / f"{name}.json").read_text(encoding="utf-8")
            self.assertEqual(json.loads(text)["output_postproc"][0]["labels"], labels)


if __name__ == "__main__":
    unittest.main()

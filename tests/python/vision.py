"""VisionModel: pictures from every library, regions, streams, tracking, inspection."""
import pathlib
import tempfile
import threading
import unittest

import cv2
import numpy as np
from onnx import TensorProto, helper

import hetero
import small_models
from hetero.exceptions import InvalidArgument, NotFound

ROOT = pathlib.Path(__file__).parents[2]
DETECTOR = small_models.demo_model()
DESCRIPTOR = DETECTOR.with_suffix(".json")


def planes_of(bgr, fourcc):
    """A picture as I420 by OpenCV, or NV12 from it: (height * 3 / 2, width)."""
    i420 = cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV_I420)
    if fourcc == "I420":
        return i420
    height, width = bgr.shape[:2]
    chroma = i420[height:].reshape(2, -1)
    return np.concatenate([i420[:height], np.stack([chroma[0], chroma[1]], axis=1).reshape(height // 2, width)])


def raw_model(size=8):
    """The picture as the model gets it: an identity that a descriptor calls a picture."""
    shape = (1, 3, size, size)
    return small_models.model_bytes([helper.make_node("Identity", ["x"], ["y"])], {"x": (TensorProto.FLOAT, shape)}, {"y": (TensorProto.FLOAT, shape)})


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = hetero.VisionModel(DETECTOR, model_proc=DESCRIPTOR)
        cls.bgr = cv2.imread(str(ROOT / "examples/python/street.jpg"))
        cls.want = cls.model(cls.bgr).objects

    def check(self, picture, tolerance=0.0, **how):
        found = self.model(picture, **how).objects
        found, want = (rows[np.argsort(rows["box"][:, 0])] for rows in (found, self.want))
        self.assertEqual(found["label"].tolist(), want["label"].tolist())
        np.testing.assert_allclose(found["box"], want["box"], atol=tolerance)
        np.testing.assert_allclose(found["score"], want["score"], atol=tolerance and 0.05)

    def test_something_is_found(self):
        self.assertGreater(len(self.want), 2)
        self.assertEqual(self.want.dtype["box"].shape, (4,))
        self.assertTrue(((self.want["score"] > 0) & (self.want["score"] <= 1)).all())
        self.assertTrue(set(self.want["label"]) <= set(self.model.labels))

    def test_formats(self):
        bgr, rgb = self.bgr, np.ascontiguousarray(self.bgr[..., ::-1])
        alpha = np.full((*bgr.shape[:2], 1), 255, np.uint8)
        self.check(bgr, format="BGR")
        self.check(rgb, format="RGB")
        self.check(np.concatenate([bgr, alpha], axis=2))
        for name, pixels in (("BGRA", bgr), ("BGRx", bgr), ("RGBA", rgb), ("RGBx", rgb)):
            self.check(np.concatenate([pixels, alpha], axis=2), format=name)
        self.check(bgr.transpose(2, 0, 1))
        self.check(np.ascontiguousarray(bgr.transpose(2, 0, 1)), format="BGRP")
        self.check(np.ascontiguousarray(rgb.transpose(2, 0, 1)), format="RGBP")
        self.check(np.ascontiguousarray(rgb[..., [1, 2, 0]].transpose(2, 0, 1)), format="GBR")
        for name in ("I420", "NV12"):
            self.check(planes_of(bgr, name), 8, format=name)
        grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
        self.assertEqual(self.model(grey).objects["label"].tolist(), self.model(grey[..., None], format="GRAY8").objects["label"].tolist())

    def test_planes(self):
        height, width = self.bgr.shape[:2]
        nv12 = planes_of(self.bgr, "NV12")
        padded = np.zeros((height * 3 // 2, width + 64), np.uint8)
        padded[:, :width] = nv12
        self.check((nv12[:height], nv12[height:]), 8, format="NV12")
        self.check((padded[:height, :width], padded[height:, :width]), 8, format="NV12")
        self.check([nv12[:height], nv12[height:].reshape(height // 2, width // 2, 2)], 8, format="NV12")
        i420 = planes_of(self.bgr, "I420")
        quarter = (height // 2, width // 2)
        chroma = i420[height:].reshape(2, *quarter)
        self.check((i420[:height], chroma[0], chroma[1]), 8, format="I420")

    def test_memory_with_gaps(self):
        big = np.zeros((self.bgr.shape[0] + 10, self.bgr.shape[1] + 20, 3), np.uint8)
        part = big[5:-5, 7:-13]
        part[:] = self.bgr
        self.check(part)
        self.check(self.bgr[::-1, ::-1][::-1, ::-1])
        self.check(np.asfortranarray(self.bgr))
        self.check(np.repeat(self.bgr, 2, axis=1)[:, ::2])

    def test_libraries(self):
        self.check(hetero.Tensor(self.bgr), format="BGR")
        self.check(memoryview(self.bgr), format="BGR")
        self.check(hetero.Tensor(np.ascontiguousarray(self.bgr[..., ::-1])))

    def test_pil(self):
        try:
            import PIL.Image
        except ImportError:
            self.skipTest("PIL is not installed")
        image = PIL.Image.fromarray(self.bgr[..., ::-1])
        self.check(image)
        self.check(image.convert("RGBA"))
        grey = self.model(image.convert("L")).objects["label"].tolist()
        self.assertEqual(grey, self.model(np.asarray(image.convert("L"))).objects["label"].tolist())
        self.assertIsInstance(self.model(image.convert("P")), hetero.VisionResult)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        rgb = torch.from_numpy(np.ascontiguousarray(self.bgr[..., ::-1]))
        self.check(rgb)
        self.check(rgb.permute(2, 0, 1))

    def test_region(self):
        height, width = self.bgr.shape[:2]
        self.check(self.bgr, region=(0, 0, width, height))
        box = self.want["box"][0]
        part = (max(box[0] - 40, 0), max(box[1] - 40, 0), box[2] - box[0] + 80, box[3] - box[1] + 80)
        found = self.model(self.bgr, region=part).objects
        self.assertTrue(len(found))
        for bad in ((0, 0, 5), (0, 0, 0, 0), (width, 0, 5, 5), (0, 0, float("nan"), 4), "abcd", 3):
            with self.subTest(bad=bad), self.assertRaises((TypeError, ValueError, RuntimeError)):
                self.model(self.bgr, region=bad)

    def test_threshold(self):
        most = self.want["score"].max()
        found = self.model(self.bgr, threshold=float(most) - 1e-4).objects
        self.assertEqual(len(found), 1)
        for bad in (-0.1, 1.5, float("nan")):
            with self.assertRaisesRegex(InvalidArgument, "threshold"):
                self.model(self.bgr, threshold=bad)

    def test_bad_pictures(self):
        for bad, how, message in (
                (np.zeros((5, 5, 3), np.float32), {}, "uint8, not float32"), (np.zeros((5,), np.uint8), {}, "no picture by its shape"),
                (np.zeros((5, 5, 7), np.uint8), {}, "no picture by its shape"), (np.zeros((0, 5, 3), np.uint8), {}, "no pixels"),
                (np.zeros((5, 5, 3), np.uint8), {"format": "RGBA"}, r"\(height, width, 4\)"), (np.zeros((5, 5, 3), np.uint8), {"format": "JPEG"}, "JPEG"),
                (np.zeros((7, 8), np.uint8), {"format": "NV12"}, r"height \* 3 / 2"), ((np.zeros((4, 4), np.uint8),), {"format": "NV12"}, "2 planes, not 1"),
                ((np.zeros((4, 4), np.uint8), np.zeros((4, 4), np.uint8)), {"format": "NV12"}, "plane 1"),
                ([np.zeros((4, 4), np.uint8)], {}, "format="), (np.zeros((6, 4), np.uint8), {"format": "NV12", "matrix": "bt2100"}, "bt601")):
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                self.model(bad, **how)
        for bad in (None, "picture.jpg", 3, object()):
            with self.subTest(bad=bad), self.assertRaises((TypeError, ValueError)):
                self.model(bad)
        self.check(self.bgr)

    def test_exact_pixels(self):
        """What the model gets, for formats whose conversion is exact: nothing is read from a wrong place."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "raw.onnx")
            path.write_bytes(raw_model())
            model = hetero.VisionModel(path, raw=True, preparation={"reverse_input_channels": "NO"})
            big = np.random.default_rng(3).integers(0, 256, (20, 30, 3), dtype=np.uint8)
            picture = big[4:12, 9:17]
            values = model(picture).tensors[0].values.reshape(3, 8, 8)
            order = [0, 1, 2] if np.allclose(values, picture.transpose(2, 0, 1) * (values.max() / picture.max()), atol=1e-3) else [2, 1, 0]
            scale = values.max() / picture.max()
            np.testing.assert_allclose(values, picture.transpose(2, 0, 1)[order] * scale, atol=1e-3)
            planar = np.ascontiguousarray(picture.transpose(2, 0, 1))
            np.testing.assert_allclose(model(planar, format="BGRP").tensors[0].values.reshape(3, 8, 8), values, atol=1e-3)
            np.testing.assert_allclose(model(big, region=(9, 4, 8, 8)).tensors[0].values.reshape(3, 8, 8), values, atol=1e-3)

    def test_memory_is_kept_until_the_end(self):
        pending = [self.model.start(self.bgr.copy()) for _ in range(3)]
        junk = [np.zeros_like(self.bgr) for _ in range(10)]
        for one in pending:
            np.testing.assert_array_equal(one.wait().objects["box"], self.want["box"])
            self.assertTrue(one.is_done())
            one.wait()
        del junk

    def test_results_that_nobody_waits_for(self):
        for _ in range(5):
            self.model.start(self.bgr)
        self.check(self.bgr)

    def test_stream(self):
        pictures = [self.bgr, np.zeros_like(self.bgr), self.bgr[:, ::-1].copy(), self.bgr]
        for requests in (0, 1, 3, 10):
            results = list(self.model.stream(pictures, requests=requests))
            self.assertEqual([id(picture) for picture, _ in results], [id(picture) for picture in pictures])
            np.testing.assert_array_equal(results[3][1].boxes, self.want["box"])
            self.assertEqual(len(results[1][1]), len(self.model(pictures[1])))
        self.assertEqual(list(self.model.stream([])), [])

    def test_threads(self):
        failures = []

        def work():
            try:
                for _ in range(10):
                    self.check(self.bgr)
            except Exception as error:
                failures.append(error)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_result(self):
        result = self.model(self.bgr)
        self.assertEqual(result.picture_size, (self.bgr.shape[1], self.bgr.shape[0]))
        self.assertEqual(len(result), len(self.want))
        self.assertEqual([row["label"] for row in result], result.labels.tolist())
        np.testing.assert_array_equal(np.asarray(result)["box"], result.boxes)
        np.testing.assert_array_equal(result[0]["score"], result.scores[0])
        self.assertIn("objects", repr(result))
        self.assertEqual((len(result.landmarks), len(result.masks), len(result.rotations)), (len(result),) * 3)
        self.assertEqual((result.masks[0], result.rotations[0], len(result.landmarks[0].points)), (None, 0.0, 0))
        result.objects["object_id"] = 5
        self.assertEqual(result.objects["object_id"].tolist(), [5] * len(result))
        self.assertEqual(self.model(np.zeros((40, 40, 3), np.uint8), threshold=0.99).objects.dtype, self.want.dtype)

    def test_classifier(self):
        model = hetero.VisionModel(small_models.demo_model("scene_attributes.onnx"), model_proc=small_models.demo_model("scene_attributes.json"))
        x_min, y_min, x_max, y_max = (float(side) for side in self.want["box"][0])
        found = model(self.bgr, region=(x_min, y_min, x_max - x_min, y_max - y_min)).classifications
        self.assertTrue(found and all(0 <= one.score <= 1 and one.label for one in found))

    def test_tracker(self):
        tracker = hetero.Tracker()
        first = tracker.update(self.model(self.bgr)).objects
        second = tracker.update(self.model(self.bgr)).objects
        self.assertEqual(sorted(first["object_id"]), list(range(1, len(first) + 1)))
        self.assertEqual(first["object_id"].tolist(), second["object_id"].tolist())
        tracker.reset()
        with self.assertRaisesRegex(InvalidArgument, "zero-term.*byte-track, oc-sort"):
            hetero.Tracker("psychic")
        with self.assertRaises(InvalidArgument):
            hetero.Tracker("zero-term", config="no_such_key=1")
        with self.assertRaises(ValueError):
            tracker.update(self.model(self.bgr), features=[[1.0]] * (len(self.want) + 1))

    def test_trackers_that_take_low_scores(self):
        for name in ("byte-track", "oc-sort"):
            tracker = hetero.Tracker(name, config="track_threshold=0.93,new_threshold=0.93,low_threshold=0.001")
            result = self.model(self.bgr, threshold=0.01)
            scores = result.objects["score"].copy()
            self.assertTrue((scores < 0.93).any() and (scores >= 0.93).any(), scores)
            kept = tracker.update(result)
            self.assertIs(kept, result)
            self.assertEqual(kept.objects["score"].tolist(), scores[scores >= np.float32(0.93)].tolist())
            self.assertEqual(sorted(kept.objects["object_id"]), list(range(1, len(kept) + 1)))
            for of_objects in (kept.landmarks, kept.masks, kept.rotations):
                self.assertEqual(len(of_objects), len(kept))
            # What was sure once goes on with any score.
            again = self.model(self.bgr, threshold=0.01)
            again.objects["score"] = 0.3
            self.assertEqual(sorted(tracker.update(again).objects["object_id"]), list(range(1, len(kept) + 1)))
        with self.assertRaisesRegex(InvalidArgument, "byte-track"):
            hetero.Tracker("zero-term", config="track_threshold=0.5")
        with self.assertRaisesRegex(ValueError, "truth values"):
            result.keep(np.ones(len(result) + 1, bool))


class Models(unittest.TestCase):
    def test_inspect(self):
        model = hetero.VisionModel(DETECTOR, model_proc=DESCRIPTOR)
        told = model.inspect()
        self.assertTrue(told["decided"])
        self.assertEqual(told["inputs"][0]["shape"][1], 3)
        self.assertIn("pictures", model.inspect(text=True))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "add.onnx")
            path.write_bytes(small_models.picture_sum(8, 8))
            undecided = hetero.inspect(path)
            self.assertIn("reason", undecided)
        with self.assertRaises(NotFound):
            hetero.inspect("nowhere.onnx")

    def test_options(self):
        with self.assertRaisesRegex(TypeError, "'label'"):
            hetero.VisionModel(DETECTOR, label=["a"])
        with self.assertRaises(NotFound):
            hetero.VisionModel(DETECTOR, model_proc="nowhere.json")
        with self.assertRaisesRegex(InvalidArgument, "did you mean"):
            hetero.VisionModel(DETECTOR, model_proc=DESCRIPTOR, config={"NUM_STREEMS": 1})
        model = hetero.VisionModel(str(DETECTOR), "HETERO:CPU,REF", model_proc=str(DESCRIPTOR), config={"PERFORMANCE_HINT": "THROUGHPUT"})
        self.assertEqual(model.compiled_model.get_property("PERFORMANCE_HINT"), "THROUGHPUT")
        self.assertEqual(len(model.input_size), 2)
        self.assertIn("VisionModel", repr(model))

    def test_labels(self):
        path = small_models.real_file(self, "models/onnx/yolox_nano.onnx")
        picture = np.zeros((100, 100, 3), np.uint8)
        labels = [f"class {number}" for number in range(80)]
        model = hetero.VisionModel(path, labels=labels)
        self.assertEqual(model.labels, labels)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(labels))
            file.flush()
            self.assertEqual(hetero.VisionModel(path, labels=file.name).labels, labels)
        self.assertEqual(model(picture).objects.dtype["label"], np.dtype("U8"))


if __name__ == "__main__":
    small_models.main()

"""Programs as OpenVINO's Python samples are: the same calls in the same order, with hetero in the place of openvino."""
import logging
import pathlib
import statistics
import time
import unittest

import cv2
import numpy as np

import hetero as ov
import small_models

STREET = pathlib.Path(__file__).parents[2] / "examples/python/street.jpg"


class Samples(unittest.TestCase):
    def classifier(self):
        return str(small_models.demo_model("scene_attributes.onnx"))

    def test_hello_classification(self):
        image = cv2.imread(str(STREET))
        input_tensor = np.expand_dims(image, 0)
        core = ov.Core()
        model = core.read_model(self.classifier())
        self.assertEqual(len(model.inputs), 1)
        ppp = ov.preprocess.PrePostProcessor(model)
        ppp.input().tensor().set_shape(input_tensor.shape).set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
        ppp.input().preprocess().resize(ov.preprocess.ResizeAlgorithm.RESIZE_LINEAR)
        ppp.input().model().set_layout(ov.Layout("NCHW"))
        ppp.output(0).tensor().set_element_type(ov.Type.f32)
        model = ppp.build()
        compiled_model = ov.compile_model(model, "CPU")
        results = compiled_model.infer_new_request({0: input_tensor})
        predictions = next(iter(results.values()))
        top = np.argsort(predictions.reshape(-1))[-2:][::-1]
        self.assertEqual(len(top), 2)
        self.assertTrue(np.isfinite(predictions).all())

    def test_classification_async(self):
        core = ov.Core()
        model = core.read_model(self.classifier())
        ppp = ov.preprocess.PrePostProcessor(model)
        ppp.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
        ppp.input().model().set_layout(ov.Layout("NCHW"))
        model = ppp.build()
        _, height, width, _ = model.input().shape
        images = [cv2.resize(cv2.imread(str(STREET)), (width, height)) for _ in range(6)]
        compiled_model = core.compile_model(model, "CPU")
        infer_queue = ov.AsyncInferQueue(compiled_model)
        seen = {}

        def completion_callback(infer_request: ov.InferRequest, path: str) -> None:
            seen[path] = next(iter(infer_request.results.values())).copy()
        infer_queue.set_callback(completion_callback)
        for number, image in enumerate(images):
            infer_queue.start_async({0: np.expand_dims(image, 0)}, f"image {number}")
        infer_queue.wait_all()
        self.assertEqual(len(seen), 6)
        for values in seen.values():
            np.testing.assert_array_equal(values, seen["image 0"])

    def test_hello_query_device(self):
        core = ov.Core()
        lines = []
        for device in core.available_devices:
            for key in core.get_property(device, "SUPPORTED_PROPERTIES"):
                if key not in ("SUPPORTED_PROPERTIES",):
                    value = core.get_property(device, key)
                    lines.append(f"{key}: {', '.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")
        self.assertGreater(len(lines), 20)

    def test_hello_reshape(self):
        image = cv2.imread(str(STREET))[:256, :320]
        input_tensor = np.expand_dims(image, 0)
        core = ov.Core()
        model = core.read_model(small_models.picture_sum(64, 64))
        n, h, w, c = input_tensor.shape
        model.reshape({model.input().get_any_name(): ov.PartialShape((n, c, h, w))})
        ppp = ov.preprocess.PrePostProcessor(model)
        ppp.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
        ppp.input().model().set_layout(ov.Layout("NCHW"))
        ppp.output().tensor().set_element_type(ov.Type.f32)
        compiled_model = core.compile_model(ppp.build(), "CPU")
        predictions = next(iter(compiled_model.infer_new_request({0: input_tensor}).values()))
        np.testing.assert_allclose(predictions, small_models.picture_sum_of(input_tensor.transpose(0, 3, 1, 2)), rtol=1e-4)

    def test_throughput_benchmark(self):
        logging.getLogger().info("Build %s", ov.__version__)
        compiled_model = ov.Core().compile_model(self.classifier(), "CPU", {"PERFORMANCE_HINT": "THROUGHPUT"})
        ireqs = ov.AsyncInferQueue(compiled_model)
        for ireq in ireqs:
            for model_input in compiled_model.inputs:
                tensor = ireq.get_tensor(model_input)
                self.assertNotEqual(tensor.get_size(), 0)
                tensor.data[:] = np.random.default_rng(0).uniform(0, 1, list(tensor.shape)).astype(tensor.element_type.to_dtype())
        for _ in range(len(ireqs)):
            ireqs.start_async()
        ireqs.wait_all()
        latencies, in_fly = [], set()
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end or len(latencies) + len(in_fly) < 10:
            idle_id = ireqs.get_idle_request_id()
            if idle_id in in_fly:
                latencies.append(ireqs[idle_id].latency)
            else:
                in_fly.add(idle_id)
            ireqs.start_async()
        ireqs.wait_all()
        latencies += [ireqs[number].latency for number in in_fly]
        self.assertGreater(statistics.median(latencies), 0)

    def test_sync_benchmark(self):
        compiled_model = ov.Core().compile_model(self.classifier(), "CPU", {"PERFORMANCE_HINT": "LATENCY"})
        ireq = compiled_model.create_infer_request()
        for model_input in compiled_model.inputs:
            ireq.get_tensor(model_input).data[:] = 0.5
        for _ in range(10):
            ireq.infer()
        self.assertGreater(ireq.latency, 0)


if __name__ == "__main__":
    small_models.main()

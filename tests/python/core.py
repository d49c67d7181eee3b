"""Core: reading, compiling, properties, queries, export."""
import io
import os
import pathlib
import tempfile
import unittest

import numpy as np
import onnx

import hetero
import small_models
from hetero import properties
from hetero.exceptions import InvalidArgument, NotFound, NotSupported, ParseError
from hetero.properties import device, hint, streams


class Reading(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.bytes = small_models.add_one()
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def check(self, model):
        np.testing.assert_array_equal(self.core.compile_model(model, "CPU")(self.x)["y"], self.x + 1)

    def test_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "å model.onnx")
            pathlib.Path(path).write_bytes(self.bytes)
            self.check(self.core.read_model(path))
            self.check(self.core.read_model(pathlib.Path(path)))
            self.check(path)
            self.check(pathlib.Path(path))
            self.assertEqual(hetero.compile_model(path, "CPU")(self.x)[0].shape, (2, 3))

    def test_content(self):
        self.check(self.core.read_model(self.bytes))
        self.check(self.core.read_model(bytearray(self.bytes)))
        self.check(self.core.read_model(io.BytesIO(self.bytes)))
        self.check(self.core.read_model(onnx.load_from_string(self.bytes)))
        self.check(self.bytes)

    def test_openvino_ir(self):
        xml = small_models.real_file(self, "models/ir/person-vehicle-bike-detection-2000/FP16-INT8/person-vehicle-bike-detection-2000.xml")
        weights = xml.with_suffix(".bin")
        one = self.core.read_model(xml, weights)
        other = self.core.read_model(xml.read_bytes(), weights.read_bytes())
        self.assertEqual([op.get_friendly_name() for op in one.get_ops()], [op.get_friendly_name() for op in other.get_ops()])
        with self.assertRaisesRegex(NotSupported, "beside the model"):
            self.core.read_model(xml, "/elsewhere/weights.bin")

    def test_failures(self):
        with self.assertRaisesRegex(NotFound, "nowhere.onnx"):
            self.core.read_model("nowhere.onnx")
        with self.assertRaises(ParseError):
            self.core.read_model(b"this is no model")
        with self.assertRaises(TypeError):
            self.core.read_model(3)
        with self.assertRaises(TypeError):
            self.core.compile_model(None, "CPU")
        self.assertTrue(issubclass(NotFound, RuntimeError) and issubclass(NotFound, LookupError))


class Properties(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.model = self.core.read_model(small_models.add_one())

    def test_every_supported_property_reads(self):
        for name in self.core.available_devices:
            for key in self.core.get_property(name, properties.supported_properties):
                with self.subTest(device=name, property=key):
                    self.core.get_property(name, key)

    def test_types_of_values(self):
        get = self.core.get_property
        self.assertIsInstance(get("CPU", "SUPPORTED_PROPERTIES"), list)
        self.assertIsInstance(get("CPU", properties.num_streams), int)
        self.assertIs(get("CPU", properties.enable_profiling()), False)
        self.assertEqual(get("CPU", hint.performance_mode), hint.PerformanceMode.LATENCY)
        self.assertEqual(get("CPU", hint.performance_mode), "LATENCY")
        self.assertEqual(get("CPU", hint.inference_precision), hetero.Type.dynamic)
        self.assertEqual(get("CPU", properties.range_for_streams)[0], 1)
        self.assertIsInstance(get("CPU", device.full_name), str)
        self.assertIn("FP32", get("CPU", device.capabilities))
        self.assertEqual(get("CPU", properties.execution_devices), ["CPU"])

    def test_forms_of_configurations(self):
        for config in (
                {"NUM_STREAMS": 2, "PERF_COUNT": True}, {"NUM_STREAMS": "2", "PERF_COUNT": "YES"},
                {properties.num_streams: 2, properties.enable_profiling: True}, {streams.num: 2, properties.enable_profiling(): True},
                [properties.num_streams(2), properties.enable_profiling(True)]):
            with self.subTest(config=config):
                compiled = self.core.compile_model(self.model, "CPU", config)
                self.assertEqual(compiled.get_property("NUM_STREAMS"), 2)
                self.assertIs(compiled.get_property(properties.enable_profiling), True)
        compiled = self.core.compile_model(self.model, "CPU", {hint.performance_mode: hint.PerformanceMode.THROUGHPUT,
                                                               hint.inference_precision: hetero.Type.f32})
        self.assertEqual(compiled.get_property(hint.performance_mode), hint.PerformanceMode.THROUGHPUT)
        self.assertEqual(compiled.get_property("INFERENCE_PRECISION_HINT"), hetero.Type.f32)
        self.assertGreaterEqual(compiled.get_property(properties.optimal_number_of_infer_requests), 1)

    def test_defaults_of_a_device(self):
        self.core.set_property("CPU", {"PERF_COUNT": True})
        try:
            self.assertIs(self.core.get_property("CPU", "PERF_COUNT"), True)
            self.assertIs(self.core.compile_model(self.model, "CPU").get_property("PERF_COUNT"), True)
        finally:
            self.core.set_property(device_name="CPU", properties={"PERF_COUNT": False})
        self.core.set_property({"EXCLUSIVE_ASYNC_REQUESTS": False})
        self.core.set_property(properties.enable_profiling(False))
        self.assertIs(self.core.get_property("CPU", "PERF_COUNT"), False)

    def test_failures(self):
        with self.assertRaisesRegex(InvalidArgument, "did you mean NUM_STREAMS"):
            self.core.compile_model(self.model, "CPU", {"NUM_STREEMS": 2})
        with self.assertRaisesRegex(InvalidArgument, "NUM_STREAMS"):
            self.core.compile_model(self.model, "CPU", {"NUM_STREAMS": "many"})
        with self.assertRaisesRegex(TypeError, "names of properties"):
            self.core.compile_model(self.model, "CPU", {3: 2})
        with self.assertRaisesRegex(TypeError, "tuples"):
            self.core.compile_model(self.model, "CPU", "NUM_STREAMS")
        with self.assertRaisesRegex(NotFound, "XPU"):
            self.core.compile_model(self.model, "XPU")
        with self.assertRaises(hetero.HeteroError):
            self.core.set_property({"NO_SUCH_THING": 1})
        with self.assertRaises(hetero.HeteroError):
            self.core.get_property("CPU", "NO_SUCH_THING")


class Placement(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.model = self.core.read_model(small_models.chain())

    def test_query(self):
        self.assertEqual(self.core.query_model(self.model, "CPU"), dict.fromkeys(["relu", "add", "sigmoid", "mul"], "CPU"))
        rows = self.core.explain_model(self.model, "HETERO:REF,CPU")
        self.assertEqual([row.name for row in rows], ["relu", "add", "sigmoid", "mul"])
        self.assertEqual({row.device for row in rows}, {"REF"})

    def test_unsupported(self):
        unknown = onnx.helper.make_node("NoSuchOperator", ["x"], ["y"], name="strange", domain="nobody")
        graph = onnx.helper.make_graph([unknown], "g", [onnx.helper.make_tensor_value_info("x", 1, [1])],
                                       [onnx.helper.make_tensor_value_info("y", 1, [1])])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("nobody", 1)])
        read = self.core.read_model(model.SerializeToString())
        self.assertEqual(self.core.query_model(read, "CPU"), {})
        self.assertIn("NoSuchOperator", self.core.explain_model(read, "CPU")[0].reason)
        with self.assertRaisesRegex(NotSupported, "strange"):
            self.core.compile_model(read, "CPU")

    def test_default_device(self):
        x = np.ones((1, 4, 8, 8), np.float32)
        np.testing.assert_allclose(self.core.compile_model(self.model)(x)[0], small_models.chain_of(x), rtol=1e-6)

    def test_versions(self):
        self.assertEqual(self.core.get_versions("CPU")["CPU"].build_number, hetero.get_version())
        self.assertEqual(hetero.__version__, hetero.get_version())


class Export(unittest.TestCase):
    def test_round_trip(self):
        core = hetero.Core()
        compiled = core.compile_model(small_models.chain(), "HETERO:CPU,REF")
        x = np.linspace(-3, 3, 256, dtype=np.float32).reshape(1, 4, 8, 8)
        exported = compiled.export_model()
        self.assertIsInstance(exported, bytes)
        stream = io.BytesIO()
        self.assertIsNone(compiled.export_model(stream))
        for content in (exported, io.BytesIO(exported), stream.getvalue()):
            np.testing.assert_array_equal(core.import_model(content, "HETERO:CPU,REF")(x)[0], compiled(x)[0])
        with self.assertRaises(hetero.HeteroError):
            core.import_model(b"nothing of ours", "CPU")
        with self.assertRaises(TypeError):
            core.import_model(None, "CPU")


if __name__ == "__main__":
    small_models.main()

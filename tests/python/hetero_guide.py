"""What OpenVINO's guide of heterogeneous execution does in Python, step by step."""
import os
import tempfile
import unittest

import numpy as np

import hetero as ov
import small_models
from hetero import properties
from hetero.properties import device, hint


class Guide(unittest.TestCase):
    """GPU stands for a second device: PoCL's where it is installed, else the reference device."""

    def setUp(self):
        self.core = ov.Core()
        gpu = [name for name in self.core.available_devices if name.startswith("GPU")]
        self.other = gpu[0] if gpu else "REF"
        self.model = self.core.read_model(small_models.chain())
        self.x = np.linspace(-3, 3, 256, dtype=np.float32).reshape(1, 4, 8, 8)

    def check(self, compiled):
        np.testing.assert_allclose(compiled(self.x)[0], small_models.chain_of(self.x), rtol=1e-5)
        return {name: row.device for row in compiled.subgraphs for name in row.nodes}

    def test_manual_affinities(self):
        for op in self.model.get_ops():
            rt_info = op.get_rt_info()
            rt_info["affinity"] = "CPU"
        placed = self.check(self.core.compile_model(self.model, f"HETERO:{self.other},CPU"))
        self.assertEqual(set(placed.values()), {"CPU"})

    def test_automatic(self):
        one = self.core.compile_model(self.model, device_name=f"HETERO:{self.other},CPU")
        other = self.core.compile_model(self.model, device_name="HETERO", config={device.priorities: f"{self.other},CPU"})
        self.assertEqual(self.check(one), self.check(other))
        self.assertEqual(set(self.check(one).values()), {self.other})

    def test_combined(self):
        name = f"HETERO:{self.other},CPU"
        supported_ops = self.core.query_model(self.model, name)
        supported_ops["sigmoid"] = "CPU"
        for node in self.model.get_ops():
            affinity = supported_ops[node.get_friendly_name()]
            node.get_rt_info()["affinity"] = affinity
        placed = self.check(self.core.compile_model(self.model, name))
        self.assertEqual(placed["sigmoid"], "CPU")
        self.assertEqual({placed[other] for other in ("relu", "add", "mul")}, {self.other})

    def test_priorities_and_properties_of_single_devices(self):
        self.core.set_property("HETERO", {device.priorities: f"{self.other},CPU"})
        self.core.set_property(self.other.split(".")[0], {properties.enable_profiling: True})
        self.core.set_property("CPU", {hint.inference_precision: ov.Type.f32})
        try:
            compiled = self.core.compile_model(model=self.model, device_name="HETERO")
            self.assertEqual(set(self.check(compiled).values()), {self.other})
            self.assertEqual(self.core.get_property("CPU", hint.inference_precision), ov.Type.f32)
        finally:
            self.core.set_property("HETERO", {device.priorities: ""})
            self.core.set_property(self.other.split(".")[0], {properties.enable_profiling: False})
            self.core.set_property("CPU", {hint.inference_precision: ov.Type.dynamic})

    def test_properties_within_a_configuration(self):
        compiled = self.core.compile_model(self.model, "HETERO", {
            device.priorities: f"{self.other},CPU",
            device.properties: {"CPU": {properties.enable_profiling: True, hint.inference_precision: ov.Type.f32}},
            "CPU.NUM_STREAMS": 1,
        })
        self.check(compiled)

    def test_pipeline_parallelism(self):
        compiled = self.core.compile_model(self.model, device_name=f"HETERO:{self.other},CPU",
                                           config={hint.model_distribution_policy: "PIPELINE_PARALLEL"})
        self.check(compiled)
        compiled = self.core.compile_model(self.model, f"HETERO:{self.other},CPU",
                                           {hint.model_distribution_policy: {hint.ModelDistributionPolicy.PIPELINE_PARALLEL}})
        self.check(compiled)

    def test_visualisation(self):
        os.environ["OPENVINO_HETERO_VISUALIZE"] = "1"
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.core.compile_model(self.model, f"HETERO:{self.other},CPU")
                written = sorted(os.listdir(folder))
            finally:
                os.chdir(before)
                del os.environ["OPENVINO_HETERO_VISUALIZE"]
        self.assertTrue(any(name.startswith("hetero_affinity_") and name.endswith(".dot") for name in written), written)


if __name__ == "__main__":
    small_models.main()

"""hetero.preprocess against the same in numpy."""
import unittest

import numpy as np
from onnx import TensorProto, helper

import hetero
import small_models
from hetero import Layout, Type
from hetero.exceptions import NotFound
from hetero.preprocess import ColorFormat, PrePostProcessor, ResizeAlgorithm

MEAN, SCALE = [10.0, 20.0, 30.0], [2.0, 4.0, 8.0]


def identity(shape):
    """What reaches the model, as it is."""
    return small_models.model_bytes([helper.make_node("Relu", ["x"], ["y"], name="relu")], {"x": (TensorProto.FLOAT, shape)},
                                    {"y": (TensorProto.FLOAT, shape)})


class Steps(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.picture = np.random.default_rng(1).integers(0, 256, (1, 6, 8, 3), dtype=np.uint8)
        self.planes = self.picture.transpose(0, 3, 1, 2).astype(np.float32)

    def run_both(self, prepare, content, picture):
        results = []
        for device in ("REF", "CPU"):
            model = self.core.read_model(content)
            ppp = PrePostProcessor(model)
            prepare(ppp)
            built = ppp.build()
            self.assertIs(built, model)
            results.append(self.core.compile_model(built, device)(picture)[0])
        np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-4)
        return results[0]

    def test_type_and_layout(self):
        def prepare(ppp):
            ppp.input().tensor().set_element_type(Type.u8).set_layout(Layout("NHWC"))
            ppp.input().model().set_layout(Layout("NCHW"))
        result = self.run_both(prepare, small_models.picture_sum(), self.picture)
        np.testing.assert_allclose(result, small_models.picture_sum_of(self.planes), rtol=1e-5)

    def test_ports_of_the_built_model(self):
        model = self.core.read_model(small_models.picture_sum())
        ppp = PrePostProcessor(model)
        ppp.input("picture").tensor().set_element_type(np.uint8).set_layout("NHWC")
        ppp.output(0).tensor().set_element_type(Type.f16)
        model = ppp.build()
        self.assertEqual((model.input().shape, model.input().element_type), ([1, 6, 8, 3], Type.u8))
        self.assertEqual(model.output().element_type, Type.f16)
        self.assertEqual(self.core.compile_model(model, "CPU")(self.picture)[0].dtype, np.float16)

    def test_normalisation(self):
        for order in ("mean_scale", "scale_mean"):
            def prepare(ppp):
                ppp.input().tensor().set_element_type(Type.u8).set_layout("NHWC")
                steps = ppp.input().preprocess().convert_element_type(Type.f32)
                steps = steps.mean(MEAN).scale(SCALE) if order == "mean_scale" else steps.scale(SCALE).mean(MEAN)
                steps.convert_layout()
                ppp.input().model().set_layout("NCHW")
            mean, scale = (np.array(values).reshape(1, 3, 1, 1) for values in (MEAN, SCALE))
            want = (self.planes - mean) / scale if order == "mean_scale" else self.planes / scale - mean
            result = self.run_both(prepare, small_models.picture_sum(), self.picture)
            np.testing.assert_allclose(result, small_models.picture_sum_of(want), rtol=1e-4, atol=1e-3)

    def test_one_value_for_all_channels(self):
        def prepare(ppp):
            ppp.input().tensor().set_layout("NCHW")
            ppp.input().preprocess().mean(127.5).scale(127.5)
        result = self.run_both(prepare, identity((1, 3, 6, 8)), self.planes)
        np.testing.assert_allclose(result, np.maximum((self.planes - 127.5) / 127.5, 0), rtol=1e-5, atol=1e-6)

    def test_channels(self):
        def reverse(ppp):
            ppp.input().tensor().set_element_type(Type.u8).set_layout("NHWC")
            ppp.input().preprocess().reverse_channels()
            ppp.input().model().set_layout("NCHW")

        def colour(ppp):
            ppp.input().tensor().set_element_type(Type.u8).set_layout("NHWC").set_color_format(ColorFormat.BGR)
            ppp.input().preprocess().convert_color(ColorFormat.RGB)
            ppp.input().model().set_layout("NCHW")
        for prepare in (reverse, colour):
            result = self.run_both(prepare, identity((1, 3, 6, 8)), self.picture)
            np.testing.assert_array_equal(result, self.planes[:, ::-1])

    def test_resize(self):
        """To half the size, pixel centres at halves: linear is the mean of four."""
        def prepare(ppp):
            ppp.input().tensor().set_element_type(Type.u8).set_layout("NHWC").set_shape([1, 6, 8, 3])
            ppp.input().preprocess().resize(ResizeAlgorithm.RESIZE_LINEAR)
            ppp.input().model().set_layout("NCHW")
        result = self.run_both(prepare, identity((1, 3, 3, 4)), self.picture)
        want = self.planes.reshape(1, 3, 3, 2, 4, 2).mean(axis=(3, 5))
        np.testing.assert_allclose(result, want, rtol=1e-5)

    def test_resize_of_a_plain_tensor(self):
        def prepare(ppp):
            ppp.input().tensor().set_layout("NCHW").set_spatial_static_shape(6, 8)
            ppp.input().preprocess().resize(ResizeAlgorithm.RESIZE_NEAREST)
        result = self.run_both(prepare, identity((1, 3, 12, 16)), self.planes)
        np.testing.assert_array_equal(result, self.planes.repeat(2, axis=2).repeat(2, axis=3))

        def cubic(ppp):
            ppp.input().tensor().set_layout("NCHW").set_spatial_static_shape(6, 8)
            ppp.input().preprocess().resize(ResizeAlgorithm.RESIZE_CUBIC)
        flat = np.full((1, 3, 6, 8), 5, np.float32)
        np.testing.assert_allclose(self.run_both(cubic, identity((1, 3, 12, 16)), flat), np.full((1, 3, 12, 16), 5), rtol=1e-6)

    def test_two_resizes(self):
        def prepare(ppp):
            ppp.input().tensor().set_layout("NCHW").set_spatial_static_shape(6, 8)
            ppp.input().preprocess().resize(ResizeAlgorithm.RESIZE_LINEAR, 3, 4).resize(ResizeAlgorithm.RESIZE_NEAREST)
        half = self.planes.reshape(1, 3, 3, 2, 4, 2).mean(axis=(3, 5))
        result = self.run_both(prepare, identity((1, 3, 6, 8)), self.planes)
        np.testing.assert_allclose(result, half.repeat(2, axis=2).repeat(2, axis=3), rtol=1e-5)

    def test_named_ports(self):
        model = self.core.read_model(small_models.two_inputs())
        ppp = PrePostProcessor(model)
        ppp.input("b").tensor().set_element_type(Type.i32)
        ppp.output("sum").tensor().set_element_type(Type.i32)
        compiled = self.core.compile_model(ppp.build(), "CPU")
        result = compiled([np.ones(4, np.float32), np.arange(4, dtype=np.int32)])
        self.assertEqual((result["sum"].dtype, result["sum"].tolist()), (np.int32, [1, 2, 3, 4]))
        self.assertEqual(result["difference"].tolist(), [1, 0, -1, -2])

    def test_failures_leave_the_model_as_it_was(self):
        def no_resize(ppp):
            ppp.input().tensor().set_layout("NHWC").set_shape([1, 60, 80, 3])
            ppp.input().model().set_layout("NCHW")

        def bytes_normalised(ppp):
            ppp.input().tensor().set_element_type(Type.u8)
            ppp.input().preprocess().mean(MEAN)

        def no_size(ppp):
            ppp.input().tensor().set_layout("NHWC")
            ppp.input().preprocess().resize(ResizeAlgorithm.RESIZE_LINEAR)

        def no_colour(ppp):
            ppp.input().preprocess().convert_color(ColorFormat.RGB)

        def wrong_layout(ppp):
            ppp.input().tensor().set_layout("NHWC")
            ppp.input().model().set_layout("NC")

        def wrong_count(ppp):
            ppp.input().preprocess().mean([1.0, 2.0])
        for prepare in (no_resize, bytes_normalised, no_size, no_colour, wrong_layout, wrong_count):
            with self.subTest(prepare=prepare.__name__):
                model = self.core.read_model(small_models.picture_sum())
                ppp = PrePostProcessor(model)
                prepare(ppp)
                with self.assertRaises(ValueError) as failure:
                    ppp.build()
                self.assertIn("picture", str(failure.exception))
                self.assertEqual((model.input().shape, model.input().element_type, len(model.get_ops())), ([1, 3, 6, 8], Type.f32, 2))
        with self.assertRaises(NotFound):
            PrePostProcessor(self.core.read_model(small_models.two_inputs())).input("c")


if __name__ == "__main__":
    small_models.main()

"""Model, Node, RTMap and ports."""
import copy
import gc
import os
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import hetero
import small_models
from hetero import Dimension, Layout, PartialShape, Shape, Type
from hetero.exceptions import InvalidArgument, NotFound, NotSupported, ShapeMismatch


def open_model():
    """y = relu(x) of an open batch and width."""
    return small_models.model_bytes([helper.make_node("Relu", ["x"], ["y"], name="relu")], {"x": (TensorProto.FLOAT, ("batch", 3, "width"))},
                                    {"y": (TensorProto.FLOAT, ("batch", 3, "width"))})


class Graph(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.model = self.core.read_model(small_models.chain())

    def test_nodes(self):
        ops = self.model.get_ops()
        self.assertEqual([op.get_friendly_name() for op in ops], ["relu", "add", "sigmoid", "mul"])
        self.assertEqual([op.get_type_name() for op in self.model.get_ordered_ops()], ["Relu", "Add", "Sigmoid", "Mul"])
        add = ops[1]
        self.assertEqual((add.name, add.friendly_name, add.get_name()), ("add", "add", "add"))
        self.assertEqual(add.input_names, ["r", "one"])
        self.assertEqual(add.output_names, ["a"])
        self.assertEqual((add.get_input_size(), add.get_output_size()), (2, 1))
        self.assertEqual(add.get_output_shape(0), [1, 4, 8, 8])
        self.assertEqual(add.get_output_element_type(), Type.f32)
        with self.assertRaises(NotFound):
            add.get_output_shape(7)
        self.assertEqual(add, self.model.get_ops()[1])
        self.assertEqual(len({op for op in ops + self.model.get_ops()}), 4)

    def test_attributes(self):
        model = self.core.read_model(small_models.picture_sum())
        conv = model.get_ops()[0]
        self.assertIsInstance(conv.get_attributes(), dict)
        self.assertEqual(conv.get_attributes().get("group", 1), 1)

    def test_runtime_information(self):
        info = self.model.get_ops()[0].get_rt_info()
        self.assertEqual(len(info), 0)
        info["affinity"] = "CPU"
        self.assertEqual(self.model.get_ops()[0].get_rt_info()["affinity"], "CPU")
        self.assertIn("affinity", info)
        self.assertEqual(dict(info.items()), {"affinity": "CPU"})
        self.assertEqual(list(info), ["affinity"])
        self.assertEqual(info.get("nothing", 3), 3)
        self.model.get_ops()[0].set_rt_info("x", "other")
        self.assertEqual(info, {"affinity": "CPU", "other": "x"})
        del info["affinity"]
        self.assertNotIn("affinity", info)
        with self.assertRaises(KeyError):
            info["affinity"]
        with self.assertRaises(KeyError):
            del info["affinity"]
        with self.assertRaises(InvalidArgument):
            info["affinity"] = ""

    def test_ports(self):
        model = self.core.read_model(small_models.two_inputs())
        self.assertEqual([port.any_name for port in model.inputs], ["a", "b"])
        self.assertEqual(model.input("b").index, 1)
        self.assertEqual(model.input(1), model.inputs[1])
        self.assertEqual(model.output("difference").get_names(), {"difference"})
        self.assertEqual(model.output(0).element_type, Type.f32)
        self.assertEqual(model.output(0).shape, (4,))
        with self.assertRaisesRegex(InvalidArgument, "a, b"):
            model.input()
        with self.assertRaisesRegex(NotFound, "'c'; it has a, b"):
            model.input("c")
        for key in (2, -1):
            with self.assertRaises(NotFound):
                model.input(key)
        with self.assertRaises(TypeError):
            model.input(1.5)
        with self.assertRaises(IndexError):
            model.input(1 << 70)

    def test_nodes_outlive_their_model(self):
        ops, ports = self.model.get_ops(), self.model.outputs
        info = ops[0].get_rt_info()
        del self.model
        gc.collect()
        info["affinity"] = "CPU"
        self.assertEqual(ops[0].get_rt_info()["affinity"], "CPU")
        self.assertEqual(ports[0].shape, [1, 4, 8, 8])

    def test_old_nodes_after_a_change(self):
        ops = self.model.get_ops()
        self.model.add_outputs("add")
        ppp = hetero.preprocess.PrePostProcessor(self.model)
        ppp.input().tensor().set_element_type(Type.u8)
        ppp.build()
        self.assertEqual(ops[0].get_friendly_name(), "relu")
        self.assertEqual([port.any_name for port in self.model.outputs], ["y", "add"])

    def test_copies(self):
        self.model.set_friendly_name("one")
        self.model.get_ops()[0].get_rt_info()["affinity"] = "REF"
        for other in (self.model.clone(), copy.copy(self.model), copy.deepcopy(self.model)):
            self.assertEqual(other.friendly_name, "one")
            self.assertEqual(other.get_ops()[0].get_rt_info()["affinity"], "REF")
            other.get_ops()[0].get_rt_info()["affinity"] = "CPU"
            other.friendly_name = "other"
        self.assertEqual(self.model.get_name(), "one")
        self.assertEqual(self.model.get_ops()[0].get_rt_info()["affinity"], "REF")

    def test_metadata(self):
        model = self.core.read_model(small_models.add_one())
        self.assertEqual(model.get_rt_info("author"), "tests")
        self.assertTrue(model.has_rt_info("author"))
        model.set_rt_info("fit_to_window", ["model_info", "resize_type"])
        self.assertEqual(model.get_rt_info(["model_info", "resize_type"]), "fit_to_window")
        self.assertIn("model_info.resize_type", model.rt_info)
        with self.assertRaisesRegex(NotFound, "nothing"):
            model.get_rt_info("nothing")

    def test_outputs_that_are_added(self):
        x = np.linspace(-1, 1, 256, dtype=np.float32).reshape(1, 4, 8, 8)
        added = self.model.add_outputs(["add", "r"])
        self.assertEqual([port.any_name for port in added], ["add", "r"])
        result = self.core.compile_model(self.model, "CPU")(x)
        np.testing.assert_array_equal(result["r"], np.maximum(x, 0))
        np.testing.assert_allclose(result["add"], np.maximum(x, 0) + 1)
        with self.assertRaises(NotFound):
            self.model.add_outputs("nothing")

    def test_save(self):
        x = np.linspace(-3, 3, 256, dtype=np.float32).reshape(1, 4, 8, 8)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved.onnx")
            hetero.save_model(self.model, path, compress_to_fp16=False)
            self.assertEqual(len(onnx.load(path).graph.node), 4)
            np.testing.assert_array_equal(self.core.compile_model(path, "CPU")(x)[0], self.core.compile_model(self.model, "CPU")(x)[0])
            with self.assertRaisesRegex(NotSupported, "ends in .onnx"):
                hetero.save_model(self.model, os.path.join(folder, "saved.xml"))
            with self.assertRaises(hetero.HeteroError):
                hetero.save_model(self.model, os.path.join(folder, "no/folder/saved.onnx"))


class Reshaping(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.model = self.core.read_model(open_model())

    def test_open(self):
        self.assertTrue(self.model.is_dynamic() and self.model.dynamic)
        self.assertEqual(self.model.input().partial_shape, [-1, 3, -1])
        self.assertEqual(str(self.model.input().partial_shape), "[?,3,?]")
        with self.assertRaisesRegex(InvalidArgument, "partial_shape"):
            self.model.input().shape

    def test_forms(self):
        for shape in ([2, 3, 5], (2, 3, 5), Shape([2, 3, 5]), PartialShape([2, 3, 5]), "[2,3,5]", np.array([2, 3, 5]),
                      [Dimension(2), 3, Dimension(5)], {"x": [2, 3, 5]}, {0: "[2,3,5]"}, {self.model.input(): (2, 3, 5)}):
            with self.subTest(shape=shape):
                model = self.model.clone()
                model.reshape(shape)
                self.assertEqual(model.input().shape, [2, 3, 5])
                self.assertEqual(model.output().shape, [2, 3, 5])
                self.assertFalse(model.is_dynamic())

    def test_opening_again(self):
        self.model.reshape([2, 3, 5])
        self.model.reshape([-1, 3, 5])
        self.assertEqual(self.model.input().partial_shape, [-1, 3, 5])
        compiled = self.core.compile_model(self.model, "CPU")
        for batch in (1, 4):
            self.assertEqual(compiled(np.zeros((batch, 3, 5), np.float32))[0].shape, (batch, 3, 5))

    def test_failures(self):
        with self.assertRaisesRegex(ShapeMismatch, "number of dimensions"):
            self.model.reshape([2, 3])
        with self.assertRaises(NotFound):
            self.model.reshape({"z": [2, 3, 5]})
        for shape in (3, None, [None], ["a"], [2, 3, -7], object()):
            with self.subTest(shape=shape), self.assertRaises((TypeError, ValueError, AttributeError)):
                self.model.reshape(shape)
        self.assertEqual(self.model.input().partial_shape, [-1, 3, -1])

    def test_open_dimensions_run(self):
        compiled = self.core.compile_model(self.model, "CPU")
        for shape in ((1, 3, 2), (2, 3, 7)):
            x = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
            np.testing.assert_array_equal(compiled(x)[0], np.maximum(x, 0))
        request = compiled.create_infer_request()
        with self.assertRaises(hetero.HeteroError):
            request.get_input_tensor()
        with self.assertRaises(hetero.HeteroError):
            request.infer()


class Values(unittest.TestCase):
    def test_shapes(self):
        shape = Shape([1, 3, 4])
        self.assertEqual((shape, len(shape), shape[1], list(shape), str(shape)), ((1, 3, 4), 3, 3, [1, 3, 4], "[1,3,4]"))
        self.assertTrue(shape == [1, 3, 4] and shape != [1, 3] and hash(shape) == hash((1, 3, 4)))
        self.assertEqual(repr(shape), "<Shape: [1,3,4]>")
        with self.assertRaises(ValueError):
            Shape([1, -1])
        partial = PartialShape("[1,?,3..9]")
        self.assertEqual([dim.is_dynamic for dim in partial], [False, True, True])
        self.assertEqual(partial.rank, 3)
        self.assertTrue(partial.is_dynamic and not partial.is_static)
        with self.assertRaises(ValueError):
            partial.get_shape()
        self.assertEqual(PartialShape((2, 3)).to_shape(), (2, 3))
        self.assertEqual(Dimension(3).get_length(), 3)
        with self.assertRaises(ValueError):
            Dimension(-1).get_length()

    def test_layouts(self):
        layout = Layout("nhwc")
        self.assertEqual((layout, layout.to_string(), layout.get_index_by_name("C")), (Layout("[N,H,W,C]"), "[N,H,W,C]", 3))
        self.assertTrue(layout.has_name("H") and not layout.has_name("D") and Layout("").empty)
        for bad in ("NN", "N1", "N..."):
            with self.assertRaises(ValueError):
                Layout(bad)
        with self.assertRaises(ValueError):
            layout.get_index_by_name("D")

    def test_types(self):
        for name, dtype in (("f32", np.float32), ("f16", np.float16), ("f64", np.float64), ("i8", np.int8), ("u8", np.uint8), ("i16", np.int16),
                            ("u16", np.uint16), ("i32", np.int32), ("u32", np.uint32), ("i64", np.int64), ("u64", np.uint64), ("boolean", np.bool_)):
            kind = getattr(Type, name)
            self.assertEqual(kind, Type(dtype))
            self.assertEqual(kind, Type(np.dtype(dtype)))
            self.assertEqual(kind, Type(name))
            self.assertEqual(kind.to_dtype(), np.dtype(dtype))
            self.assertEqual(kind.get_type_name(), name)
            self.assertEqual(kind.size, np.dtype(dtype).itemsize)
        self.assertEqual(repr(Type.f32), "<Type: 'float32'>")
        self.assertTrue(Type.f32.is_real() and Type.u8.is_integral() and not Type.bf16.is_integral() and Type.dynamic.is_dynamic())
        self.assertEqual((Type.i4.bitwidth, Type.i4.size, Type.bf16.to_dtype()), (4, 1, np.dtype(np.uint16)))
        self.assertTrue(Type.i4.is_signed() and not Type.u4.is_signed() and Type.f32.is_signed())
        self.assertNotEqual(Type.f32, "f32")
        self.assertEqual(len({Type.f32, Type("f32"), Type.f16}), 2)
        self.assertEqual(copy.deepcopy(Type.f16), Type.f16)
        for bad in ("f33", complex, object, ">f4", np.dtype("S3"), 3):
            with self.subTest(bad=bad), self.assertRaises((TypeError, ValueError)):
                Type(bad)
        with self.assertRaises(InvalidArgument):
            Type.dynamic.to_dtype()


if __name__ == "__main__":
    small_models.main()

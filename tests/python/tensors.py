"""Tensor: the buffer protocol, numpy, DLPack; whose memory it is and how long it lives."""
import array
import copy
import gc
import sys
import unittest
import weakref

import numpy as np
from onnx import TensorProto, helper

import hetero
import small_models
from hetero import Tensor, Type
from hetero.exceptions import InvalidArgument, NotSupported, ShapeMismatch

DTYPES = (np.float32, np.float16, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_)


class Buffers(unittest.TestCase):
    def test_every_dtype(self):
        for dtype in DTYPES:
            with self.subTest(dtype=dtype):
                values = np.arange(6).reshape(2, 3).astype(dtype)
                tensor = Tensor(values)
                self.assertEqual(tensor.element_type, Type(dtype))
                self.assertEqual(tensor.shape, [2, 3])
                for shown in (tensor.data, np.asarray(tensor), np.frombuffer(tensor, dtype).reshape(2, 3), np.asarray(memoryview(tensor))):
                    self.assertEqual(shown.dtype, dtype)
                    np.testing.assert_array_equal(shown, values)
                self.assertEqual((tensor.size, tensor.byte_size, tensor.strides), (6, values.nbytes, values.strides))

    def test_copy_or_shared(self):
        values = np.zeros((2, 3), np.float32)
        own, shared = Tensor(values), Tensor(values, shared_memory=True)
        values[0, 0] = 5
        self.assertEqual((own.data[0, 0], shared.data[0, 0]), (0, 5))
        shared.data[1, 2] = 7
        self.assertEqual(values[1, 2], 7)
        self.assertTrue(np.shares_memory(values, shared.data))

    def test_array_keeps_the_memory(self):
        tensor = Tensor(np.arange(1000, dtype=np.float32))
        shown, view = tensor.data, memoryview(tensor)
        del tensor
        gc.collect()
        junk = [Tensor(np.full(1000, -1, np.float32)) for _ in range(50)]
        np.testing.assert_array_equal(shown, np.arange(1000))
        self.assertEqual(view[999], 999)
        del junk

    def test_tensor_keeps_the_array(self):
        class Array(np.ndarray):
            pass
        values = np.arange(1000, dtype=np.float32).view(Array)
        gone = weakref.ref(values)
        tensor = Tensor(values, shared_memory=True)
        del values
        gc.collect()
        self.assertIsNotNone(gone())
        np.testing.assert_array_equal(tensor.data, np.arange(1000))
        del tensor
        gc.collect()
        self.assertIsNone(gone())

    def test_gaps(self):
        big = np.arange(48, dtype=np.float32).reshape(6, 8)
        for part in (big[::2, ::2], big[::-1], big.T, big[:, 3:5], np.broadcast_to(np.float32(3), (4, 5)), big[2:2]):
            np.testing.assert_array_equal(Tensor(part).data, part)
        with self.assertRaisesRegex(InvalidArgument, "ascontiguousarray"):
            Tensor(big.T, shared_memory=True)

    def test_other_objects(self):
        np.testing.assert_array_equal(Tensor(array.array("i", [1, 2])).data, [1, 2])
        np.testing.assert_array_equal(Tensor(b"ab").data, np.array([97, 98], np.uint8))
        np.testing.assert_array_equal(Tensor([[1.5, 2], [3, 4]]).data, [[1.5, 2], [3, 4]])
        self.assertEqual(Tensor(3.0).shape, [])
        self.assertEqual(Tensor(np.float16(2)).element_type, Type.f16)
        np.testing.assert_array_equal(Tensor(Tensor(np.ones(3, np.int8))).data, np.ones(3))
        for bad in (None, "text", {"a": 1}, object(), np.array(["a"]), np.zeros(2, complex), np.zeros(2, ">f4"), [1, "a"],
                    np.zeros(2, [("a", "f4")]), np.array([object()])):
            with self.subTest(bad=bad), self.assertRaises((TypeError, ValueError)):
                Tensor(bad)

    def test_empty(self):
        tensor = Tensor(np.zeros((0, 3), np.float32))
        self.assertEqual((tensor.shape, tensor.size, tensor.data.shape), ([0, 3], 0, (0, 3)))
        self.assertEqual(Tensor(Type.f32, [4, 0]).data.shape, (4, 0))

    def test_read_only(self):
        values = np.arange(3, dtype=np.float32)
        values.flags.writeable = False
        shared = Tensor(values, shared_memory=True)
        self.assertFalse(shared.data.flags.writeable)
        self.assertTrue(memoryview(shared).readonly)
        with self.assertRaises(ValueError):
            shared.data[0] = 1
        with self.assertRaisesRegex(InvalidArgument, "only to be read"):
            shared.copy_from(np.zeros(3, np.float32))
        self.assertTrue(Tensor(values).data.flags.writeable)
        with self.assertRaises(BufferError):
            np.from_dlpack(shared)

    def test_allocated(self):
        tensor = Tensor(Type.f16, (2, 2))
        np.testing.assert_array_equal(tensor.data, np.zeros((2, 2)))
        self.assertEqual(Tensor(np.float64, [3]).element_type, Type.f64)
        with self.assertRaises(hetero.HeteroError):
            Tensor(Type.f32, [2, -1])
        with self.assertRaises(hetero.HeteroError):
            Tensor(Type.f32, [1 << 40, 1 << 40])
        with self.assertRaises(MemoryError):
            Tensor(Type.f32, [1 << 50])

    def test_types_that_numpy_lacks(self):
        packed = Tensor(np.array([0x21, 0x43], np.uint8), [4], Type.i4)
        self.assertEqual((packed.shape, packed.element_type, packed.byte_size, packed.data.tolist()), ([4], Type.i4, 2, [0x21, 0x43]))
        half = Tensor(np.array([0x3f80], np.uint16), [1], Type.bf16)
        self.assertEqual(half.data.tolist(), [0x3f80])
        with self.assertRaises(ShapeMismatch):
            Tensor(np.zeros(3, np.uint8), [4], Type.i4)

    def test_copying(self):
        one, other = Tensor(np.arange(4, dtype=np.float32)), Tensor(Type.f32, [4])
        one.copy_to(other)
        np.testing.assert_array_equal(other.data, one.data)
        other.copy_from(np.ones(4))
        np.testing.assert_array_equal(other.data, np.ones(4))
        copied = copy.deepcopy(one)
        one.data[0] = 9
        self.assertEqual(copied.data[0], 0)
        with self.assertRaises(ShapeMismatch):
            one.copy_from(np.zeros(5, np.float32))
        large = Tensor(Type.f32, [1 << 20])
        large.copy_from(np.ones(1 << 20, np.float32))
        self.assertEqual(large.data.sum(), 1 << 20)

    def test_without_init(self):
        tensor = Tensor.__new__(Tensor)
        with self.assertRaises((BufferError, TypeError)):
            memoryview(tensor)


class DlPack(unittest.TestCase):
    def test_to_numpy(self):
        for dtype in DTYPES[:-1]:
            tensor = Tensor(np.arange(6).reshape(2, 3).astype(dtype))
            shown = np.from_dlpack(tensor)
            np.testing.assert_array_equal(shown, tensor.data)
            self.assertTrue(np.shares_memory(shown, tensor.data))
            self.assertEqual(tensor.__dlpack_device__(), (1, 0))

    def test_keeps_the_memory(self):
        shown = np.from_dlpack(Tensor(np.arange(1000, dtype=np.float32)))
        gc.collect()
        junk = [Tensor(np.full(1000, -1, np.float32)) for _ in range(50)]
        np.testing.assert_array_equal(shown, np.arange(1000))
        del junk

    def test_capsule_that_nobody_takes(self):
        tensor = Tensor(np.zeros(3, np.float32))
        capsules = [tensor.__dlpack__() for _ in range(10)]
        del capsules, tensor
        gc.collect()

    def test_foreign_objects(self):
        class Lent:
            """As libraries without a buffer protocol are."""

            def __init__(self, values, device=(1, 0)):
                self.values, self.device = values, device

            def __dlpack__(self, stream=None):
                return self.values.__dlpack__()

            def __dlpack_device__(self):
                return self.device
        values = np.arange(12, dtype=np.float32).reshape(3, 4)
        shared = Tensor(Lent(values), shared_memory=True)
        values[0, 0] = 42
        self.assertEqual(shared.data[0, 0], 42)
        np.testing.assert_array_equal(Tensor(Lent(values[:, 1:3])).data, values[:, 1:3])
        with self.assertRaisesRegex(NotSupported, r"cpu\(\)"):
            Tensor(Lent(values, (2, 0)))
        before = sys.getrefcount(values)
        for _ in range(100):
            Tensor(Lent(values))
        gc.collect()
        self.assertLessEqual(sys.getrefcount(values), before)

    def test_wrong_capsules(self):
        class Wrong:
            def __init__(self, what):
                self.what = what

            def __dlpack__(self):
                return self.what

            def __dlpack_device__(self):
                return (1, 0)
        for what in (None, 3, "capsule"):
            with self.subTest(what=what), self.assertRaises(TypeError):
                Tensor(Wrong(what))

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        values = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        shared = Tensor(values, shared_memory=True)
        values[0, 0] = 9
        self.assertEqual(shared.data[0, 0], 9)
        back = torch.from_dlpack(shared)
        back[1, 2] = 11
        self.assertEqual(values[1, 2], 11)
        self.assertEqual(Tensor(torch.ones(2, dtype=torch.bfloat16)).element_type, Type.bf16)


class InRequests(unittest.TestCase):
    """Which memory an execution reads and writes."""

    def setUp(self):
        self.compiled = hetero.Core().compile_model(small_models.add_one(), "CPU")
        self.request = self.compiled.create_infer_request()
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_own_memory(self):
        own = self.request.get_tensor("x").data
        own[:] = self.x
        self.request.infer()
        np.testing.assert_array_equal(self.request.get_output_tensor().data, self.x + 1)
        self.assertTrue(np.shares_memory(own, self.request.get_input_tensor(0).data))

    def test_memory_of_the_caller(self):
        y = np.zeros((2, 3), np.float32)
        self.request.set_tensor("x", self.x)
        self.request.set_tensor(self.compiled.output(), Tensor(y, shared_memory=True))
        self.request.infer()
        np.testing.assert_array_equal(y, self.x + 1)
        self.x += 1
        self.request.infer()
        np.testing.assert_array_equal(y, self.x + 1)

    def test_copied_inputs_do_not_touch_shared_memory(self):
        shared = np.zeros((2, 3), np.float32)
        self.request.set_input_tensor(shared)
        self.request.infer(self.x)
        np.testing.assert_array_equal(shared, np.zeros((2, 3)))
        np.testing.assert_array_equal(self.request.results[0], self.x + 1)

    def test_results_outlive_request_and_model(self):
        copied, shared = self.request.infer(self.x)[0], self.request.results[0]
        fresh = self.compiled.infer_new_request(self.x)[0]
        del self.request, self.compiled
        gc.collect()
        junk = [Tensor(np.full((2, 3), -1, np.float32)) for _ in range(100)]
        for kept in (copied, shared, fresh):
            np.testing.assert_array_equal(kept, self.x + 1)
        del junk

    def test_outputs_must_be_writable_and_dense(self):
        read_only = np.zeros((2, 3), np.float32)
        read_only.flags.writeable = False
        for bad in (read_only, np.zeros((3, 2), np.float32).T, np.zeros((2, 6), np.float32)[:, ::2]):
            with self.subTest(bad=bad.flags), self.assertRaises(InvalidArgument):
                self.request.set_tensor("y", bad)
        with self.assertRaises(ShapeMismatch):
            self.request.set_tensor("y", np.zeros((2, 3), np.float64))

    def test_inputs_with_gaps(self):
        big = np.arange(48, dtype=np.float32).reshape(6, 8)
        for part in (big[:2, :3], big[::2, ::2][:2, :3], big[1::-1, :3], big.T[:2, :3]):
            for share in (False, True):
                np.testing.assert_array_equal(self.request.infer(part, share_inputs=share)[0], part + 1)

    def test_conversions(self):
        for values in (self.x.astype(np.float64), self.x.astype(np.int32), self.x.astype(np.float16), self.x.tolist()[0:2]):
            if isinstance(values, list):
                values = {0: values}
            np.testing.assert_allclose(self.request.infer(values)[0], self.x + 1)
        with self.assertRaisesRegex(ShapeMismatch, "takes float32.*, not int64"):
            self.request.set_tensor("y", self.x.astype(np.int64))
        whole = hetero.Core().compile_model(small_models.add_one((3,), TensorProto.INT32), "CPU")
        np.testing.assert_array_equal(whole(np.array([1, 2, 3], np.int64))[0], [2, 3, 4])
        with self.assertRaisesRegex(ShapeMismatch, "takes int32, not float32"):
            whole(np.array([1.5, 2, 3], np.float32))

    def test_bfloat16(self):
        cast = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)]
        model = small_models.model_bytes(cast, {"x": (TensorProto.FLOAT, (3,))}, {"y": (TensorProto.BFLOAT16, (3,))})
        shown = hetero.Core().compile_model(model, "CPU")(np.array([1, 2, -0.5], np.float32))[0]
        self.assertEqual(shown.dtype, np.uint16)
        self.assertEqual(shown.tolist(), [0x3f80, 0x4000, 0xbf00])


if __name__ == "__main__":
    small_models.main()

"""InferRequest and CompiledModel."""
import datetime
import gc
import threading
import time
import types
import unittest
import weakref

import numpy as np
from onnx import TensorProto, helper

import hetero
import small_models
from hetero.exceptions import Busy, Cancelled, InvalidArgument, NotFound, NotSupported, ShapeMismatch

#: Rounds of small_models.slow() that take about half a second.
HALF_A_SECOND = 100000


class Inputs(unittest.TestCase):
    def setUp(self):
        self.compiled = hetero.Core().compile_model(small_models.two_inputs(), "CPU")
        self.request = self.compiled.create_infer_request()
        self.a, self.b = np.array([1, 2, 3, 4], np.float32), np.array([10, 20, 30, 40], np.float32)

    def test_forms(self):
        a, b = self.a, self.b
        by_port = {self.compiled.input("a"): a, self.compiled.input("b"): b}
        for inputs in ({"a": a, "b": b}, {0: a, 1: b}, [a, b], (a, b), by_port, {"a": hetero.Tensor(a), 1: b.tolist()},
                       types.MappingProxyType({"a": a, "b": b})):
            for share in (False, True):
                result = self.request.infer(inputs, share_inputs=share)
                np.testing.assert_array_equal(result["sum"], a + b)
                np.testing.assert_array_equal(result["difference"], a - b)
        self.request.infer({"a": b})
        np.testing.assert_array_equal(self.request.results["sum"], b + b)

    def test_results(self):
        result = self.compiled([self.a, self.b])
        total, difference = self.compiled.outputs
        self.assertEqual(list(result), [total, difference])
        self.assertEqual(list(result.keys()), [total, difference])
        self.assertEqual(len(result), 2)
        for key in (0, "sum", total, np.int64(0)):
            np.testing.assert_array_equal(result[key], self.a + self.b)
        np.testing.assert_array_equal(next(iter(result.values())), self.a + self.b)
        np.testing.assert_array_equal(result.to_tuple()[1], self.a - self.b)
        np.testing.assert_array_equal(result.to_dict()[difference], self.a - self.b)
        self.assertEqual(result.names(), ({"sum"}, {"difference"}))
        self.assertIn("sum", repr(result))
        for key in (2, -1, "nothing", self.compiled.input(0)):
            with self.subTest(key=key), self.assertRaises(KeyError):
                result[key]
        with self.assertRaises(TypeError):
            result[None]

    def test_copies_and_shared_results(self):
        copied = self.request.infer([self.a, self.b])["sum"]
        shared = self.request.infer([self.a, self.b], share_outputs=True)["sum"]
        self.request.infer([self.b, self.b])
        np.testing.assert_array_equal(copied, self.a + self.b)
        np.testing.assert_array_equal(shared, self.b + self.b)

    def test_failures(self):
        with self.assertRaisesRegex(NotFound, "'c'; it has a, b"):
            self.request.infer({"c": self.a})
        with self.assertRaises(NotFound):
            self.request.infer([self.a, self.b, self.a])
        with self.assertRaisesRegex(InvalidArgument, "say which one"):
            self.request.infer(self.a)
        with self.assertRaisesRegex(ShapeMismatch, r"float32\[4\]"):
            self.request.infer({"a": np.zeros(5, np.float32)})
        with self.assertRaises(ShapeMismatch):
            self.request.infer({"a": np.zeros(5, np.float32)}, share_inputs=True)
        foreign = hetero.Core().compile_model(small_models.two_inputs(), "CPU")
        with self.assertRaises(InvalidArgument):
            self.request.infer({foreign.input("a"): self.a})
        with self.assertRaises(InvalidArgument):
            self.request.set_input_tensors({self.compiled.output(0): self.a})
        np.testing.assert_array_equal(self.request.infer([self.a, self.b])["sum"], self.a + self.b)

    def test_tensors(self):
        self.request.set_input_tensor(index=0, tensor=self.a)
        self.request.set_input_tensors(types.MappingProxyType({"b": self.b}))
        self.request.infer()
        np.testing.assert_array_equal(self.request.get_output_tensor(1).data, self.a - self.b)
        self.assertEqual([tensor.shape for tensor in self.request.input_tensors + self.request.output_tensors], [(4,)] * 4)
        self.request.set_tensors({"a": self.b, self.compiled.input("b"): self.b})
        self.request.infer()
        np.testing.assert_array_equal(self.request.get_tensor("sum").data, self.b * 2)
        out = np.zeros(4, np.float32)
        self.request.set_output_tensor(1, out)
        self.request.set_output_tensors({0: np.zeros(4, np.float32)})
        self.request.infer([self.b, self.a])
        np.testing.assert_array_equal(out, self.b - self.a)
        for call in (lambda: self.request.get_tensor("nothing"), lambda: self.request.get_input_tensor(5)):
            with self.assertRaises(NotFound):
                call()
        for call in (lambda: self.request.get_tensor(3), lambda: self.request.set_input_tensor(), lambda: self.request.set_input_tensor(1, 2, 3),
                     lambda: self.request.set_tensors([self.a])):
            with self.assertRaises(TypeError):
                call()


class Running(unittest.TestCase):
    def setUp(self):
        core = hetero.Core()
        self.compiled = core.compile_model(small_models.add_one(), "CPU", {"PERF_COUNT": True})
        self.slow = core.compile_model(small_models.slow(HALF_A_SECOND), "REF")
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_async(self):
        request = self.compiled.create_infer_request()
        request.start_async({0: self.x}, userdata="mine")
        request.wait()
        self.assertEqual(request.userdata, "mine")
        np.testing.assert_array_equal(request.results[0], self.x + 1)
        self.assertGreater(request.latency, 0)
        self.assertTrue(request.wait_for(0))
        self.assertEqual(request.get_compiled_model().inputs[0], self.compiled.inputs[0])
        self.assertEqual((request.model_inputs, request.model_outputs), (self.compiled.inputs, self.compiled.outputs))

    def test_before_the_first_execution(self):
        request = self.compiled.create_infer_request()
        request.wait()
        self.assertEqual(request.latency, 0)
        request.cancel()

    def test_busy(self):
        request = self.slow.create_infer_request()
        request.start_async(np.ones(64, np.float32))
        for call in (
                request.start_async, request.infer, lambda: request.set_tensor("x", np.ones(64, np.float32)), lambda: request.results,
                lambda: request.get_output_tensor(), lambda: request.set_callback(print), request.query_state,
                lambda: request.get_profiling_info()):
            with self.assertRaisesRegex(Busy, r"wait\(\)"):
                call()
        self.assertFalse(request.wait_for(10))
        request.wait()
        self.assertTrue(request.wait_for(10))

    def test_cancel(self):
        request = self.slow.create_infer_request()
        request.start_async(np.ones(64, np.float32))
        request.cancel()
        with self.assertRaises(Cancelled):
            request.wait()
        request.infer()

    def test_callback(self):
        request = self.compiled.create_infer_request()
        called = []
        request.set_callback(lambda data: called.append((data, threading.get_ident())), 17)
        for _ in range(3):
            request.start_async(self.x)
            request.wait()
        request.infer(self.x)
        self.assertEqual([data for data, _ in called], [17] * 4)
        request.set_callback(None)
        request.infer(self.x)
        self.assertEqual(len(called), 4)
        with self.assertRaisesRegex(TypeError, "callable"):
            request.set_callback(3)

    def test_callback_that_raises(self):
        request = self.compiled.create_infer_request()

        def fail(_):
            raise ZeroDivisionError("in the callback")
        request.set_callback(fail)
        request.start_async(self.x)
        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            request.wait()
        request.wait()
        with self.assertRaises(ZeroDivisionError):
            request.infer(self.x)

    def test_callback_that_reads_and_starts_again(self):
        request = self.compiled.create_infer_request()
        seen = []
        ended = threading.Event()

        def again(_):
            seen.append(float(request.results[0][0, 0]))
            if len(seen) < 5:
                request.start_async(self.x + len(seen))
            else:
                ended.set()
        request.set_callback(again)
        request.start_async(self.x)
        self.assertTrue(ended.wait(20))
        request.wait()
        self.assertEqual(seen, [1, 2, 3, 4, 5])

    def test_callback_that_waits_for_itself(self):
        request = self.compiled.create_infer_request()
        errors = []

        def wait(_):
            for call in (request.wait, request.infer, lambda: request.wait_for(5)):
                try:
                    call()
                except Busy as error:
                    errors.append(str(error))
        request.set_callback(wait)
        request.start_async(self.x)
        request.wait()
        self.assertEqual(len(errors), 3)

    def test_callback_that_waits_for_another_request(self):
        """Of the same model, which may need the very thread of the callback: told, not hung."""
        one_stream = hetero.Core().compile_model(small_models.add_one(), "CPU", {"NUM_STREAMS": 1})
        other_model = hetero.Core().compile_model(small_models.add_one(), "CPU", {"NUM_STREAMS": 1})
        request, other = one_stream.create_infer_request(), [one_stream.create_infer_request()]
        told, found = [], []

        def wait(_):
            other[0].start_async(self.x)
            for call in (other[0].wait, lambda: other[0].wait_for(1000), lambda: one_stream(self.x)):
                try:
                    call()
                except Busy as error:
                    told.append(str(error))
            other.clear()
            found.append(other_model(self.x)[0][0, 0])
        request.set_callback(wait)
        request.start_async(self.x)
        request.wait()
        self.assertGreaterEqual(len(told), 1)
        self.assertEqual(found, [1])

    def test_request_that_goes_while_it_runs(self):
        for _ in range(5):
            request = self.slow.create_infer_request()
            request.set_callback(lambda _: None)
            request.start_async(np.ones(64, np.float32))
            del request
            gc.collect()

    def test_request_that_goes_in_its_callback(self):
        box = [self.compiled.create_infer_request()]
        called = threading.Event()

        def let_go(_):
            box.clear()
            called.set()
        box[0].set_callback(let_go)
        box[0].start_async(self.x)
        self.assertTrue(called.wait(20))

    def test_cycle_is_collected(self):
        class Mark:
            pass
        request = self.compiled.create_infer_request()
        mark = Mark()
        gone = weakref.ref(mark)
        request.set_callback(lambda _, request=request, mark=mark: None)
        request.start_async(self.x, userdata=request)
        request.wait()
        del request, mark
        gc.collect()
        self.assertIsNone(gone())

    def test_profile(self):
        request = self.compiled.create_infer_request()
        request.infer(self.x)
        row = next(row for row in request.get_profiling_info() if row.node_name == "add")
        self.assertEqual(row.status.name, "EXECUTED")
        self.assertIsInstance(row.real_time, datetime.timedelta)
        self.assertEqual(request.profiling_info[0].node_type, request.get_profiling_info()[0].node_type)

    def test_compiled_model(self):
        self.assertEqual(self.compiled.input().any_name, "x")
        self.assertEqual(self.compiled.output("y"), self.compiled.outputs[0])
        self.assertEqual(self.compiled.get_property("NETWORK_NAME"), "small")
        self.assertEqual(self.compiled.subgraphs, [])
        with self.assertRaises(NotSupported):
            self.compiled.set_property({"NUM_STREAMS": 2})
        with self.assertRaises(hetero.HeteroError):
            self.compiled.get_property("NO_SUCH_THING")
        np.testing.assert_array_equal(self.compiled({"x": self.x}, share_inputs=False, share_outputs=True)[0], self.x + 1)
        self.compiled.release_memory()

    def test_results_before_an_execution(self):
        shape = small_models.model_bytes([helper.make_node("NonZero", ["x"], ["y"])], {"x": (TensorProto.FLOAT, (3,))},
                                         {"y": (TensorProto.INT64, (1, "found"))})
        request = hetero.Core().compile_model(shape, "CPU").create_infer_request()
        with self.assertRaises(InvalidArgument):
            request.results
        for values, places in (([0, 1, 2], [[1, 2]]), ([0, 0, 0], [[]])):
            self.assertEqual(request.infer(np.array(values, np.float32))[0].tolist(), places)


class Threads(unittest.TestCase):
    def run_all(self, functions):
        failures = []

        def run(function):
            try:
                function()
            except Exception as error:
                failures.append(error)
        threads = [threading.Thread(target=run, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failures

    def test_a_model_of_many(self):
        compiled = hetero.Core().compile_model(small_models.chain(), "CPU", {"NUM_STREAMS": 2})

        def work(seed):
            x = np.random.default_rng(seed).standard_normal((1, 4, 8, 8)).astype(np.float32)
            for _ in range(200):
                np.testing.assert_allclose(compiled(x)[0], small_models.chain_of(x), rtol=1e-5)
        failures = self.run_all([lambda seed=seed: work(seed) for seed in range(6)])
        self.assertEqual(failures, [])

    def test_others_go_on_meanwhile(self):
        """Whatever waits or computes lets go of the GIL: a loop of Python goes on beside it."""
        core = hetero.Core()
        slow = core.compile_model(small_models.slow(HALF_A_SECOND), "REF")
        ones = np.ones(64, np.float32)
        request = slow.create_infer_request()
        queue = hetero.AsyncInferQueue(slow, 1)

        def wait():
            request.start_async(ones)
            request.wait()

        def wait_for():
            request.start_async(ones)
            request.wait_for(100000)

        def wait_all():
            queue.start_async(ones)
            queue.start_async(ones)
            queue.wait_all()
        for work in (lambda: request.infer(ones), lambda: slow(ones), wait, wait_for, wait_all):
            counted = 0
            thread = threading.Thread(target=work)
            thread.start()
            while thread.is_alive():
                time.sleep(0.001)
                counted += 1
            self.assertGreater(counted, 20)

    def test_a_request_of_many(self):
        """One wins, others are told; nothing is mixed."""
        request = hetero.Core().compile_model(small_models.chain(), "CPU").create_infer_request()
        done = []

        def work(seed):
            x = np.random.default_rng(seed).standard_normal((1, 4, 8, 8)).astype(np.float32)
            for _ in range(200):
                try:
                    request.infer(x)
                    request.results
                    request.get_input_tensor()
                    request.set_tensor("x", x)
                    done.append(seed)
                except Busy:
                    pass
        self.assertEqual(self.run_all([lambda seed=seed: work(seed) for seed in range(4)]), [])
        self.assertTrue(done)

    def test_a_model_that_changes_while_it_compiles(self):
        core = hetero.Core()
        model = core.read_model(small_models.chain())
        stop = threading.Event()

        def change():
            while not stop.is_set():
                for op in model.get_ops():
                    op.get_rt_info()["affinity"] = "CPU"
                model.reshape([1, 4, 8, 8])

        def compile_it():
            for _ in range(30):
                core.compile_model(model, "CPU")
                core.query_model(model, "HETERO:CPU,REF")
            stop.set()
        self.assertEqual(self.run_all([change, compile_it]), [])


class States(unittest.TestCase):
    def test_state_belongs_to_a_request(self):
        path = small_models.real_file(self, "models/ir")
        core = hetero.Core()
        stateful = None
        for xml in sorted(path.rglob("*.xml"), key=lambda found: found.stat().st_size):
            if b'"Assign"' in xml.read_bytes():
                stateful = xml
                break
        if stateful is None:
            self.skipTest("there is no stateful model in HET_SHARED_DATA")
        compiled = core.compile_model(stateful, "CPU")
        one, other = compiled.create_infer_request(), compiled.create_infer_request()
        inputs = {port: np.ones(port.shape, port.element_type.to_dtype()) for port in compiled.inputs}
        first = [array.copy() for array in one.infer(inputs).values()]
        second = [array.copy() for array in one.infer(inputs).values()]
        self.assertEqual([array.tolist() for array in other.infer(inputs).values()], [array.tolist() for array in first])
        states = one.query_state()
        self.assertTrue(states)
        self.assertTrue(all(isinstance(state.name, str) and state.state.data.size for state in states))
        one.reset_state()
        self.assertEqual([array.tolist() for array in one.infer(inputs).values()], [array.tolist() for array in first])
        del second
        for _ in range(3000):  # more than a model keeps states of
            compiled.infer_new_request(inputs)
        one.stream = other.stream = "shared"
        again = [array.copy() for array in one.infer(inputs).values()]
        other.infer(inputs)
        self.assertEqual([array.tolist() for array in again], [array.tolist() for array in first])
        self.assertEqual(one.stream, "shared")


if __name__ == "__main__":
    small_models.main()

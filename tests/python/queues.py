"""AsyncInferQueue."""
import gc
import threading
import time
import unittest
import weakref

import numpy as np

import hetero
import small_models
from hetero.exceptions import Busy, Cancelled, ShapeMismatch


class Queue(unittest.TestCase):
    def setUp(self):
        self.core = hetero.Core()
        self.compiled = self.core.compile_model(small_models.add_one(), "CPU", {"NUM_STREAMS": 2})
        self.x = np.zeros((2, 3), np.float32)

    def test_every_execution_calls_back_once(self):
        queue = hetero.AsyncInferQueue(self.compiled, 4)
        seen = {}

        def done(request, number):
            seen[number] = (float(request.results["y"][0, 0]), request.userdata)
        queue.set_callback(done)
        for number in range(500):
            queue.start_async({0: self.x + number}, userdata=number)
        queue.wait_all()
        self.assertEqual(seen, {number: (number + 1, number) for number in range(500)})

    def test_jobs(self):
        self.assertEqual(len(hetero.AsyncInferQueue(self.compiled, 3)), 3)
        wanted = self.compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        self.assertEqual(len(hetero.AsyncInferQueue(self.compiled)), wanted)
        queue = hetero.AsyncInferQueue(self.compiled, 2)
        self.assertEqual([type(request) for request in queue], [hetero.InferRequest] * 2)
        self.assertIsInstance(queue[1], hetero.InferRequest)
        with self.assertRaises(IndexError):
            queue[2]
        with self.assertRaises(TypeError):
            hetero.AsyncInferQueue(self.compiled, -1)
        with self.assertRaises(TypeError):
            hetero.AsyncInferQueue("model")
        self.assertEqual(queue.userdata, [None, None])

    def test_as_benchmarks_use_it(self):
        """Inputs are filled once; ids of idle requests; latencies."""
        queue = hetero.AsyncInferQueue(self.compiled, 2)
        for request in queue:
            for port in self.compiled.inputs:
                request.get_tensor(port).data[:] = 3
        started = set()
        for _ in range(50):
            started.add(queue.get_idle_request_id())
            queue.start_async()
        queue.wait_all()
        self.assertTrue(queue.is_ready())
        for number in started:
            self.assertEqual(queue[number].results[0][0, 0], 4)
            self.assertGreater(queue[number].latency, 0)

    def test_without_inputs_and_shared_inputs(self):
        queue = hetero.AsyncInferQueue(self.compiled, 1)
        queue.start_async(self.x, share_inputs=True)
        queue.wait_all()
        self.x[:] = 7
        queue.start_async()
        queue.wait_all()
        self.assertEqual(queue[0].results[0][0, 0], 8)

    def test_callback_that_raises(self):
        queue = hetero.AsyncInferQueue(self.compiled, 2)

        def fail(_, number):
            if number == 3:
                raise ZeroDivisionError("in the callback")
        queue.set_callback(fail)
        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            for number in range(20):
                queue.start_async(self.x, number)
            queue.wait_all()
        queue.wait_all()
        queue.start_async(self.x, 5)
        queue.wait_all()

    def test_execution_that_fails(self):
        slow = self.core.compile_model(small_models.slow(100000), "REF")
        queue = hetero.AsyncInferQueue(slow, 1)
        called = []
        queue.set_callback(lambda request, data: called.append(data))
        queue.start_async(np.ones(64, np.float32), 1)
        queue[0].cancel()
        with self.assertRaises(Cancelled):
            queue.wait_all()
        self.assertEqual(called, [])
        queue.start_async(np.ones(64, np.float32), 2)
        queue.wait_all()
        self.assertEqual(called, [2])

    def test_bad_inputs_leave_the_queue_whole(self):
        queue = hetero.AsyncInferQueue(self.compiled, 1)
        for _ in range(3):
            with self.assertRaises(ShapeMismatch):
                queue.start_async(np.zeros(5, np.float32))
        self.assertTrue(queue.is_ready())
        queue.start_async(self.x)
        queue.wait_all()

    def test_start_in_a_callback(self):
        queue = hetero.AsyncInferQueue(self.compiled, 4)
        seen = []
        lock = threading.Lock()

        def again(_, depth):
            with lock:
                seen.append(depth)
            if depth:
                try:
                    queue.start_async(self.x, depth - 1)
                except Busy:
                    pass
        queue.set_callback(again)
        for _ in range(20):
            queue.start_async(self.x, 1)
        while True:
            queue.wait_all()
            before = len(seen)
            time.sleep(0.05)
            if len(seen) == before:
                break
        self.assertGreaterEqual(seen.count(1), 20)
        self.assertGreater(seen.count(0), 0)

    def test_callback_that_would_wait_for_ever(self):
        queue = hetero.AsyncInferQueue(self.compiled, 1)
        errors = []

        def stuck(_, __):
            for call in (lambda: queue.start_async(self.x), queue.wait_all, queue.get_idle_request_id):
                try:
                    call()
                except Busy as error:
                    errors.append(str(error))
        queue.set_callback(stuck)
        queue.start_async(self.x)
        queue.wait_all()
        self.assertEqual(len(errors), 3)

    def test_queue_that_goes_while_it_runs(self):
        called = []
        for number in range(10):
            queue = hetero.AsyncInferQueue(self.compiled, 2)
            queue.set_callback(lambda request, data: called.append(data))
            queue.start_async(self.x, number)
            del queue
        self.assertEqual(called, list(range(10)))

    def test_queue_that_goes_in_its_callback(self):
        for _ in range(20):
            box = [hetero.AsyncInferQueue(self.compiled, 3)]
            ended = threading.Event()

            def let_go(request, data, box=box, ended=ended):
                box.clear()
                ended.set()
            box[0].set_callback(let_go)
            try:
                for _ in range(3):
                    box[0].start_async(self.x)
            except IndexError:
                pass  # it has gone
            self.assertTrue(ended.wait(20))

    def test_request_outlives_its_queue(self):
        queue = hetero.AsyncInferQueue(self.compiled, 2)
        request = queue[0]
        queue.start_async(self.x)
        queue.wait_all()
        del queue
        gc.collect()
        request.start_async(self.x + 1)
        request.wait()
        self.assertEqual(request.results[0][0, 0], 2)

    def test_cycle_is_collected(self):
        class Application:
            def __init__(self, compiled):
                self.queue = hetero.AsyncInferQueue(compiled, 2)
                self.queue.set_callback(self.done)
                self.results = []

            def done(self, request, number):
                self.results.append(number)
        application = Application(self.compiled)
        for number in range(10):
            application.queue.start_async(self.x, number)
        application.queue.wait_all()
        self.assertEqual(sorted(application.results), list(range(10)))
        gone = weakref.ref(application)
        del application
        gc.collect()
        self.assertIsNone(gone())

    def test_several_threads_start(self):
        queue = hetero.AsyncInferQueue(self.compiled, 3)
        seen = []
        lock = threading.Lock()

        def done(request, number):
            with lock:
                seen.append((number, float(request.results[0][0, 0])))
        queue.set_callback(done)

        def work(base):
            for number in range(base, base + 200):
                queue.start_async(self.x + number, number)
        threads = [threading.Thread(target=work, args=(base,)) for base in (0, 1000, 2000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        queue.wait_all()
        self.assertEqual(len(seen), 600)
        self.assertTrue(all(value == number + 1 for number, value in seen))


if __name__ == "__main__":
    small_models.main()

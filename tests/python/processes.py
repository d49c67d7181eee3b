"""Ctrl-C, fork(), the end of the interpreter: programs of their own, which must end as they should and in time."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import small_models

#: Rounds of the slow model that take many seconds: the most that a Loop may have.
LONG = 1 << 24


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, content in (("quick", small_models.add_one()), ("slow", small_models.slow(LONG)), ("second", small_models.slow(100000))):
            with open(os.path.join(self.folder.name, name + ".onnx"), "wb") as file:
                file.write(content)

    def start(self, program):
        prologue = """
            import gc, os, signal, sys, threading, time
            import numpy as np
            import hetero
            core = hetero.Core()
            def compiled(name, device="CPU", config=None):
                return core.compile_model(name + ".onnx", device, config)
            x, ones = np.zeros((2, 3), np.float32), np.ones(64, np.float32)
        """
        text = textwrap.dedent(prologue) + textwrap.dedent(program)
        # From 3.12 on Python warns of fork() with threads.
        command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", text]
        # Where this test runs in the background, SIGINT is ignored, which children inherit.
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGINT, before)

    def run_program(self, program, status=0, timeout=60):
        started = self.start(program)
        try:
            out, err = started.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            started.kill()
            self.fail(f"it hangs: {started.communicate()}")
        self.assertEqual((started.returncode, err), (status, ""), out)
        return out

    def interrupt(self, program, expected="KeyboardInterrupt"):
        """Sends SIGINT once the program waits, and expects it to end soon."""
        started = self.start(program)
        self.assertEqual(started.stdout.readline(), "waiting\n", "see the program's errors")
        time.sleep(0.3)
        began = time.monotonic()
        started.send_signal(signal.SIGINT)
        try:
            out, err = started.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            started.kill()
            self.fail(f"Ctrl-C does not end it: {started.communicate()}")
        self.assertLess(time.monotonic() - began, 10)
        self.assertIn(expected, err + out)

    def test_ctrl_c_ends_infer(self):
        self.interrupt("""
            request = compiled("slow", "REF").create_infer_request()
            print("waiting", flush=True)
            request.infer(ones)
        """)

    def test_ctrl_c_ends_a_call(self):
        self.interrupt("""
            model = compiled("slow", "REF")
            print("waiting", flush=True)
            model(ones)
        """)

    def test_ctrl_c_ends_wait(self):
        self.interrupt("""
            request = compiled("slow", "REF").create_infer_request()
            request.start_async(ones)
            print("waiting", flush=True)
            try:
                request.wait()
            except KeyboardInterrupt:
                assert not request.wait_for(0)
                request.cancel()
                try:
                    request.wait()
                except hetero.exceptions.Cancelled:
                    print("KeyboardInterrupt and the request goes on")
        """, "the request goes on")

    def test_ctrl_c_ends_wait_for(self):
        self.interrupt("""
            request = compiled("slow", "REF").create_infer_request()
            request.start_async(ones)
            print("waiting", flush=True)
            request.wait_for(10**9)
        """)

    def test_ctrl_c_ends_wait_all(self):
        self.interrupt("""
            queue = hetero.AsyncInferQueue(compiled("slow", "REF"), 1)
            queue.start_async(ones)
            print("waiting", flush=True)
            try:
                queue.wait_all()
            finally:
                queue[0].cancel()
        """)

    def test_ctrl_c_ends_a_wait_for_an_idle_request(self):
        self.interrupt("""
            queue = hetero.AsyncInferQueue(compiled("slow", "REF"), 1)
            queue.start_async(ones)
            print("waiting", flush=True)
            try:
                queue.start_async(ones)
            finally:
                queue[0].cancel()
        """)

    def test_signal_handlers_run(self):
        self.interrupt("""
            signal.signal(signal.SIGINT, lambda *_: (print("my handler", flush=True), os._exit(0)))
            request = compiled("slow", "REF").create_infer_request()
            request.start_async(ones)
            print("waiting", flush=True)
            request.wait()
        """, "my handler")

    def test_the_end_while_requests_run(self):
        """Of every kind of owner: nothing hangs, nothing crashes."""
        for owner in ("request = compiled('slow', 'REF').create_infer_request(); request.start_async(ones)",
                      "request = compiled('slow', 'REF').create_infer_request(); request.set_callback(print); request.start_async(ones)",
                      "queue = hetero.AsyncInferQueue(compiled('slow', 'REF'), 1); queue.set_callback(print); queue.start_async(ones)",
                      "box = {'q': hetero.AsyncInferQueue(compiled('slow', 'REF'), 1)}; box['box'] = box; box['q'].start_async(ones)",
                      "import builtins; builtins.kept = compiled('slow', 'REF').create_infer_request(); builtins.kept.start_async(ones)"):
            with self.subTest(owner=owner):
                self.run_program(owner)

    def test_the_end_while_a_callback_starts_again(self):
        self.run_program("""
            request = compiled("quick").create_infer_request()
            def again(_):
                request.start_async(x)
            request.set_callback(again)
            request.start_async(x)
            time.sleep(0.2)
        """)

    def test_the_end_while_daemon_threads_work(self):
        for _ in range(10):
            self.run_program("""
                model = compiled("quick", config={"NUM_STREAMS": 2})
                def work():
                    while True:
                        model(x)
                for _ in range(4):
                    threading.Thread(target=work, daemon=True).start()
                time.sleep(0.2)
            """)

    def test_exit_in_the_middle(self):
        self.run_program("""
            queue = hetero.AsyncInferQueue(compiled("second", "REF"), 1)
            queue.set_callback(lambda *_: None)
            queue.start_async(ones)
            sys.exit(3)
        """, 3)

    def test_fork(self):
        out = self.run_program("""
            model = compiled("quick")
            request = model.create_infer_request()
            queue = hetero.AsyncInferQueue(model, 2)
            vision = model(x)
            queue.start_async(x)
            queue.wait_all()
            pid = os.fork()
            if pid == 0:
                messages = set()
                for call in (lambda: model(x), lambda: request.infer(x), request.start_async, request.wait, lambda: request.wait_for(1), request.cancel,
                             lambda: queue.start_async(x), queue.wait_all, lambda: core.compile_model("quick.onnx", "CPU"), model.create_infer_request,
                             model.export_model, lambda: model.get_property("NETWORK_NAME"), request.query_state, lambda: hetero.compile_model("quick.onnx", "CPU")):
                    try:
                        call()
                        print("no error")
                    except hetero.HeteroError as error:
                        messages.add("fork" in str(error))
                print(messages, flush=True)
                del model, request, queue
                gc.collect()
                sys.exit(7)
            print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            print("parent", model(x)[0][0, 0])
        """)
        self.assertIn("{True}", out)
        self.assertNotIn("no error", out)
        self.assertIn("child 7", out)
        self.assertIn("parent 1.0", out)

    def test_fork_while_a_request_runs(self):
        out = self.run_program("""
            request = compiled("second", "REF").create_infer_request()
            request.set_callback(print)
            request.start_async(ones)
            pid = os.fork()
            if pid == 0:
                del request
                sys.exit(7)
            print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            request.wait()
        """)
        self.assertIn("child 7", out)

    def test_worker_processes(self):
        """multiprocessing's own way, after the parent has used the library."""
        with open(os.path.join(self.folder.name, "workers.py"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""
                import multiprocessing
                import numpy as np
                import hetero

                def work(number):
                    return float(hetero.compile_model("quick.onnx", "CPU")(np.full((2, 3), number, np.float32))[0][0, 0])

                if __name__ == "__main__":
                    print(work(1))
                    with multiprocessing.get_context("spawn").Pool(2) as pool:
                        print(pool.map(work, range(4)))
            """))
        done = subprocess.run([sys.executable, "workers.py"], cwd=self.folder.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[1.0, 2.0, 3.0, 4.0]", done.stdout)

    def test_fork_before_the_first_use(self):
        started = subprocess.run([sys.executable, "-c", textwrap.dedent("""
            import os, sys
            import numpy as np
            import hetero
            pid = os.fork()
            value = hetero.compile_model("quick.onnx", "CPU")(np.zeros((2, 3), np.float32))[0][0, 0]
            print(value, flush=True)
            if pid:
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)], cwd=self.folder.name, capture_output=True, text=True, timeout=60)
        self.assertEqual((started.returncode, started.stdout.count("1.0")), (0, 2), started.stderr)


if __name__ == "__main__":
    small_models.main()

"""The element heteropython from start to stop and beyond: threads, state changes, seeks, cycles, the end of the process, leaks."""
import os
import sys
import textwrap
import time
import unittest

import small_models
from element_rig import FRAMES, PROLOGUE, Gst, Scripts

LINE = FRAMES.format(5) + "heteropython module=script.py {} ! fakesink"
KINDS = ["shared", "own"] + (["own-gil"] if sys.version_info >= (3, 12) else [])


class Stop(Scripts):
    def test_what_was_printed_is_not_lost(self):
        self.write("script.py", "import sys\ndef process_frame(frame):\n    print('seen')\n    print('told', file=sys.stderr, end='')\n")
        for kind in KINDS:
            with self.subTest(kind=kind):
                status, out, err = self.launch(LINE.format("interpreter=" + kind))
                self.assertEqual((status, out, err), (0, "seen\n" * 5, "told" * 5))
                # It is written at the stop.
                command = [sys.executable, "-c", textwrap.dedent(PROLOGUE) + f"run({LINE.format('interpreter=' + kind)!r})\nos._exit(0)"]
                self.assertEqual(self.end(self.start(command)), (0, "seen\n" * 5, "told" * 5))

    def test_the_object_is_let_go_of_at_the_stop(self):
        self.write("script.py", """
            class Kept:
                def __del__(self):
                    print("gone")
                def process_frame(self, frame):
                    pass
        """)
        for kind in KINDS:
            with self.subTest(kind=kind):
                out = self.program(f"""
                    print(run({LINE.format("class=Kept interpreter=" + kind)!r}), flush=True)
                    print("after", flush=True)
                """)
                self.assertEqual(out, "gone\neos\nafter\n")

    def test_on_another_thread_than_the_start(self):
        self.write("script.py", "def process_frame(frame):\n    print('seen')\n")
        for kind in KINDS:
            with self.subTest(kind=kind):
                out = self.program(f"""
                    pipeline = Gst.parse_launch({LINE.format("interpreter=" + kind)!r})
                    for state in (Gst.State.PAUSED, Gst.State.NULL):
                        thread = threading.Thread(target=pipeline.set_state, args=[state])
                        thread.start()
                        thread.join()
                        pipeline.get_state(30 * Gst.SECOND)
                    print("null")
                """)
                self.assertEqual(out, "seen\nnull\n")

    def test_functions_of_atexit_run_once(self):
        self.write("script.py", "import atexit\natexit.register(print, 'end')\ndef process_frame(frame): pass\n")
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.assertEqual(self.printed(LINE.format("interpreter=" + kind)), "end\n")
        self.assertEqual(self.program(f"print(run({LINE.format('')!r}))"), "eos\nend\n")

    def test_threads_of_an_own_interpreter_that_are_no_daemons_are_waited_for(self):
        self.write("script.py", """
            import threading, time
            def work():
                time.sleep(1.5)
                print("done")
            def process_frame(frame):
                # What a thread that Python does not know starts is a daemon otherwise.
                threading.Thread(target=work, daemon=False).start()
        """)
        out = self.printed(LINE.format("interpreter=own"))
        self.assertEqual(out, "done\n" * 5)

    def test_an_own_interpreter_with_daemons_stays(self):
        self.write("script.py", """
            import threading, time
            def process_frame(frame): pass
            def work():
                while True:
                    time.sleep(0.001)
            threading.Thread(target=work, daemon=True).start()
        """)
        status, _, err = self.launch(LINE.format("interpreter=own"), GST_DEBUG="heteropython:2", GST_DEBUG_NO_COLOR="1")
        self.assertEqual(status, 0, err)
        self.assertIn("threads of the script that are daemons still run, so its interpreter stays", err)


class Threads(Scripts):
    def test_a_thread_of_the_script_runs_beside(self):
        self.write("script.py", """
            import threading, time
            ticks = 0
            def tick():
                global ticks
                while True:
                    ticks += 1
                    time.sleep(0.001)
            threading.Thread(target=tick, daemon=True).start()
            def process_frame(frame):
                before, end = ticks, time.monotonic() + 20
                while ticks == before and time.monotonic() < end:
                    time.sleep(0.001)
                print(ticks > before)
        """)
        self.assertEqual(self.printed(LINE.format("")), "True\n" * 5)

    def test_a_thread_keeps_what_is_its_own_over_frames(self):
        self.write("script.py", """
            import threading
            own = threading.local()
            def process_frame(frame):
                own.count = getattr(own, "count", 0) + 1
                print(own.count)
        """)
        self.assertEqual(self.printed(LINE.format("")), "1\n2\n3\n4\n5\n")

    def test_elements_in_parallel(self):
        self.write("script.py", """
            import threading
            def process_frame(frame):
                for i in range(200):
                    str(i)
                threading.current_thread().name
        """)
        for kinds in [[kind] * 4 for kind in KINDS] + [["shared", "own", "own", "shared"]]:
            with self.subTest(kinds=kinds):
                branch = FRAMES.format(200) + "heteropython module=script.py interpreter={} ! fakesink "
                self.assertEqual(self.printed("".join(map(branch.format, kinds))), "")

    def test_both_kinds_on_one_thread(self):
        self.write("script.py", """
            import ctypes
            order = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
            values = (ctypes.c_int * 2)(1, 2)
            def process_frame(frame):
                # The C function calls back, and Python takes the GIL for that.
                ctypes.CDLL(None).qsort(values, 2, 4, order)
                print(__name__)
        """)
        element = "heteropython module=script.py interpreter={} ! ".format
        line = FRAMES.format(3) + element("shared") + element("own") + element("shared") + element("own") + "fakesink"
        self.assertEqual(self.printed(line), "script\n" * 12)


    def test_c_functions_that_take_the_gil_come_back_to_their_interpreter(self):
        # Called with the GIL, as a PyDLL's are, they take it once more for the function that they are given.
        self.write("script.py", """
            import ctypes
            order = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: print("called", flush=True) or 0)
            def process_frame(*unused):
                ctypes.PyDLL(None).qsort((ctypes.c_int * 2)(1, 2), 2, 4, order)
            process_frame(None)
            class Called:
                process_frame = __del__ = process_frame
        """)
        for kind in KINDS:
            with self.subTest(kind=kind):
                line = FRAMES.format(1) + f"heteropython module=script.py class=Called interpreter={kind} ! fakesink"
                self.assertEqual(self.printed(line), "called\n" * 3)
                self.assertEqual(self.program(f"print(run({line!r}))"), "called\n" * 3 + "eos\n")

    def test_a_thread_that_holds_a_gil_may_start_and_stop_an_element(self):
        self.write("inner.py", "class Inner:\n    def __del__(self):\n        print('stopped')\n    def process_frame(self, frame): pass\n")
        self.write("script.py", """
            import ctypes
            def process_frame(frame):
                # Functions of a PyDLL are called with the GIL.
                gst = ctypes.PyDLL("libgstreamer-1.0.so.0")
                gst.gst_parse_launch.restype = ctypes.c_void_p
                for kind in KINDS:
                    element = ctypes.c_void_p(gst.gst_parse_launch(b"heteropython module=inner.py class=Inner interpreter=" + kind, None))
                    print(gst.gst_element_set_state(element, 3), flush=True)
                    gst.gst_element_set_state(element, 1)
                    gst.gst_object_unref(element)
        """.replace("KINDS", str([kind.encode() for kind in KINDS])))
        for kind in KINDS:
            with self.subTest(kind=kind):
                out = self.printed(FRAMES.format(1) + f"heteropython module=script.py interpreter={kind} ! fakesink")
                self.assertEqual(out, "1\nstopped\n" * len(KINDS))


class Changes(Scripts):
    def test_null_while_a_function_runs(self):
        self.write("script.py", """
            import os, time
            def process_frame(frame):
                print("in", flush=True)
                open("inside", "w").close()
                while not os.path.exists("over"):
                    time.sleep(0.02)
                print("out", flush=True)
        """)
        for kind in KINDS:
            with self.subTest(kind=kind):
                out = self.program(f"""
                    pipeline = Gst.parse_launch({FRAMES.format(-1) + f"heteropython module=script.py interpreter={kind} ! fakesink"!r})
                    pipeline.set_state(Gst.State.PLAYING)
                    while not os.path.exists("inside"):
                        time.sleep(0.02)
                    threading.Timer(0.5, lambda: open("over", "w").close()).start()
                    pipeline.set_state(Gst.State.NULL)
                    print("null")
                    os.remove("inside")
                    os.remove("over")
                """)
                # Once, unless this thread came to change the state later than the timer.
                self.assertRegex(out, r"\A(in\nout\n)+null\n\Z")

    def test_seeks_while_a_function_runs(self):
        self.write("script.py", """
            import time
            count = 0
            def process_frame(frame):
                global count
                count += 1
                time.sleep(0.01)
        """)
        line = FRAMES.format(100000) + "heteropython module=script.py ! fakesink"
        out = self.program(f"""
            pipeline = Gst.parse_launch({line!r})
            pipeline.set_state(Gst.State.PLAYING)
            pipeline.get_state(30 * Gst.SECOND)
            script = sys.modules["script"]
            for i in range(30):
                assert pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, i * Gst.SECOND)
                before, end = script.count, time.monotonic() + 20
                while script.count == before and time.monotonic() < end:
                    time.sleep(0.001)
                assert script.count > before
            pipeline.set_state(Gst.State.NULL)
            print("done")
        """)
        self.assertEqual(out, "done\n")

    def test_cycles(self):
        self.write("script.py", """
            class Kept:
                def __init__(self):
                    self.memory = bytearray(100000)
                def process_frame(self, frame):
                    frame.add_region(1, 1, 2, 2, "mark", 0.5)
        """)
        for kind in KINDS:
            with self.subTest(kind=kind):
                out = self.program(f"""
                    def state():
                        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
                        return int(status["Threads"]), int(status["VmRSS"].split()[0])
                    line = {LINE.format("class=Kept interpreter=" + kind)!r}
                    for i in range(20):
                        assert run(line) == "eos"
                    before = state()
                    for i in range(100):
                        assert run(line) == "eos"
                    print(*before, *state())
                """)
                threads_before, memory_before, threads, memory = map(int, out.split())
                print(f"100 cycles, {kind}: {threads - threads_before:+} threads, {memory - memory_before:+} KiB", file=sys.stderr)
                self.assertLessEqual(threads, threads_before + 2)
                # An object that stays would be 10,000 KiB; Python itself loses some of an interpreter.
                if not os.environ.get("HET_SANITIZED"):  # sanitizers keep freed memory
                    self.assertLess(memory - memory_before, CYCLE_GROWTH[kind])


#: KiB that 100 cycles may leave. Before 3.14 Python keeps the memory of an interpreter with a GIL of its own, 3.6 MiB each.
CYCLE_GROWTH = {"shared": 4000, "own": 9000, "own-gil": 9000 if sys.version_info >= (3, 14) else 500000}


#: Before a script's function that does WAIT: what Python's atexit finds of it. A short one has come back, and none begins.
AT_EXIT = """
    import time
    inside, count = False, 0
    def look(short):
        before, was_inside = count, inside
        time.sleep(0.3)
        print("end", count > 0, count == before, was_inside != short)
    def process_frame(frame):
        global inside, count
        inside, count = True, count + 1
        WAIT
        inside = False
"""
#: And whether it is short.
WAITS = {"time.sleep(0.1)": True, "[i for i in range(10 ** 6)]": True, "time.sleep(50)": False}


class End(Scripts):
    def test_the_application_ends_while_a_function_runs(self):
        for wait, short in WAITS.items():
            with self.subTest(wait=wait):
                self.write("script.py", AT_EXIT.replace("WAIT", wait))
                begun = time.monotonic()
                # What is registered first is called last, after the element's.
                out = self.program(f"""
                    import atexit
                    atexit.register(lambda: sys.modules["script"].look({short}))
                    pipeline = Gst.parse_launch({FRAMES.format(-1) + "heteropython module=script.py ! fakesink"!r})
                    pipeline.set_state(Gst.State.PLAYING)
                    while getattr(sys.modules.get("script"), "count", 0) == 0:
                        time.sleep(0.02)
                    time.sleep(0.3)
                """)
                self.assertEqual(out, "end True True True\n")
                self.assertLess(time.monotonic() - begun, 20)

    def test_the_process_exits_while_a_function_runs(self):
        for wait, short in WAITS.items():
            for kind in KINDS:
                with self.subTest(wait=wait, kind=kind):
                    # The main thread, which waits in C, exits in the handler of a signal.
                    self.write("script.py", AT_EXIT.replace("WAIT", wait) + f"""
    import atexit, ctypes, os, threading
    atexit.register(look, {short})
    libc = ctypes.CDLL(None)
    libc.signal(10, libc.exit)
    def leave():
        while count == 0:
            time.sleep(0.02)
        time.sleep(0.3)
        libc.tgkill(os.getpid(), os.getpid(), 10)
    threading.Thread(target=leave, daemon=True).start()
                    """)
                    begun = time.monotonic()
                    status, out, err = self.launch(FRAMES.format(-1) + f"heteropython module=script.py interpreter={kind} ! fakesink")
                    # Interpreters of elements that were not stopped just end with the process.
                    self.assertEqual((status, out, err), (10, "end True True True\n" if kind == "shared" else "", ""))
                    self.assertLess(time.monotonic() - begun, 20)


    def test_a_thread_of_the_script_exits_the_process(self):
        self.write("script.py", """
            import ctypes, threading
            import hetero
            kept = hetero.Core()
            def process_frame(frame):
                if process_frame.frames == 0:
                    threading.Thread(target=lambda: ctypes.CDLL(None).exit(7), daemon=True).start()
                process_frame.frames += 1
            process_frame.frames = 0
        """)
        status, out, err = self.launch(FRAMES.format(-1) + "heteropython module=script.py ! fakesink")
        self.assertEqual((status, out, err), (7, "", ""))


class Leaks(Scripts):
    def traced(self, line):
        status, out, err = self.launch(line, GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1")
        self.assertNotIn("object-alive, type-name=(string)Gst", err)
        self.assertNotIn("CRITICAL", err)
        return status

    def test_nothing_of_gstreamers_is_leaked(self):
        self.write("script.py", """
            kept = []
            def process_frame(frame):
                frame.add_region(1, 1, 2, 2, "mark", 0.5)
                return len(list(frame.regions())) == 1
            def keep(frame):
                kept[:] = [frame]
            def fail(frame):
                raise ValueError(frame)
            def drop(frame):
                return False
        """)
        for kind in KINDS:
            for function, is_good in (("process_frame", True), ("drop", True), ("fail", False), ("absent", False)):
                with self.subTest(kind=kind, function=function):
                    line = LINE.format(f"function={function} interpreter={kind}")
                    self.assertEqual(self.traced(line) == 0, is_good)


if __name__ == "__main__":
    small_models.main()

"""The element heteropython and fork(): children of a function, pools of processes, pipelines in children."""
import unittest

import small_models
from element_rig import FRAMES, Gst, Scripts

ONCE = FRAMES.format(1) + "heteropython module=script.py {} ! fakesink"
# From 3.12 on Python warns of fork() with threads.
QUIET = {"PYTHONWARNINGS": "ignore"}


class Children(Scripts):
    #: Of what the child does: what its parent sees, and what is printed beside.
    ENDS = {
        "os._exit(7)": (7, ""),
        "sys.exit(5)": (5, ""),
        "sys.exit()": (0, ""),
        "sys.exit('told')": (1, "told\n"),
        "return": (0, ""),
        "ctypes.CDLL(None).exit(4)": (4, ""),
        "1 / 0": (1, "ZeroDivisionError: division by zero\n"),
    }

    def write_script(self, end):
        self.write("script.py", f"""
            import atexit, ctypes, os, sys
            atexit.register(print, "atexit")
            def process_frame(frame):
                child = os.fork()
                if child == 0:
                    print(sum(range(10)))
                    {end}
                print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """)

    def test_they_end_as_they_would(self):
        for end, (status, told) in self.ENDS.items():
            with self.subTest(end=end):
                self.write_script(end)
                code, out, err = self.launch(ONCE.format(""), **QUIET)
                # Without Python's end nothing is flushed.
                printed = "" if "exit(7)" in end or "exit(4)" in end else "45\n"
                self.assertEqual((code, out), (0, f"{printed}child {status}\natexit\n"), err)
                self.assertEqual(err[-len(told):] if told else err, told)

    def test_they_end_as_they_would_in_a_program(self):
        self.write_script("sys.exit(5)")
        self.assertEqual(self.program(f"print(run({ONCE.format('')!r}))", **QUIET), "45\nchild 5\neos\natexit\n")

    def test_those_of_another_thread_end_at_once(self):
        self.write("script.py", """
            import os, time
            def process_frame(frame):
                open("begun", "w").close()
                end = time.monotonic() + 40
                while not os.path.exists("over") and time.monotonic() < end:
                    time.sleep(0.05)
        """)
        out = self.program(f"""
            pipeline = Gst.parse_launch({ONCE.format("")!r})
            pipeline.set_state(Gst.State.PLAYING)
            while not os.path.exists("begun"):
                time.sleep(0.05)
            begun = time.monotonic()
            child = os.fork()
            if child == 0:
                sys.exit(3)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - begun < 30)
            open("over", "w").close()
            pipeline.set_state(Gst.State.NULL)
        """, **QUIET)
        self.assertEqual(out, "3 True\n")

    def test_in_an_own_interpreter(self):
        self.write_script("os._exit(7)")
        _, _, err = self.launch(ONCE.format("interpreter=own"), **QUIET)
        self.assertRegex(err, r"RuntimeError: Python 3\S+ forks in its main interpreter only: set interpreter=shared \(script\.py, line 5, in ")

    def test_a_pool_of_processes(self):
        self.write("work.py", "def square(x):\n    return x * x\n")
        self.write("script.py", """
            import multiprocessing
            from work import square
            def process_frame(frame):
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    print(pool.map(square, range(5)))
        """)
        self.assertEqual(self.printed(ONCE.format(""), **QUIET), "[0, 1, 4, 9, 16]\n")

    def test_a_program_is_started(self):
        self.write("script.py", """
            import subprocess
            def process_frame(frame):
                print(subprocess.run(["echo", "said"], capture_output=True, text=True, preexec_fn=lambda: None).stdout, end="")
        """)
        self.assertEqual(self.printed(ONCE.format(""), **QUIET), "said\n")


class PipelinesOfChildren(Scripts):
    # Of a process in which a streaming thread has ended, GLib waits for that thread in a child: this one stays.
    PROGRAM = """
        kept = Gst.parse_launch({line!r})
        kept.set_state(Gst.State.PAUSED)
        kept.get_state(30 * Gst.SECOND)
        import ctypes
        child = {fork}
        if child == 0:
            print("child:", run({line!r}), flush=True)
            os._exit(0)
        kept.set_state(Gst.State.NULL)
        print("ends with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    #: Whether GStreamer can do it without Python on its threads. What is told of a child that does not end is that.
    CONTROL = """
        kept = Gst.parse_launch("fakesrc ! fakesink")
        kept.set_state(Gst.State.PAUSED)
        kept.get_state(30 * Gst.SECOND)
        child = os.fork()
        if child == 0:
            pipeline = Gst.parse_launch("fakesrc num-buffers=1 ! fakesink")
            threading.Timer(3, os._exit, [1]).start()
            pipeline.set_state(Gst.State.PLAYING)
            ended = pipeline.get_bus().timed_pop_filtered(2 * Gst.SECOND, Gst.MessageType.EOS)
            os._exit(0 if ended else 1)
        kept.set_state(Gst.State.NULL)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

    def setUp(self):
        super().setUp()
        self.write("script.py", "def process_frame(frame):\n    print('frame', flush=True)\n")

    def need_pipelines_of_children(self):
        if self.program(self.CONTROL, **QUIET) != "0\n":
            self.skipTest(f"{Gst.version_string()} with this GLib starts no streaming threads in a child of a process that has some")

    def test_after_pythons_fork(self):
        self.need_pipelines_of_children()
        out = self.program(self.PROGRAM.format(line=ONCE.format(""), fork="os.fork()"), **QUIET)
        self.assertEqual(out, "frame\nframe\nchild: eos\nends with 0\n")

    def test_after_pythons_fork_it_starts(self):
        # Without a streaming thread.
        out = self.program("""
            def start():
                element = Gst.parse_launch("heteropython module=script.py")
                print(element.set_state(Gst.State.PAUSED).value_nick, element.set_state(Gst.State.NULL).value_nick, flush=True)
            start()
            child = os.fork()
            if child == 0:
                start()
                os._exit(0)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """, **QUIET)
        self.assertEqual(out, "success success\nsuccess success\n0\n")

    def test_after_pythons_fork_in_a_function(self):
        self.need_pipelines_of_children()
        # Where the plugin has started Python.
        self.write("script.py", f"""
            import os
            import gi
            gi.require_version("Gst", "1.0")
            from gi.repository import Gst
            def process_frame(frame):
                child = os.fork()
                if child == 0:
                    Gst.init(None)
                    pipeline = Gst.parse_launch({ONCE.format("function=other")!r})
                    pipeline.set_state(Gst.State.PLAYING)
                    message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
                    print(message and message.type.first_value_nick, flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
            def other(frame):
                print("in the child", flush=True)
        """)
        self.assertEqual(self.printed(ONCE.format(""), **QUIET), "in the child\neos\n")

    def test_after_another_fork_it_is_an_error(self):
        out = self.program(self.PROGRAM.format(line=ONCE.format(""), fork="ctypes.CDLL(None).fork()"), **QUIET)
        self.assertRegex(out, r"^frame\nchild: Python cannot go on in process \d+, which was forked while Python ran, but not by os\.fork\(\); "
                              r".*\nends with 0\n$")


if __name__ == "__main__":
    small_models.main()

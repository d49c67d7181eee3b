"""Scripts in a folder of their own, run by the element heteropython: on lines of gst-launch-1.0, in programs and in this process."""
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)

#: Enough for a line on a busy machine; what hangs fails by it.
SECONDS = int(os.environ.get("HET_TEST_SECONDS", "60"))
FRAMES = "videotestsrc num-buffers={} ! video/x-raw,format=RGB,width=32,height=16,framerate=30/1 ! "
PROLOGUE = """
    import os, sys, threading, time
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst, GLib
    Gst.init(None)
    def run(line):
        pipeline = Gst.parse_launch(line)
        bus = pipeline.get_bus()
        pipeline.set_state(Gst.State.PLAYING)
        message = bus.timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        if message is None:
            return "no end"
        return "eos" if message.type == Gst.MessageType.EOS else message.parse_error()[0].message
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = os.path.realpath(made.name)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    # Without files of bytecode: those of a script that was written anew within a second would do for it.
    def start(self, command, **environment):
        return subprocess.Popen(command, cwd=self.folder, env={**os.environ, "PYTHONUNBUFFERED": "", "PYTHONDONTWRITEBYTECODE": "1", **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, start_new_session=True)

    def end(self, started):
        try:
            out, err = started.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            # With its children, which have its pipes.
            os.killpg(started.pid, signal.SIGKILL)
            self.fail(f"it hangs: {started.communicate()}")
        self.assertGreaterEqual(started.returncode, 0, f"it ended by a signal: {out}{err}")
        return started.returncode, out, err

    def launch(self, line, **environment):
        """Status, standard output and errors of gst-launch-1.0, where no application's Python runs."""
        return self.end(self.start(["gst-launch-1.0", "-q", *shlex.split(line)], **environment))

    def printed(self, line, **environment):
        """What a line that has to go well prints."""
        status, out, err = self.launch(line, **environment)
        self.assertEqual((status, err), (0, ""), out)
        return out

    def program(self, text, **environment):
        """What a program with `run(line)` prints."""
        command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(PROLOGUE) + textwrap.dedent(text)]
        status, out, err = self.end(self.start(command, **environment))
        self.assertEqual((status, err), (0, ""), out)
        return out

    def play(self, line):
        """The errors of heteropython, as pairs of message and details, when this process plays a line to its end."""
        pipeline = Gst.parse_launch(line)
        errors = []
        bus = pipeline.get_bus()
        has_started = pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE
        kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR
        has_ended = False
        # After an error there may be more; the source tells of it last.
        while message := bus.timed_pop_filtered(0 if not has_started or has_ended else SECONDS * Gst.SECOND, kinds):
            source = message.src.get_factory() if isinstance(message.src, Gst.Element) else None
            if message.type == Gst.MessageType.ERROR and source and source.get_name() == "heteropython":
                error, details = message.parse_error()
                errors.append((error.message, details))
            else:
                has_ended = True
        pipeline.set_state(Gst.State.NULL)
        self.assertTrue(has_ended or errors, "the line neither ends nor fails")
        return errors

    def failure(self, line):
        """The one error of a line that has to fail: message and details."""
        errors = self.play(line)
        self.assertEqual(len(errors), 1, errors)
        return errors[0]

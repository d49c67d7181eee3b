"""What heteropython says when a script or a property is wrong: one error each, with where it is, and the traceback in its details."""
import os
import re
import unittest

import small_models
from element_rig import FRAMES, Gst, Scripts

LINE = FRAMES.format(5) + "heteropython {} ! fakesink"


class Settings(Scripts):
    def told(self, properties):
        """The message; such errors have no traceback. Each test has a module `script` of its own, whose name is one more each time."""
        message, details = self.failure(LINE.format(properties))
        self.assertNotIn("Traceback", details)
        return re.sub(r"'script_\d+'", "'script'", message)

    def setUp(self):
        super().setUp()
        self.path = self.write("script.py", """
            import json
            from os.path import join
            constant = 3
            def second(frame): pass
            def process_frame(frame): pass
            class Plain:
                size = 4
                def act(self, frame): pass
            class Taking:
                def __init__(self, threshold): pass
                def process_frame(self, frame): pass
        """)

    def test_no_module(self):
        self.assertIn("property module is not set: set the path", self.told(""))

    def test_no_file(self):
        self.assertEqual(self.told("module=/absent/it.py"), "property module: there is no file /absent/it.py")
        self.assertEqual(self.told("module=absent.py"), f"property module: there is no file {os.getcwd()}/absent.py")
        self.assertIn(f"{self.folder} is a folder", self.told(f"module={self.folder}/"))

    def test_no_module_of_that_name(self):
        self.assertRegex(self.told("module=absent_one"), r"Python 3\.\d+\.\S+ \(.*\) finds no module 'absent_one'; set the path of a file, NAME\.py")
        self.assertIn("finds no module 'json.absent'", self.told("module=json.absent"))
        status, _, err = self.launch(LINE.format("module=script"))
        self.assertNotEqual(status, 0)
        self.assertIn("finds no module 'script'; the file of this name is module=script.py", err)

    def test_no_function_or_class(self):
        self.assertEqual(self.told(f"module={self.path} function=absent"),
                         f"module 'script' ({self.path}) has no function 'absent'; it has: process_frame, second")
        self.assertEqual(self.told(f"module={self.path} class=Absent"),
                         f"module 'script' ({self.path}) has no class 'Absent'; it has: Plain, Taking")
        self.assertEqual(self.told(f"module={self.path} class=Plain"),
                         f"class 'Plain' of module 'script' ({self.path}) has no method 'process_frame'; it has: act")
        self.assertIn("property function is empty", self.told(f'module={self.path} function=""'))

    def test_something_else_of_that_name(self):
        self.assertIn("'constant' of module 'script'", self.told(f"module={self.path} function=constant"))
        self.assertIn("is no class but of type 'function'; there are: Plain, Taking", self.told(f"module={self.path} class=second"))
        self.assertIn("is no method but of type 'int'; there are: act", self.told(f"module={self.path} class=Plain function=size"))

    def test_json(self):
        taking = f"module={self.path} class=Taking "
        self.assertEqual(self.told(taking + "arg=[1,x]"), "property arg: [1,x] is no JSON: Expecting value: line 1 column 4 (char 3)")
        self.assertIn("property kwarg: {a:1} is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
                      self.told(taking + "kwarg={a:1}"))
        self.assertIn("property kwarg: [1] is no JSON object", self.told(taking + "kwarg=[1]"))
        self.assertIn("nested too deep", self.told(taking + "arg=" + "[" * 100000))
        self.assertIn("arg and kwarg are for a class: set class", self.told(f"module={self.path} arg=1"))

    def test_no_package(self):
        for kind in ("shared", "own"):
            status, _, err = self.launch(LINE.format(f"module=script.py interpreter={kind}"), PYTHONPATH="")
            self.assertNotEqual(status, 0)
            self.assertRegex(err, r"Python 3\S+ \(\S+\) cannot import hetero\.gst: No module named 'hetero'; install python3-hetero and "
                                  r"gstreamer1\.0-hetero-python of the same version, or set PYTHONPATH=BUILD/python")

    def test_a_package_of_another_version(self):
        self.write("other/hetero/__init__.py", "")
        self.write("other/hetero/gst/__init__.py", "")
        self.write("other/hetero/gst/_gstgva.py", "def install(): pass\n")
        self.write("other/hetero/gst/_gst.py", """
            import ctypes
            make = ctypes.pythonapi.PyCapsule_New
            make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
            version, name = ctypes.c_char_p(b"0.0.7"), b"hetero.gst._gst._frame_loans"
            _frame_loans = make(ctypes.addressof(version), name, None)
        """)
        _, _, err = self.launch(LINE.format("module=script.py"), PYTHONPATH=os.path.join(self.folder, "other"))
        self.assertRegex(err, r"the plugin heteropython is of gst-hetero \d+\.\d+\.\d+, but the Python package hetero is of 0\.0\.7; install")

    def test_set_again_it_starts(self):
        pipeline = Gst.parse_launch(LINE.format("name=e module=absent_one"))
        self.assertEqual(pipeline.set_state(Gst.State.PAUSED), Gst.StateChangeReturn.FAILURE)
        pipeline.set_state(Gst.State.NULL)
        pipeline.get_by_name("e").set_property("module", self.path)
        self.assertNotEqual(pipeline.set_state(Gst.State.PAUSED), Gst.StateChangeReturn.FAILURE)
        pipeline.set_state(Gst.State.NULL)


class Exceptions(Scripts):
    def told(self, text, properties="", *, name="raising.py"):
        path = self.write(f"{self.id().split('.')[-1]}/{name}", text)
        message, details = self.failure(LINE.format(f"module={path} {properties}"))
        self.assertNotIn("<heteropython>", details)
        self.assertNotIn("importlib", details)
        return message, details, path

    def test_in_the_function(self):
        message, details, path = self.told("""
            def process_frame(frame):
                return deeper(frame)
            def deeper(frame):
                raise ValueError("not so")
        """)
        self.assertEqual(message, "ValueError: not so (raising.py, line 5, in deeper)")
        # As Python prints it, but for the marks below lines.
        plain = re.sub(r"(?m)^ +[\^~]+\n", "", details[details.index("Traceback"):])
        self.assertEqual(plain, f'Traceback (most recent call last):\n  File "{path}", line 3, in process_frame\n    return deeper(frame)\n'
                                f'  File "{path}", line 5, in deeper\n    raise ValueError("not so")\nValueError: not so\n')

    def test_in_a_library_the_scripts_line_is_told(self):
        message, details, _ = self.told("import json\ndef process_frame(frame):\n    json.loads('{')\n")
        self.assertRegex(message, r"JSONDecodeError: Expecting property name .* \(raising\.py, line 3, in process_frame\)")
        self.assertIn("decoder.py", details)

    def test_with_a_cause(self):
        _, details, _ = self.told("""
            def process_frame(frame):
                try:
                    {}["a"]
                except KeyError as failure:
                    raise RuntimeError("no a") from failure
        """)
        self.assertIn("KeyError: 'a'\n\nThe above exception was the direct cause of the following exception:", details)

    def test_at_import(self):
        # It is not left half imported.
        for _ in range(2):
            message, details, _ = self.told("import os\nos.absent\n", name="half_way.py")
            self.assertEqual(message, "AttributeError: module 'os' has no attribute 'absent' (half_way.py, line 2, in <module>)")
            self.assertIn("line 2, in <module>", details)

    def test_a_module_that_the_script_misses(self):
        message, _, _ = self.told("import absent_library\n")
        self.assertEqual(message, "ModuleNotFoundError: No module named 'absent_library' (raising.py, line 1, in <module>)")

    def test_syntax(self):
        message, details, path = self.told("def process_frame(frame):\n    return (\n")
        self.assertEqual(message, "SyntaxError: '(' was never closed (raising.py, line 2)")
        self.assertIn(f'File "{path}", line 2\n', details)
        message, _, _ = self.told("def process_frame(frame):\nreturn 1\n", name="indented.py")
        self.assertRegex(message, r"IndentationError: expected an indented block .* \(indented\.py, line 2\)")

    def test_in_the_constructor(self):
        text = "class Raising:\n    def __init__(self, a):\n        raise OSError(2, 'gone')\n    def process_frame(self, frame): pass\n"
        self.assertEqual(self.told(text, "class=Raising arg=1")[0], "FileNotFoundError: [Errno 2] gone (raising.py, line 3, in __init__)")
        message, _, _ = self.told(text, "class=Raising")
        self.assertEqual(message, "TypeError: Raising.__init__() missing 1 required positional argument: 'a'")

    def test_system_exit(self):
        message, details, _ = self.told("import sys\ndef process_frame(frame):\n    sys.exit(3)\n")
        self.assertEqual(message, "SystemExit: the script asked to exit, with 3 (raising.py, line 3, in process_frame)")
        self.assertIn("SystemExit: 3", details)
        self.assertIn("the script asked to exit, with 'no' (exits.py, line 2", self.told("import sys\nsys.exit('no')\n", name="exits.py")[0])

    def test_other_results(self):
        self.assertEqual(self.told("def process_frame(frame):\n    return 0\n")[0],
                         "function 'process_frame' returned a value of type 'int': True or None lets the frame go on, False drops it")
        self.assertIn("of type 'coroutine': True or None lets the frame go on, False drops it; a function that is called for each frame cannot",
                      self.told("async def process_frame(frame):\n    return True\n", name="other.py")[0])

    def test_an_exception_whose_text_fails(self):
        message, _, _ = self.told("""
            class Odd(Exception):
                def __str__(self):
                    raise ValueError
            def process_frame(frame):
                raise Odd
        """)
        self.assertEqual(message, "Odd: its text cannot be told (raising.py, line 6, in process_frame)")

    def test_pixels_that_were_kept(self):
        message, _, _ = self.told("""
            kept = []
            def process_frame(frame):
                with frame.data(3) as pixels:
                    kept.append(pixels)
        """)
        self.assertIn("were kept after the call", message)

    def test_it_is_one_error_where_frames_go_on_coming(self):
        path = self.write("raising.py", "count = 0\ndef process_frame(frame):\n    global count\n    count += 1\n    raise ValueError(count)\n")
        pipeline = Gst.parse_launch(f"appsrc name=s caps=video/x-raw,format=RGB,width=2,height=2 ! heteropython name=e module={path} ! fakesink")
        pipeline.set_state(Gst.State.PLAYING)
        pad = pipeline.get_by_name("e").get_static_pad("sink")
        pad.send_event(Gst.Event.new_stream_start("a"))
        pad.send_event(Gst.Event.new_caps(Gst.Caps.from_string("video/x-raw,format=RGB,width=2,height=2,framerate=1/1")))
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        pad.send_event(Gst.Event.new_segment(segment))
        results = [pad.chain(Gst.Buffer.new_allocate(None, 16, None)) for _ in range(3)]
        self.assertEqual(results, [Gst.FlowReturn.ERROR] * 3)
        messages = []
        while message := pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR):
            messages.append(message.parse_error()[0].message)
        self.assertEqual(messages, ["ValueError: 1 (raising.py, line 5, in process_frame)"])
        pipeline.set_state(Gst.State.NULL)

    def test_in_an_interpreter_of_its_own(self):
        self.assertEqual(self.told("def process_frame(frame):\n    1 / 0\n", "interpreter=own")[0],
                         "ZeroDivisionError: division by zero (raising.py, line 2, in process_frame)")

    def test_on_a_line_of_gst_launch(self):
        self.write("raising.py", "def process_frame(frame):\n    1 / 0\n")
        status, _, err = self.launch(LINE.format("module=raising.py"))
        self.assertNotEqual(status, 0)
        self.assertEqual(err.count("ZeroDivisionError: division by zero (raising.py, line 2, in process_frame)"), 1)
        self.assertIn("Traceback (most recent call last):\n", err)


if __name__ == "__main__":
    small_models.main()

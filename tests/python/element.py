"""The element heteropython: properties, modules, results, interpreters."""
import json
import os
import re
import subprocess
import sys
import unittest

import small_models
from element_rig import FRAMES, Gst, Scripts

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COUNT = """
    count = 0
    def process_frame(frame):
        global count
        count += 1
        print(__name__, count, flush=True)
"""


class Modules(Scripts):
    def test_a_file_of_the_working_directory(self):
        self.write("shown.py", COUNT)
        self.assertEqual(self.printed(FRAMES.format(2) + "heteropython module=shown.py ! fakesink"), "shown 1\nshown 2\n")

    def test_an_absolute_path_and_another_function(self):
        path = self.write("deep/er/other.py", "import beside\ndef act(frame):\n    print(beside.text)\n")
        self.write("deep/er/beside.py", "text = 'found beside it'\n")
        self.assertEqual(self.printed(FRAMES.format(1) + f"heteropython module={path} function=act ! fakesink"), "found beside it\n")

    def test_the_name_of_a_module(self):
        self.write("lib/package/__init__.py", "")
        self.write("lib/package/part.py", COUNT)
        path = os.pathsep.join([os.path.join(self.folder, "lib"), os.environ["PYTHONPATH"]])
        self.assertEqual(self.printed(FRAMES.format(1) + "heteropython module=package.part ! fakesink", PYTHONPATH=path), "package.part 1\n")

    def test_two_elements_have_one_module(self):
        self.write("shown.py", COUNT)
        line = FRAMES.format(2) + "heteropython module=shown.py ! heteropython module=./shown.py ! fakesink"
        self.assertEqual(self.printed(line), "shown 1\nshown 2\nshown 3\nshown 4\n")

    def test_equal_stems_are_two_modules(self):
        for folder in ("one", "two"):
            self.write(folder + "/same.py", f"def process_frame(frame):\n    print(__name__, {folder!r})\n")
        line = FRAMES.format(1) + "".join(f"heteropython module={folder}/same.py ! " for folder in ("one", "one", "two", "two")) + "fakesink"
        # Elements start from the sink on.
        self.assertEqual(self.printed(line), "same_2 one\nsame_2 one\nsame two\nsame two\n")

    def test_a_file_may_be_named_as_a_module_that_is_there(self):
        self.write("json.py", "def process_frame(frame):\n    import json\n    print(__name__, hasattr(json, 'dumps'))\n")
        self.assertEqual(self.printed(FRAMES.format(1) + "heteropython module=json.py ! fakesink"), "json_2 True\n")

    def test_its_folder_is_added_to_the_path_once(self):
        self.write("a.py", "import sys\ndef process_frame(frame):\n    print(sys.path.count(__file__[:-5]), sys.path[0] == __file__[:-5])\n")
        line = FRAMES.format(1) + "heteropython module=a.py ! heteropython module=a.py ! fakesink"
        self.assertEqual(self.printed(line), "1 True\n1 True\n")

    def test_a_virtual_environment(self):
        venv = os.path.join(self.folder, "venv")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", venv], check=True)
        packages = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        self.write(f"venv/{packages}/only_there.py", "import sys\ndef process_frame(frame):\n    print(sys.prefix)\n")
        line = FRAMES.format(1) + "heteropython module=only_there ! fakesink"
        self.assertEqual(self.printed(line, VIRTUAL_ENV=venv), venv + "\n")
        os.rename(os.path.join(venv, "lib"), os.path.join(venv, "lib-of-another-version"))
        status, _, err = self.launch(line, VIRTUAL_ENV=venv)
        self.assertNotEqual(status, 0)
        self.assertIn("finds no module 'only_there'", err)
        self.assertNotIn(venv, err)

    def test_scripts_for_gvapython_find_gstgva(self):
        self.write("a.py", "from gstgva import VideoFrame\ndef process_frame(frame):\n    print(isinstance(frame, VideoFrame))\n")
        self.assertEqual(self.printed(FRAMES.format(1) + "heteropython module=a.py ! fakesink"), "True\n")

    def test_the_log_says_which_python_runs_what(self):
        path = self.write("a.py", "def process_frame(frame): pass\n")
        _, _, err = self.launch(FRAMES.format(1) + "heteropython module=a.py ! fakesink", GST_DEBUG="heteropython:4")
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertRegex(err, rf"Python {version}\S* \(\S+\), the shared interpreter: process_frame of {path}")


class Arguments(Scripts):
    def show(self, properties):
        self.write("shown.py", """
            class Shown:
                def __init__(self, *args, **kwargs):
                    self.given = args, kwargs
                def process_frame(self, frame):
                    print(*self.given)
        """)
        return self.printed(FRAMES.format(1) + f"heteropython module=shown.py class=Shown {properties} ! fakesink").strip()

    def test_values_and_arrays(self):
        self.assertEqual(self.show(""), "() {}")
        self.assertEqual(self.show("arg=1"), "(1,) {}")
        self.assertEqual(self.show("""arg='["a,b", {"c": [1, 2]}]'"""), "('a,b', {'c': [1, 2]}) {}")
        self.assertEqual(self.show("arg=null arg=true"), "(None, True) {}")

    def test_set_several_times_they_are_combined(self):
        self.assertEqual(self.show("""arg=1 arg='[2, "x"]' kwarg='{"a": 1, "b": 2}' kwarg='{"b": [3], "c": null}'"""),
                         "(1, 2, 'x') {'a': 1, 'b': [3], 'c': None}")

    def test_they_are_read_back_combined(self):
        element = Gst.ElementFactory.make("heteropython")
        self.assertIsNone(element.get_property("arg"))
        for text in ("1", ' [2, "a,\\"]b" , [3, {"d": 4}]]', "[]"):
            element.set_property("arg", text)
        self.assertEqual(element.get_property("arg"), '[1, 2, "a,\\"]b", [3, {"d": 4}]]')
        for text in ('{"a": 1, "b": {"c": [1, 2]}}', '{"b": "}, {", "d": 2}', "{}"):
            element.set_property("kwarg", text)
        self.assertEqual(element.get_property("kwarg"), '{"a": 1, "b": "}, {", "d": 2}')
        element.set_property("arg", "")
        element.set_property("kwarg", None)
        self.assertEqual((element.get_property("arg"), element.get_property("kwarg")), (None, None))

    def test_other_properties(self):
        element = Gst.ElementFactory.make("heteropython")
        self.assertEqual((element.get_property("module"), element.get_property("class"), element.get_property("function")),
                         (None, None, "process_frame"))
        self.assertEqual(element.get_property("interpreter").value_nick, "shared")
        for name, value in (("module", "m"), ("class", "c"), ("function", "f")):
            element.set_property(name, value)
            self.assertEqual(element.get_property(name), value)
        element.set_property("interpreter", "own-gil")
        self.assertEqual(element.get_property("interpreter").value_nick, "own-gil")

    def test_another_method(self):
        self.write("shown.py", "class Shown:\n    def act(self, frame):\n        print('acted')\n")
        self.assertEqual(self.printed(FRAMES.format(1) + "heteropython module=shown.py class=Shown function=act ! fakesink"), "acted\n")


class Frames(Scripts):
    def test_false_drops_the_frame(self):
        self.write("some.py", """
            import numpy
            results = iter([True, None, False, numpy.bool_(True), numpy.bool_(False), numpy.False_, True])
            def process_frame(frame):
                return next(results)
        """)
        self.write("shown.py", COUNT)
        line = FRAMES.format(7) + "heteropython module=some.py ! heteropython module=shown.py ! fakesink"
        self.assertEqual(self.printed(line), "".join(f"shown {i}\n" for i in range(1, 5)))

    def test_a_frame_that_others_hold_is_changed_for_this_branch_alone(self):
        self.write("adds.py", """
            def process_frame(frame):
                frame.add_region(1, 2, 3, 4, "mark", 0.5)
                with frame.data(3) as pixels:
                    pixels[:] = 7
        """)
        self.write("shown.py", """
            def process_frame(frame):
                with frame.data() as pixels:
                    print(len(list(frame.regions())), (pixels == 7).all())
        """)
        line = FRAMES.format(1) + ("tee name=t ! heteropython module=adds.py ! heteropython module=shown.py ! fakesink async=false "
                                   "t. ! heteropython module=shown.py ! fakesink async=false")
        self.assertEqual(sorted(self.printed(line).split("\n")), ["", "0 False", "1 True"])

    def test_what_is_no_video_has_no_video_info(self):
        self.write("shown.py", """
            def process_frame(frame):
                print(frame.video_info(), frame.caps.to_string().split(",")[0])
        """)
        self.assertEqual(self.printed("audiotestsrc num-buffers=1 ! heteropython module=shown.py ! fakesink"), "None audio/x-raw\n")
        encoded = FRAMES.format(1) + "jpegenc ! heteropython module=shown.py ! fakesink"
        self.assertEqual(self.printed(encoded), "None image/jpeg\n")

    def test_caps_may_change(self):
        self.write("shown.py", "def process_frame(frame):\n    with frame.data() as pixels:\n        print(pixels.shape)\n")
        line = ("concat name=c ! heteropython module=shown.py ! fakesink "
                "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=8,height=4 ! c. "
                "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=6,height=2 ! c.")
        self.assertEqual(self.printed(line), "(4, 8, 3)\n(2, 6, 3)\n")

    def test_allocations_are_downstreams_matter(self):
        self.write("a.py", "def process_frame(frame): pass\n")
        out = self.program("""
            def metas(name):
                pipeline = Gst.parse_launch("%s name=e ! fakevideosink sync=false async=false" % name)
                pipeline.set_state(Gst.State.PAUSED)
                pad = pipeline.get_by_name("e").get_static_pad("sink")
                caps = Gst.Caps.from_string("video/x-raw,format=RGB,width=8,height=8,framerate=30/1")
                assert pad.send_event(Gst.Event.new_stream_start("a")) and pad.send_event(Gst.Event.new_caps(caps))
                query = Gst.Query.new_allocation(caps, True)
                answer = pad.query(query), query.get_n_allocation_metas()
                pipeline.set_state(Gst.State.NULL)
                return answer
            print(metas("heteropython module=a.py") == metas("identity"), metas("heteropython module=a.py")[1] > 0)
        """)
        self.assertEqual(out, "True True\n")


class Interpreters(Scripts):
    def test_own_ones_have_modules_of_their_own(self):
        self.write("shown.py", COUNT)
        elements = "heteropython module=shown.py interpreter={} ! ".format
        own = FRAMES.format(1) + elements("own") + elements("own") + elements("shared") + elements("shared") + "fakesink"
        self.assertEqual(self.printed(own), "shown 1\nshown 1\nshown 1\nshown 2\n")

    def test_own_ones_have_the_part_of_hetero_that_can_live_there(self):
        self.write("shown.py", """
            import sys
            import hetero.gst
            def process_frame(frame):
                print(isinstance(frame, hetero.gst.VideoFrame), "hetero._hetero" in sys.modules, len(list(frame.regions())))
        """)
        line = FRAMES.format(1) + "heteropython module=shown.py interpreter={} ! fakesink"
        self.assertEqual(self.printed(line.format("own")), "True False 0\n")
        self.assertEqual(self.printed(line.format("shared")), "True True 0\n")

    def test_own_gil(self):
        self.write("shown.py", COUNT)
        line = FRAMES.format(1) + "heteropython module=shown.py interpreter=own-gil ! fakesink"
        if sys.version_info < (3, 12):
            status, _, err = self.launch(line)
            self.assertNotEqual(status, 0)
            self.assertIn("interpreter=own-gil needs Python 3.12 or newer, and this is Python 3.", err)
            self.skipTest(f"own-gil needs Python 3.12, and this is {sys.version.split()[0]}; its error was seen")
        self.assertEqual(self.printed(line), "shown 1\n")

    def test_own_gils_run_beside_each_other(self):
        if sys.version_info < (3, 12):
            self.skipTest(f"own-gil needs Python 3.12, and this is {sys.version.split()[0]}")
        # A C function that waits and keeps the GIL.
        self.write("slow.py", """
            import ctypes
            sleep = ctypes.PyDLL(None).usleep
            def process_frame(frame):
                sleep(200000)
        """)
        out = self.program("""
            def seconds(kind):
                begun = time.monotonic()
                branch = "videotestsrc num-buffers=5 ! heteropython module=slow.py interpreter=%s ! fakesink " % kind
                assert run(branch + branch) == "eos"
                return time.monotonic() - begun
            print(seconds("own"), seconds("own-gil"))
        """)
        own, own_gil = map(float, out.split())
        self.assertGreater(own, 2.0)
        self.assertLess(own_gil, 1.9, out)

    def test_shared_is_the_applications(self):
        self.write("shown.py", "import app_part\ndef process_frame(frame):\n    app_part.seen.append(frame.video_info().width)\n")
        out = self.program(f"""
            import types
            app_part = types.ModuleType("app_part")
            app_part.seen = []
            sys.modules["app_part"] = app_part
            print(run({FRAMES.format(3) + "heteropython module=shown.py ! fakesink"!r}), app_part.seen)
        """)
        self.assertEqual(out, "eos [32, 32, 32]\n")


class Documentation(Scripts):
    def test_gst_inspect(self):
        shown = subprocess.run(["gst-inspect-1.0", "heteropython"], capture_output=True, text=True)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for name in ("module", "class", "function", "arg", "kwarg", "interpreter"):
            self.assertRegex(shown.stdout, rf"(?m)^  {name} +: .+\n +flags: readable, writable, changeable only in NULL or READY state")
        self.assertEqual(shown.stdout.count("      ANY"), 2)
        for nick in ("shared", "own", "own-gil"):
            self.assertRegex(shown.stdout, rf"\(\d\): {nick} ")

    def test_the_example_runs(self):
        with open(os.path.join(ROOT, "python/gst/element/gstheteropython.cpp")) as file:
            example = re.search(r"\|\[\n(.*?)\]\|", file.read(), re.S)[1]
        line = re.sub(r"(?m)^ \* ?", "", example).replace("\\\n", " ")
        ran = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertRegex(ran.stdout, r"10 frames: .*\n20 frames: .*\n30 frames: ")

    def test_the_guides_script(self):
        with open(os.path.join(ROOT, "docs/python.md")) as file:
            guide = file.read()
        self.write("filter.py", re.search(r"(?m)^    class Filter:(?:\n|.)*?\n\n(?=\|)", guide)[0])
        model = os.path.join(ROOT, "pipelines/demo/models/scene_detector")
        line = (f"filesrc location={ROOT}/examples/python/street.jpg ! jpegdec ! videoconvert ! heterodetect model={model}.onnx model-proc={model}.json threshold=0.3 ! "
                "heteropython module=filter.py class=Filter kwarg={limit} ! heterometaconvert ! heterometapublish file-path=/dev/stdout file-format=json-lines ! fakesink")
        all_objects = json.loads(self.printed(line.replace("{limit}", '{\\"threshold\\":0}')))["objects"]
        sure = [found for found in all_objects if found["detection"]["confidence"] >= 0.94]
        self.assertLess(0, len(sure))
        self.assertLess(len(sure), len(all_objects))
        left = json.loads(self.printed(line.replace("{limit}", '{\\"threshold\\":0.94}')))["objects"]
        self.assertEqual([found["detection"] for found in left], [found["detection"] for found in sure])
        self.assertEqual(self.printed(line.replace("{limit}", '{\\"threshold\\":2}')), "")


if __name__ == "__main__":
    small_models.main()

#!/usr/bin/env python3
"""The tracer "heterotrace": what it writes of real pipelines, and what it leaves alone.

Usage: frame_trace.py SOURCE_ROOT BUILD_ROOT [PROGRAM], where PROGRAM plays a description and returns
from main() without gst_deinit().
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
PROGRAM = pathlib.Path(sys.argv[3]).absolute() if len(sys.argv) > 3 else None
MODELS = ROOT / "pipelines/demo/models"
DETECT = f"heterodetect model={MODELS}/scene_detector.onnx model-proc={MODELS}/scene_detector.json"
CLASSIFY = f"heteroclassify model={MODELS}/scene_attributes.onnx model-proc={MODELS}/scene_attributes.json"
PARTS = ["wait", "queue", "preprocess", "infer", "order", "decode", "attach", "push"]
FRAMES = 12


class FrameTrace(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="frame_trace_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in_folder(self, command, tracers=None):
        environment = dict(os.environ, GST_REGISTRY=str(self.folder / "registry.bin"))
        if tracers is not None:
            environment["GST_TRACERS"] = tracers
        return subprocess.run([str(c) for c in command], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)

    def play(self, elements, parameters="file=trace.json", program=("gst-launch-1.0", "-q")):
        description = f"videotestsrc num-buffers={FRAMES} pattern=ball ! video/x-raw,format=NV12,width=320,height=240 ! {elements} ! fakesink name=sink"
        command = [*program, *(description.split() if program[0] == "gst-launch-1.0" else [description])]
        done = self.run_in_folder(command, f"heterotrace({parameters})")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def frames(self, name="trace.json"):
        """{element: {frame: [(part, device, begin, end)]}}, after a look at the form."""
        events = json.loads((self.folder / name).read_text())["traceEvents"]
        elements = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        rows = collections.defaultdict(list)
        for event in events:
            if event["ph"] != "X":
                continue
            begin, end = event["ts"], event["ts"] + event["dur"]
            rows[event["pid"], event["tid"]].append((begin, end))
            if event["cat"] != "frame":
                found[elements[event["pid"]]][event["args"]["frame"]].append((event["cat"], event["args"]["where"], begin, end))
        for row in rows.values():  # what a viewer can draw: next to or inside each other
            row.sort(key=lambda bar: (bar[0], -bar[1]))
            open_ends = []
            for begin, end in row:
                while open_ends and open_ends[-1] <= begin + 0.0015:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1] + 0.0015, row)
                open_ends.append(end)
        return found

    def check_order(self, frame):
        """Parts of a frame with one region follow each other."""
        for (_, _, begin, end), (_, _, next_begin, _) in zip(frame, frame[1:]):
            self.assertLessEqual(begin, end)
            self.assertLessEqual(end, next_begin + 0.002, frame)

    def test_every_frame_has_every_part_once(self):
        self.play(f"{DETECT} device=CPU name=found")
        found = self.frames()["found"]
        self.assertEqual(sorted(found), list(range(1, FRAMES + 1)))
        for frame in found.values():
            frame.sort(key=lambda span: PARTS.index(span[0]))
            self.assertEqual([span[0] for span in frame], PARTS)
            self.assertEqual({span[1] for span in frame if span[0] in ("queue", "preprocess", "infer")}, {"CPU"})
            self.check_order(frame)

    def test_each_device_of_a_split_model(self):
        self.play(f"{DETECT} device=HETERO:GPU,CPU ie-config=HETERO_AFFINITY={self.affinity()} pre-process-backend=cpu name=found")
        found = self.frames()["found"]
        self.assertEqual(len(found), FRAMES)
        for frame in found.values():
            devices = {span[1].split(".")[0] for span in frame if span[0] == "infer"}
            self.assertEqual(devices, {"GPU", "CPU"})
            self.assertEqual([span[0] for span in frame if span[0] not in ("queue", "preprocess", "infer")], ["wait", "order", "decode", "attach", "push"])
            self.assertGreaterEqual(len([span for span in frame if span[0] == "preprocess"]), 1)
            # Subgraphs may run side by side.
            ways = [span for span in frame if span[0] in ("queue", "preprocess", "infer")]
            self.check_order([frame[0], min(ways, key=lambda span: span[2])])
            self.check_order([max(ways, key=lambda span: span[3]), *(span for span in frame if span[0] in ("order", "decode", "attach", "push"))])

    def affinity(self):
        """A rule that gives convolutions to the GPU and the rest to the CPU."""
        rules = self.folder / "affinity.json"
        rules.write_text(json.dumps({"rules": [{"regex": ".*", "device": "CPU"}, {"type": "Conv", "device": "GPU"}]}))
        return rules

    def test_elements_have_rows_of_their_own(self):
        self.play(f"{DETECT} threshold=0.05 name=found ! {CLASSIFY} name=named")
        found = self.frames()
        self.assertEqual(set(found), {"found", "named"})
        for element in found.values():
            self.assertEqual(len(element), FRAMES)
            for frame in element.values():
                self.assertEqual(len([span for span in frame if span[0] == "push"]), 1)
                self.assertEqual(len([span for span in frame if span[0] == "infer"]), len([span for span in frame if span[0] == "decode"]))

    def test_more_frames_than_the_limit(self):
        done = self.play(DETECT, "file=trace.json,limit=20")
        self.assertIn("has the first 20 spans", done.stderr)
        self.assertEqual(sum(len(frame) for element in self.frames().values() for frame in element.values()), 20)

    def test_a_program_that_only_returns(self):
        if PROGRAM is None:
            self.skipTest("no such program was built")
        self.play(f"{DETECT} metadata-form=roi name=found", program=(PROGRAM,))
        self.assertEqual(len(self.frames()["found"]), FRAMES)

    def test_wrong_parameters_are_named(self):
        done = self.play(DETECT, "fil=other.json")
        self.assertIn("'fil=other.json' is not taken; there are file=NAME and limit=NUMBER", done.stderr)
        self.assertTrue((self.folder / "hetero-trace.json").exists())
        done = self.play(DETECT, "file=trace.json,limit=0")
        self.assertIn("'limit=0' is not taken", done.stderr)
        done = self.play(DETECT, "file=missing/trace.json")
        self.assertIn("missing/trace.json'; nothing is traced", done.stderr)

    def test_nothing_is_written_unasked(self):
        self.assertEqual(self.run_in_folder(["gst-launch-1.0", "-q", *f"videotestsrc num-buffers=2 ! {DETECT} ! fakesink".split()]).returncode, 0)
        self.assertIn("heterotrace", self.run_in_folder(["gst-inspect-1.0", "heterotrace"]).stdout)
        self.assertEqual(self.run_in_folder(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=2", "!", "fakesink"], "heterotrace").returncode, 0)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.suffix == ".json"], [])

    def test_tracing_tools_find_the_probes(self):
        if shutil.which("readelf") is None or not any(pathlib.Path("/usr/include").glob("**/sys/sdt.h")):
            self.skipTest("needs readelf and sys/sdt.h")
        library = next(p for p in BUILD.glob("libhetinference-1.0.so*") if p.is_file())
        notes = subprocess.run(["readelf", "-n", library], check=True, capture_output=True, text=True).stdout
        probes = [block for block in notes.split("stapsdt")[1:] if "Provider: hetero" in block]
        for name in ("node_begin", "node_end", "frame_span"):
            self.assertTrue(any(f"Name: {name}\n" in block for block in probes), name)
        spans = [block for block in probes if "Name: frame_span\n" in block]
        self.assertFalse(any("Semaphore: 0x0000000000000000" in block for block in spans))


if __name__ == "__main__":
    if "HET_PRELOAD" in os.environ:
        print("skipped: programs of others run here, which a sanitizer's runtime is not part of")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

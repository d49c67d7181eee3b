#!/usr/bin/env python3
"""The plugin hetero where libgstva-1.0 and libgstanalytics-1.0 cannot be loaded, as on a system without libgstreamer-plugins-bad1.0-0.

Usage: optional_libraries.py SOURCE_ROOT PLUGIN HAS_ANALYTICS, the last one yes where the build knows GstAnalyticsRelationMeta, else no. Files of these
names that are no libraries come first in the search path.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, PLUGIN = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
HAS_ANALYTICS = {"yes": True, "no": False}[sys.argv[3]]
LIBRARIES = ("libgstva-1.0.so.0", "libgstanalytics-1.0.so.0")


class OptionalLibraries(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="optional_libraries_"))
        self.addCleanup(shutil.rmtree, self.folder)
        for library in LIBRARIES:
            (self.folder / library).write_text("no library\n")
        plugins = self.folder / "plugins"
        plugins.mkdir()
        (plugins / PLUGIN.name).symlink_to(PLUGIN)
        paths = [str(self.folder), os.environ.get("LD_LIBRARY_PATH", "")]
        self.environment = dict(os.environ, GST_PLUGIN_PATH=str(plugins), GST_REGISTRY=str(self.folder / "registry.bin"), GST_TRACERS="",
                                LD_LIBRARY_PATH=":".join(path for path in paths if path))
        if "HET_PRELOAD" in self.environment:
            self.environment["LD_PRELOAD"] = self.environment["HET_PRELOAD"]
            self.environment["ASAN_OPTIONS"] = self.environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

    def detect(self, properties=""):
        """Output and status of a pipeline that detects and tells."""
        models = ROOT / "pipelines/demo/models"
        done = subprocess.run(
            ["gst-launch-1.0", "videotestsrc", "num-buffers=5", "pattern=ball", "!", "video/x-raw,width=320,height=192", "!", "heterodetect",
             f"model={models}/scene_detector.onnx", f"model-proc={models}/scene_detector.json", "threshold=0.01", *properties.split(), "!",
             "heterometaconvert", "!", "heterometapublish", "file-format=json-lines", "!", "fakesink"],
            env=self.environment, capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr, done.returncode

    def test_neither_can_be_loaded(self):
        for library in LIBRARIES:
            loads = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({library!r})"]
            self.assertNotEqual(subprocess.run(loads, env=self.environment, capture_output=True).returncode, 0, library)

    def test_results_are_regions_of_interest(self):
        for properties in ("", "metadata-form=roi"):
            output, status = self.detect(properties)
            self.assertEqual(status, 0, output)
            self.assertIn('"bounding_box"', output)

    def test_the_other_form_is_refused(self):
        output, status = self.detect("metadata-form=analytics")
        self.assertNotEqual(status, 0, output)
        self.assertIn(LIBRARIES[1] if HAS_ANALYTICS else "GStreamer 1.26", output)


if __name__ == "__main__":
    unittest.main(argv=["optional_libraries.py"], verbosity=2)

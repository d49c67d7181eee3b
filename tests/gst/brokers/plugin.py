#!/usr/bin/env python3
"""The plugin heterobrokers: who needs which library, and what heterometapublish says where the plugin is not as it has to be.

Usage: plugin.py --plugin FILE [--brokers FILE] --without-libraries FILE --other-version FILE --version VERSION --name NAME --origin ORIGIN. The two
modules between are heterobrokers built without a broker's library, and under another version; --brokers is left out where the build has no plugin.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

LIBRARIES = {"mqtt": b"libmosquitto.so.1", "kafka": b"librdkafka.so.1"}
NO_BROKER = "127.0.0.1:1"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("plugin", "brokers", "without-libraries", "other-version"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=name != "brokers")
    for name in ("version", "name", "origin"):
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def needed(library):
    listing = subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing)


class Brokers(unittest.TestCase):
    arguments = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="brokers_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        (self.plugins / "libgsthetero.so").symlink_to(self.arguments.plugin.absolute())

    def install_brokers(self, content):
        (self.plugins / "libgstheterobrokers.so").write_bytes(content)

    def built_brokers(self):
        if self.arguments.brokers is None:
            self.skipTest("this build has neither libmosquitto nor librdkafka, so no plugin heterobrokers")
        return self.arguments.brokers.read_bytes()

    def run_command(self, *command):
        """Output and status of a program that sees only the plugins of this test's folder and the system's."""
        environment = dict(os.environ, GST_PLUGIN_PATH=str(self.plugins), GST_REGISTRY=str(self.folder / "registry.bin"), GST_TRACERS="")
        if "HET_PRELOAD" in environment:
            environment["LD_PRELOAD"] = environment["HET_PRELOAD"]
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr, done.returncode

    def refusal(self, method):
        """The one error of a pipeline that publishes by this method."""
        output, status = self.run_command("gst-launch-1.0", "videotestsrc", "num-buffers=1", "!", "heterometapublish", f"method={method}", "topic=frames",
                                          f"address={NO_BROKER}", "!", "fakesink")
        errors = [line for line in output.splitlines() if line.startswith("ERROR: from element")]
        self.assertEqual(len(errors), 1, output)
        self.assertNotEqual(status, 0, output)
        return errors[0]

    def test_the_plugin_with_the_elements_needs_no_library_of_brokers(self):
        libraries = needed(self.arguments.plugin)
        self.assertIn("libgstreamer-1.0.so.0", libraries)
        for library in LIBRARIES.values():
            self.assertNotIn(library.decode(), libraries)

    def test_without_it_the_error_says_what_to_install(self):
        for method in LIBRARIES:
            self.assertIn(f"method={method} needs the plugin heterobrokers: install the package gstreamer1.0-hetero-brokers, or build with -D{method}=enabled",
                          self.refusal(method))
        output, status = self.run_command("gst-launch-1.0", "videotestsrc", "num-buffers=1", "!", "heterometapublish", "!", "fakesink")
        self.assertEqual(status, 0, output)

    def test_another_version_is_refused(self):
        self.install_brokers(self.arguments.other_version.read_bytes())
        for method in LIBRARIES:
            error = self.refusal(method)
            self.assertIn(f"of version {self.arguments.version},", error)
            self.assertIn(f"{self.plugins}/libgstheterobrokers.so has version 0.0.1-other:", error)

    def test_a_build_without_a_library_says_so(self):
        self.install_brokers(self.arguments.without_libraries.read_bytes())
        self.assertIn("method=mqtt needs libmosquitto, which the plugin", self.refusal("mqtt"))
        self.assertIn("method=kafka needs librdkafka, which the plugin", self.refusal("kafka"))

    def test_a_library_that_is_missing_is_named(self):
        content = self.built_brokers()
        method, library = next((m, l) for m, l in LIBRARIES.items() if l + b"\0" in content)
        absent = library.replace(b".so", b"_so")
        self.install_brokers(content.replace(library + b"\0", absent + b"\0"))
        for _ in range(2):  # found now, then as GStreamer's registry remembers it
            error = self.refusal(method)
            self.assertIn(f"{self.plugins}/libgstheterobrokers.so, which does not load", error)
            self.assertIn(absent.decode(), error)

    def test_the_plugin_of_this_build_is_loaded(self):
        content = self.built_brokers()
        self.install_brokers(content)
        for method, library in LIBRARIES.items():
            if library + b"\0" in content:
                self.assertRegex(self.refusal(method), f"no (MQTT|Kafka) broker answers at {NO_BROKER}")
            else:
                self.assertIn(f"method={method} needs {library.decode().split('.')[0]}, which the plugin", self.refusal(method))

    def test_both_plugins_say_where_they_come_from(self):
        plugins = ["hetero"]
        if self.arguments.brokers is not None:
            self.install_brokers(self.built_brokers())
            plugins.append("heterobrokers")
        for plugin in plugins:
            output, status = self.run_command("gst-inspect-1.0", plugin)
            self.assertEqual(status, 0, output)
            shown = dict(re.findall(r"^  (\S.*?)  +(.+?)$", output, re.MULTILINE))
            self.assertEqual(shown["Name"], plugin)
            self.assertEqual(shown["Version"], self.arguments.version)
            self.assertEqual(shown["License"], "MIT/X11")
            self.assertEqual(shown["Binary package"], self.arguments.name)
            self.assertEqual(shown["Origin URL"], self.arguments.origin)
            self.assertGreater(len(shown["Description"]), 20)


if __name__ == "__main__":
    Brokers.arguments = parse_arguments()
    unittest.main(argv=["plugin.py"], verbosity=2)

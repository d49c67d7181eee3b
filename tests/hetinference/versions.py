#!/usr/bin/env python3
"""Compares what says the version of the build with meson's. Usage: versions.py VERSION HETERO HETERO_VPUD PC PLUGIN...

Shown are both programs' --version, the .pc file, and GStreamer's description of each plugin (skipped without gst-inspect-1.0). That of the C interface
is compared by c_interface, those of symbols by c_symbols.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def output(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def plugin_version(inspector, plugin, folder):
    described = output(inspector, plugin, env={**os.environ, "GST_REGISTRY": os.path.join(folder, "registry.bin")})
    version = re.search(r"^ *Version +(\S+)$", described, re.MULTILINE)
    return version and version[1]


def main():
    version, hetero, vpud, pc, *plugins = sys.argv[1:]
    assert plugins, "no plugin given"
    for program in (hetero, vpud):
        said = output(program, "--version")
        assert said == f"hetero {version}", f"{program} --version says '{said}', meson's version is {version}"
    with open(pc, encoding="utf-8") as file:
        text = file.read()
    assert f"Version: {version}\n" in text, f"{pc} does not have the version {version}:\n{text}"
    inspector = shutil.which("gst-inspect-1.0")
    if inspector is None:
        print("skipped: gst-inspect-1.0 is not installed; programs and .pc file have the same version")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for plugin in plugins:
            said = plugin_version(inspector, plugin, folder)
            assert said == version, f"{plugin} says '{said}', meson's version is {version}"


if __name__ == "__main__":
    main()

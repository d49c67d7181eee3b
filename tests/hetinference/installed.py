#!/usr/bin/env python3
"""Installs the build into a folder and builds programs against it with pkg-config's flags only.

Usage: installed.py MODEL MODEL_PROC PICTURE. It is installed with DESTDIR, which the .pc file may not mention, and used from where it lies then.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cv2

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["HET_BUILD_ROOT"])


def run(*command, **kwargs):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **kwargs)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def built_prefix():
    options = json.loads(run("meson", "introspect", "--buildoptions", BUILD))
    return next(option["value"] for option in options if option["name"] == "prefix")


def main():
    for tool in ("meson", "pkg-config", "cc", "c++"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    model, model_proc, picture = sys.argv[1:]
    prefix = built_prefix()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": str(folder / "stage")})
        staged = folder / "stage" / prefix.lstrip("/")
        pc = next(staged.rglob("hetinference-1.0.pc"))
        text = pc.read_text()
        assert str(folder) not in text and f"prefix={prefix}" in text, text
        assert list(staged.rglob("gstreamer-1.0/libgsthetero.so")), "the plugin is not installed"
        assert (staged / "include/hetinference/inference/core.h").exists()
        # As if it had been installed there: pkg-config moves a prefix by itself.
        moved = folder / "moved"
        staged.rename(moved)
        pc = next(moved.rglob("hetinference-1.0.pc"))
        env = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "LD_LIBRARY_PATH": str(next(moved.rglob("libhetinference-1.0.so")).parent)}
        flags = run("pkg-config", f"--define-variable=prefix={moved}", "--cflags", "--libs", "hetinference-1.0", env=env).split()
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", HERE / "consumer/consumer.c", "-o", folder / "c", *flags)
        devices = run(folder / "c", env=env)
        assert "CPU" in devices, devices
        run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", HERE / "consumer/consumer.cpp", "-o", folder / "cpp", *flags)
        assert cv2.imwrite(str(folder / "picture.ppm"), cv2.imread(picture))
        labels = run(folder / "cpp", model, model_proc, folder / "picture.ppm", env=env).split()
        print("found:", labels)
        assert labels, "no object found in the picture"


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Installs the build into a folder and builds programs against it with pkg-config's flags only.

Usage: installed.py [--at-prefix] MODEL MODEL_PROC PICTURE. It is installed with DESTDIR, which the .pc file may not mention, and used from where it
lies then; with --at-prefix in the prefix itself, over which a mount namespace of its own lays the folder: the .pc file, the libraries' names and the
plugin are used as they were installed, with no search path of ours.
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


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def build_and_run(flags, folder, env, arguments):
    """A program in C that lists the devices, one in C++ that finds objects, and a device in C."""
    run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", HERE / "consumer/consumer.c", "-o", folder / "c", *flags)
    devices = run(folder / "c", env=env)
    assert "CPU" in devices, devices
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", HERE / "consumer/consumer.cpp", "-o", folder / "cpp", *flags)
    labels = run(folder / "cpp", *arguments, env=env).split()
    print("found:", labels)
    device = HERE.parents[1] / "examples/custom_device"
    run("cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-pthread", *device.glob("*.c"),
        "-lm", "-o", folder / "mydev.so", *flags)
    assert labels, "no object found in the picture"


def at_prefix(folder, prefix, arguments):
    """Runs in the namespace: the prefix has what was installed."""
    run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={folder / 'stage'}{prefix}:{prefix}", prefix)
    pc = next((folder / "stage").rglob("hetinference-1.0.pc"))
    libraries = pathlib.Path(prefix, pc.parents[1].relative_to(f"{folder}/stage{prefix}"))
    env = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "GST_PLUGIN_PATH", "DESTDIR")}
    paths = [HERE.parents[1] / "scripts/search_paths.sh", libraries, libraries / "gstreamer-1.0", f"{prefix}/bin", "/nowhere"]
    before = run(*paths, env=env)
    assert "ldconfig" in before or "export LD_LIBRARY_PATH=" in before, before
    # As an administrator would after the installation; the prefix need not be in ld.so.conf.
    (folder / "ld.so.conf").write_text(f"include /etc/ld.so.conf\n{libraries}\n")
    run("/sbin/ldconfig", "-f", folder / "ld.so.conf", "-C", folder / "ld.so.cache", "-X")
    run("mount", "--bind", folder / "ld.so.cache", "/etc/ld.so.cache")
    after = run(*paths, env=env)
    assert "ldconfig" not in after and "LD_LIBRARY_PATH" not in after and "export GST_PLUGIN_PATH=" in after, after
    searched = {**env, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "hetinference-1.0", env=searched).split()
    assert f"-L{libraries}" in flags or prefix == "/usr", flags
    build_and_run(flags, folder, env, arguments)
    needed = [line for line in run("ldd", folder / "c", env=env).splitlines() if "libhetinference" in line]
    assert len(needed) == 1 and f"libhetinference-1.0.so.0 => {libraries}" in needed[0], needed
    plugin = libraries / "gstreamer-1.0/libgsthetero.so"
    loaded = run("ldd", plugin, env=env)
    assert f"libhetinference-1.0.so.0 => {libraries}" in loaded, loaded
    if shutil.which("gst-inspect-1.0"):
        shown = run("gst-inspect-1.0", "heterodetect", env={**env, "GST_PLUGIN_PATH": str(plugin.parent), "GST_REGISTRY": str(folder / "registry.bin")})
        assert str(plugin) in shown, shown
    devices = run(pathlib.Path(prefix, "bin/hetero"), "devices", env=env)
    assert "CPU" in devices, devices


def main():
    for tool in ("meson", "pkg-config", "cc", "c++"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    if sys.argv[1] == "--in-namespace":
        at_prefix(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
        return
    wants_prefix = sys.argv[1] == "--at-prefix"
    model, model_proc, picture = sys.argv[2 if wants_prefix else 1:]
    prefix = built_prefix()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": str(folder / "stage")})
        assert cv2.imwrite(str(folder / "picture.ppm"), cv2.imread(picture))
        arguments = [model, model_proc, folder / "picture.ppm"]
        if wants_prefix:
            namespace = ["unshare", "--user", "--map-root-user", "--mount"]
            probe = folder / "probe"
            probe.mkdir()
            mount = ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={probe}:{prefix}", prefix]
            tried = subprocess.run([*namespace, *mount], capture_output=True, text=True)
            if tried.returncode != 0:
                skip(f"nothing can be laid over {prefix} in a namespace: {tried.stderr.strip()}")
            print(run(*namespace, sys.executable, __file__, "--in-namespace", folder, prefix, *arguments))
            return
        staged = folder / "stage" / prefix.lstrip("/")
        pc = next(staged.rglob("hetinference-1.0.pc"))
        text = pc.read_text()
        assert str(folder) not in text and f"prefix={prefix}" in text, text
        built = {pathlib.Path(file).name for file in json.loads(run("meson", "introspect", "--installed", BUILD)) if pathlib.Path(file).name.startswith("libgst")}
        installed = {file.name for file in staged.rglob("gstreamer-1.0/*")}
        assert "libgsthetero.so" in installed and installed == built, f"plugins of the build: {built}, installed: {installed}"
        assert (staged / "include/hetinference/inference/core.h").exists()
        # As if it had been installed there: pkg-config moves a prefix by itself.
        moved = folder / "moved"
        staged.rename(moved)
        pc = next(moved.rglob("hetinference-1.0.pc"))
        env = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "LD_LIBRARY_PATH": str(next(moved.rglob("libhetinference-1.0.so")).parent)}
        flags = run("pkg-config", f"--define-variable=prefix={moved}", "--cflags", "--libs", "hetinference-1.0", env=env).split()
        build_and_run(flags, folder, env, arguments)


if __name__ == "__main__":
    main()

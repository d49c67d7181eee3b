#!/usr/bin/env python3
"""What meson install says afterwards. Usage: search_paths.py SCRIPT, which is scripts/search_paths.sh."""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = sys.argv[1]
VARIABLES = ("GST_PLUGIN_PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PATH")


def said(libdir, plugindir, bindir, gstreamer_plugindir="/nowhere", before="", **environment):
    """The script's text where it runs after the shell's commands `before`."""
    env = {name: value for name, value in os.environ.items() if name not in (*VARIABLES[:3], "GST_PLUGIN_PATH_1_0", "MESON_INSTALL_PREFIX", "MESON_INSTALL_QUIET")}
    command = f'{before}\nexec "$0" "$@"'
    done = subprocess.run(["sh", "-euc", command, SCRIPT, libdir, plugindir, bindir, gstreamer_plugindir], env={**env, **environment},
                          capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"exit {done.returncode}: {done.stderr}"
    return done.stdout


def exports(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("export ")]


def main():
    with tempfile.TemporaryDirectory(suffix=" with blanks") as folder:
        folders = [f"{folder}/lib", f"{folder}/lib/gstreamer-1.0", f"{folder}/bin"]
        for path in folders:
            pathlib.Path(path).mkdir(parents=True)
        everything = said(*folders)
        assert [line.split()[1].split("=")[0] for line in exports(everything)] == list(VARIABLES), everything
        # What is printed is what is needed.
        assert said(*folders, before="\n".join(exports(everything))) == ""
        for left_out, variable in enumerate(VARIABLES):
            others = exports(everything)
            others.pop(left_out)
            left = exports(said(*folders, before="\n".join(others)))
            assert len(left) == 1 and f"export {variable}=" in left[0], (variable, left)
        # What was there before is kept.
        joined = "\n".join([*exports(everything), 'test "$GST_PLUGIN_PATH" = "$2:/before"'])
        assert said(*folders, before=joined, GST_PLUGIN_PATH="/before") == ""
        # GStreamer looks into its own folder by itself.
        assert "GST_PLUGIN_PATH" not in said(*folders, gstreamer_plugindir=folders[1])
        # As Meson 1.0 runs it, which drops the output.
        meson = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE)"
        shown = subprocess.run([sys.executable, "-c", meson, SCRIPT, *folders, "/nowhere"], env={**os.environ, "MESON_INSTALL_PREFIX": "/usr"},
                               check=True, capture_output=True, text=True).stdout
        assert "export GST_PLUGIN_PATH=" in shown, shown
        assert said(*folders, MESON_INSTALL_QUIET="1") == ""


if __name__ == "__main__":
    main()

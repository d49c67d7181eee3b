#!/bin/sh
# Run by "meson dist" in a build without plugins: leaves what the library and the Python package are built from, some 5 MB of 17.
set -eu
cd "$MESON_DIST_ROOT"
for name in * .[!.]*; do
  case $name in
    LICENSE | README.md | CHANGELOG.md | meson.build | meson_options.txt | pyproject.toml) ;;
    devices | hetero | hetinference | inference | packaging | python | scripts) ;;
    *) rm -rf "$name" ;;
  esac
done
find packaging -mindepth 1 -maxdepth 1 ! -name sdist.sh -exec rm -rf {} +
find scripts -mindepth 1 -maxdepth 1 ! -name embed_text.py -exec rm -rf {} +

#!/usr/bin/env python3
"""A notebook is stored without outputs, and its cells run one after the other.

Usage: notebook.py stored|executed NOTEBOOK [FOLDER]: outputs of the execution go into FOLDER, pictures as PNGs.
"""
import base64
import importlib.util
import os
import pathlib
import sys
import tempfile

for module in ("nbformat", "nbclient", "ipykernel", "cv2", "PIL"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: this Python has no {module}")
        sys.exit(77)

import nbformat  # noqa: E402


def check_stored(notebook):
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            sys.exit(f"cell '{cell.id}' is stored with outputs; clear them")
        if cell.metadata:
            sys.exit(f"cell '{cell.id}' is stored with metadata of an editor: {dict(cell.metadata)}")
    if set(notebook.metadata) - {"kernelspec", "language_info"} or set(notebook.metadata.language_info) != {"name"}:
        sys.exit("the notebook is stored with what its last Python was; keep language_info's name alone")


def execute(notebook, folder):
    """In a kernel of this Python, with nothing of the user's."""
    import nbclient

    pictures = 0
    with tempfile.TemporaryDirectory() as own:
        kernel = pathlib.Path(own) / "kernels/python3"
        kernel.mkdir(parents=True)
        (kernel / "kernel.json").write_text(
            f'{{"argv": ["{sys.executable}", "-B", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"], "display_name": "Python 3", '
            '"language": "python"}', encoding="utf-8")
        os.environ.update(JUPYTER_PATH=own, JUPYTER_RUNTIME_DIR=own, JUPYTER_CONFIG_DIR=own, JUPYTER_DATA_DIR=own, IPYTHONDIR=own,
                          PYDEVD_DISABLE_FILE_VALIDATION="1")
        nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            print(f"[{cell.id}]", output.get("text") or data.get("text/plain", ""))
            if output.output_type == "stream" and output.name == "stderr":
                sys.exit(f"cell '{cell.id}' warns")
            if "image/png" in data:
                pictures += 1
                yield cell.id, base64.b64decode(data["image/png"])
    if pictures == 0:
        sys.exit("no cell shows a picture")


def main():
    what, path = sys.argv[1], pathlib.Path(sys.argv[2])
    notebook = nbformat.read(path, as_version=4)
    if what == "stored":
        check_stored(notebook)
        return
    output = pathlib.Path(sys.argv[3])
    output.mkdir(parents=True, exist_ok=True)
    for name, png in execute(notebook, str(path.parent)):
        (output / f"{name}.png").write_bytes(png)


if __name__ == "__main__":
    main()

"""What the comparisons with the peers share: their environment, and how a ratio is printed."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def add_arguments(parser):
    parser.add_argument("--venv", type=lambda text: pathlib.Path(text).absolute(), default=HERE.parent / "build-peers", help="virtual environment with the pinned peers, made where it is missing")
    parser.add_argument("--python", help="instead: an interpreter that has onnxruntime, onnx and numpy")
    parser.add_argument("--openvino-python", help="instead: an interpreter that has openvino and numpy")


def interpreters(arguments):
    """{peer: interpreter}: the given ones, or the virtual environment's."""
    if arguments.python and arguments.openvino_python:
        return {"openvino": arguments.openvino_python, "onnxruntime": arguments.python}
    python = arguments.venv / "bin/python"
    subprocess.run(["bash", "-c", '. "$1" && python_environment "$2" -r "$3"', "peers.py", HERE.parent / "scripts/environment.sh", arguments.venv, HERE / "requirements.txt"], check=True)
    return {"openvino": str(python), "onnxruntime": str(python)}


def enter(python):
    """Goes on in the peers' interpreter, which has numpy, once."""
    if os.environ.get("HET_ENTERED") != str(python):
        os.environ["HET_ENTERED"] = str(python)
        os.execv(python, [python, *sys.argv])


def model_folder(arguments):
    """Where the architectures with weights lie."""
    return arguments.venv / "models"


def triple(values, names, form):
    return "/".join(format(values[n], form) if n in values else "-" for n in names)


def spread(ratio):
    """A ratio of medians with the least and the largest of the rounds."""
    return f"{ratio[0]:.2f} [{ratio[1]:.2f} {ratio[2]:.2f}]" if ratio else "-"

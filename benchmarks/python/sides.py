"""Who is measured: the package hetero of a build, and OpenVINO's, each in processes of its own; and how figures of rounds are printed."""
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[1:1] = [str(HERE.parent), str(HERE.parent / "models")]
import peers  # noqa: E402  (of the folder above)
from measurement import MOST_COMPILES, content  # noqa: E402  (of benchmarks/models)
from processes import Failure, execute  # noqa: E402

NAMES = {"hetero": "ours", "openvino": "OpenVINO"}
PEER_TIMEOUT_S = 40
PEER_TRIES = 3


def add_arguments(parser, rounds, seconds):
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=float, default=seconds, help="of each measurement")
    parser.add_argument("--data", type=lambda text: pathlib.Path(text).absolute(), default=ROOT / "../shared/data")
    parser.add_argument("--alone", action="store_true", help="without OpenVINO; needs no virtual environment, but numpy and onnx in this interpreter")
    parser.add_argument("--our-python", help="the interpreter that the package hetero was built for (default: the peers', which has to be of the same version)")
    peers.add_arguments(parser)


class Sides:
    """Runs measurements of one build, and keeps its measured choices in a folder of its own."""

    def __init__(self, arguments, choices):
        self.build, self.choices = arguments.build, pathlib.Path(choices)
        pythons = {} if arguments.alone else peers.interpreters(arguments)
        if pythons:
            peers.enter(pythons["onnxruntime"])  # it has numpy and onnx
        self.pythons = {"hetero": arguments.our_python or pythons.get("onnxruntime", sys.executable), **{name: pythons[name] for name in ("openvino",) if name in pythons}}
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "GST_HETERO_CACHE_DIR": str(choices)}
        self.ours = {**self.environment, "PYTHONPATH": str(self.build / "python"), "LD_LIBRARY_PATH": ":".join(filter(None, [str(self.build), os.environ.get("LD_LIBRARY_PATH")]))}

    @property
    def engines(self):
        return list(self.pythons)

    def python(self, engine, measure, model, config, seconds):
        """What python_side.py prints."""
        asked = {"engine": engine, "measure": measure, "model": str(model), "config": config, "seconds": seconds}
        command = [self.pythons[engine], HERE / "python_side.py", json.dumps(asked)]
        if engine == "hetero":
            return self._run(command, self.ours)
        # OpenVINO's AsyncInferQueue sometimes never ends (seen with 2026.4.1); that is told, and measured again.
        for _ in range(PEER_TRIES - 1):
            try:
                return json.loads(execute(command, PEER_TIMEOUT_S + 10 * seconds, env=self.environment))
            except Failure as failure:
                print(f"{NAMES[engine]}, {measure} of {pathlib.Path(model).name}: {failure}; again", file=sys.stderr)
        return self._run(command, self.environment)

    def program(self, *command):
        """What a program prints that uses our library, or none."""
        return self._run(command, self.ours)

    def settle(self, call):
        """Calls until all measured choices of its model are stored; returns what the last call did."""
        for _ in range(MOST_COMPILES):
            before = content(self.choices)
            result = call()
            if content(self.choices) == before:
                break
        return result

    @staticmethod
    def _run(command, environment):
        try:
            return json.loads(execute(command, env=environment))
        except Failure as failure:
            raise SystemExit(f"{' '.join(map(str, command))}\n{failure}") from None


@contextlib.contextmanager
def sides(arguments):
    with tempfile.TemporaryDirectory() as choices:
        yield Sides(arguments, choices)


def in_turn(items, number):
    """Rotated by the number of the round, so that none is always first."""
    items = list(items)
    return items[number % len(items):] + items[:number % len(items)]


def figure(values, form=".2f"):
    """The median with the least and the most of the rounds."""
    return f"{statistics.median(values):{form}} [{min(values):{form}} {max(values):{form}}]"


def model_files(arguments, names):
    """{name: file}: files as they are given, or models of the shared data and architectures by their names."""
    files, folder = {}, peers.model_folder(arguments)
    for name in names:
        places = [pathlib.Path(name), arguments.data / "models/onnx" / f"{name}.onnx", folder / f"{name}.onnx"]
        if not any(place.is_file() for place in places) and (arguments.data / "architectures" / f"{name}.onnx").is_file() and not arguments.alone:
            import models  # needs numpy

            models.make_architectures(arguments.data, folder, sys.executable)
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            raise SystemExit(f"no model {name}: give a file, a name of {arguments.data}/models/onnx or one of its architectures")
        files[file.stem] = file.absolute()
    return files

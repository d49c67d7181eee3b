"""Ours and the peer, as trials of `hetero density`: for the scripts beside this one."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "pipeline")]
import peers
import plays

SIDES = ("ours", "peer")


def arguments(description):
    """A parser with what the scripts have in common."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("video", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL,MODEL_PROC")
    parser.add_argument("--fps", type=float, default=15)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    peers.add_arguments(parser)
    return parser


class Sides:
    def __init__(self, options):
        self.options = options
        self.python = peers.interpreters(options)["openvino"]
        self.environment = plays.environment(options.build)

    def search(self, spec, side, hint, *words):
        """The result of one device; `spec` is NAME=MODEL,MODEL_PROC, `words` are options of the search."""
        options = self.options
        model, _, model_proc = spec.partition("=")[2].partition(",")
        threshold = json.loads(pathlib.Path(model_proc).read_text(encoding="utf-8"))["output_postproc"][0]["threshold"]
        line = ["--program", "--", self.python, HERE / "peer.py", options.video, model, threshold, hint] if side == "peer" else [
            "--", f"filesrc location={options.video} ! qtdemux ! h264parse ! avdec_h264 ! heterodetect model={model} model-proc={model_proc} "
                  f"model-instance-id=detector ie-config=PERFORMANCE_HINT={hint} ! fakesink"]
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [options.build / "tools/hetero", "density", "--fps", options.fps, "--seconds", options.seconds, "--warmup", 1.5, *words,
                       "--json", file.name, *line]
            done = subprocess.run([str(word) for word in command], env=self.environment, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode not in (0, 1):
                raise SystemExit(f"hetero density ended with {done.returncode}: {' '.join(map(str, command))}")
            return json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["devices"][0]

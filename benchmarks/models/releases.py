#!/usr/bin/env python3
"""Speed of the same models in builds of several Debian releases, measured alternately in one run on one machine.

    releases.py 12=BUILD 13=BUILD 14=BUILD [--rounds 5] [--seconds 0.5] [--models PATTERN] [--precisions f32,bf16] [--others 0.05]
                [--out FOLDER] [--minutes 30] [--anew] [--data ../shared/data] [--venv DIR]

NUMBER=BUILD, the first of which the others are compared with: a build folder with tools/hetero. Of another release than this
system's it runs in that release's chroot, which ./check.sh --debian NUMBER makes; that needs root. Several builds of one release
are told apart by a name behind the number: 14=BUILD 14.other=BUILD.

Every round runs all models; in each, every build once per mode in a fresh process, in rotating order. A round of a model in
which other programs took more than --others of the cores' time is not counted, and tried again; what has been measured is kept in
FOLDER/releases.jsonl, and after so many minutes, status 75, the same command goes on. README.md says what is measured.
"""
import argparse
import fnmatch
import hashlib
import itertools
import json
import math
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import measurement  # noqa: E402  (beside this file)
import other_programs  # noqa: E402
import peers  # noqa: E402  (beside this folder)
import processes  # noqa: E402

FIELDS = {"latency": "latency_ms", "throughput": "fps"}
# Rounds of a model that others disturbed, in a row; then the next model is tried.
TRIES = 3
ARCHITECTURES = ("googlenet", "inception_v3", "mobilenet_v2", "mobilenet_v3_large", "resnet18", "resnet50", "shufflenet_v2_x1_0", "squeezenet1_1", "vgg16", "vit_b_32",
                 "mobilenet_v2_int8", "resnet18_int8", "resnet50_int8")
# Beside these, all of models.py from the shared data but those of another size or form of the same network.
SHARED = ("deimv2_atto_320", "fastestdet_352", "kws_qdq_int8", "nanodet_m_320", "ppocr_rec_en_number_v2", "road_segmentation_0001", "yolox_nano", "yunet_n_320",
          "face-detection-retail-0004--FP16-INT8", "person-detection-retail-0013--FP16", "person-reidentification-retail-0287--FP16-INT8", "person-vehicle-bike-detection-2000--FP16-INT8")


class Build:
    """A build folder in the system that it was made for."""

    def __init__(self, text):
        self.name, _, folder = text.partition("=")
        if not folder:
            raise argparse.ArgumentTypeError(f"'{text}' is no NUMBER=BUILD")
        self.folder = pathlib.Path(folder).resolve()
        self.release = self.name.split(".")[0]
        if not (self.folder / "tools/hetero").exists():
            raise argparse.ArgumentTypeError(f"{self.folder} has no tools/hetero")
        self.chroot = None
        if self.release != platform.freedesktop_os_release().get("VERSION_ID"):
            cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
            self.chroot = cache / f"gst-hetero-debian{self.release}"
            if not self.chroot.exists():
                raise argparse.ArgumentTypeError(f"{self.folder} is for Debian {self.release}, which ./check.sh --debian {self.release} makes in {self.chroot}")

    def command(self, command, paths):
        """Runs it where this build belongs; `paths` are the folders that it needs."""
        command = [str(part) for part in command]
        if self.chroot is None:
            return command
        script = 'root=$1; . "$1/scripts/environment.sh"; . "$1/scripts/chroot.sh"; shift; in_chroot "$@"'
        return ["bash", "-euc", script, "releases.py", str(ROOT), str(self.chroot), " ".join(sorted({str(p) for p in (*paths, self.folder)})), *command]

    def describe(self):
        """The version of the release's oneDNN."""
        query = "dpkg-query -W -f '${Package} ${Version}\\n' 'libdnnl[0-9]*' | sort | tail -n 1"
        return "oneDNN " + processes.execute(self.command(["bash", "-c", query], [])).split()[-1]

    def digest(self):
        library = self.folder / "libhetinference-1.0.so.0"
        return hashlib.sha256((library if library.exists() else self.folder / "tools/hetero").read_bytes()).hexdigest()


def run_once(build, model, files, mode, precision, arguments):
    """The figure of a fresh process with nothing stored: it measures its choices first."""
    with tempfile.TemporaryDirectory(dir=arguments.out) as cache:
        command = measurement.our_command(build.folder, model, files, mode, precision, arguments, None, cache)
        printed = json.loads(processes.execute(build.command(command, [ROOT, arguments.data, arguments.out, peers.model_folder(arguments)])))
    return printed["latency_ms"]["median"] if mode == "latency" else printed["throughput_fps"]


def run_round(number, model, files, precision, arguments):
    """({mode: {build: figure}}, share of the cores' time that others took)."""
    figures = {mode: {} for mode in FIELDS}
    first = number % len(arguments.builds)
    others = other_programs.Share()
    for mode, build in itertools.product(FIELDS, arguments.builds[first:] + arguments.builds[:first]):
        figures[mode][build.name] = run_once(build, model, files, mode, precision, arguments)
    return figures, others.now()


class Record:
    """The rounds of earlier runs of the same builds with the same options."""

    def __init__(self, arguments):
        self.file = arguments.out / "releases.jsonl"
        self.key = {"builds": {b.name: b.digest() for b in arguments.builds}, "seconds": arguments.seconds, "cores": arguments.cores}
        if arguments.anew:
            self.file.unlink(missing_ok=True)
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        self.rounds = {}
        for entry in (json.loads(line) for line in lines if line.endswith("}")):
            if entry["key"] == self.key:
                self.rounds.setdefault((entry["model"], entry["precision"]), []).append(entry["figures"])

    def find(self, model, precision):
        return self.rounds.get((model.name, precision), [])

    def keep(self, model, precision, figures, others):
        self.rounds.setdefault((model.name, precision), []).append(figures)
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": self.key, "model": model.name, "precision": precision, "others": round(others, 3), "figures": figures}) + "\n")


def measure(cells, record, arguments):
    """Rounds until every cell has its number; what is left when the time is over."""
    until = time.monotonic() + 60 * arguments.minutes
    disturbed = 0
    for number in range(arguments.rounds):
        for model, files, precision in cells:
            tries = 0
            while len(record.find(model, precision)) <= number and tries < TRIES and time.monotonic() < until:
                figures, others = run_round(number, model, files, precision, arguments)
                if others <= arguments.others:
                    record.keep(model, precision, figures, others)
                else:
                    tries, disturbed = tries + 1, disturbed + 1
                    print(f"# {model.name} {precision}: others took {others:.0%} of the cores, not counted", file=sys.stderr, flush=True)
    return [f"{m.name} {p}" for m, _, p in cells if len(record.find(m, p)) < arguments.rounds], disturbed


def speed(rounds, mode, name, base):
    """Over the base's (above 1: faster) in the median round, the least and the largest, as rows.speed() has it."""
    sign = 1 if mode == "throughput" else -1
    ratios = [(r[mode][name] / r[mode][base]) ** sign for r in rounds]
    return statistics.median(ratios), min(ratios), max(ratios)


def print_table(cells, record, arguments):
    names = [build.name for build in arguments.builds]
    versus = [f"{n} over {names[0]}" for n in names[1:]]
    print("| " + " | ".join(["model", "type", "latency ms: " + "/".join(names), *versus, "frames/s: " + "/".join(names), *versus]) + " |")
    print("| " + " | ".join(["---"] * (4 + 2 * len(versus))) + " |")
    logs = {}
    for model, _, precision in cells:
        rounds = record.find(model, precision)
        if not rounds:
            continue
        kind = "int8" if model.quantised else precision
        line = [model.name, kind]
        for mode, form in (("latency", ".2f"), ("throughput", ".1f")):
            line.append(peers.triple({n: statistics.median(r[mode][n] for r in rounds) for n in names}, names, form))
            for name in names[1:]:
                ratio = speed(rounds, mode, name, names[0])
                logs.setdefault((kind, mode, name), []).append(math.log(ratio[0]))
                line.append(peers.spread(ratio))
        print("| " + " | ".join(line) + " |")
    print(f"\n| speed over {names[0]} | geometric mean | least | most | models |\n| --- | --- | --- | --- | --- |")
    for (kind, mode, name), values in sorted(logs.items()):
        print(f"| {kind} {mode}, {name} | {math.exp(statistics.mean(values)):.3f} | {math.exp(min(values)):.2f} | {math.exp(max(values)):.2f} | {len(values)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", type=Build, nargs="+", metavar="NUMBER=BUILD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--models", default="*", help="pattern of model names")
    parser.add_argument("--precisions", default="f32,bf16", help="of models that are not quantised")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--others", type=float, default=0.05, help="share of the cores' time that other programs may take in a round")
    parser.add_argument("--minutes", type=float, default=30, help="nothing is begun later")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs have measured")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/benchmarks/releases")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    python = peers.interpreters(arguments)["onnxruntime"]
    peers.enter(python)
    import models as model_list  # needs numpy

    arguments.out, arguments.data = arguments.out.resolve(), arguments.data.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    model_list.make_architectures(arguments.data, peers.model_folder(arguments), python)
    chosen = [m for m in model_list.find_models(arguments.data, peers.model_folder(arguments)) if m.name in ARCHITECTURES + SHARED and fnmatch.fnmatch(m.name, arguments.models)]
    cells = []
    for model in chosen:
        files = model_list.write_inputs(model, arguments.out / "inputs" / model.name)
        cells += [(model, files, precision) for precision in (["f32"] if model.quantised else arguments.precisions.split(","))]
    for build in arguments.builds:
        print(f"# Debian {build.name}: {build.describe()}")
    record = Record(arguments)
    left, disturbed = measure(cells, record, arguments)
    print_table(cells, record, arguments)
    rounds = [len(record.find(model, precision)) for model, _, precision in cells]
    print(f"\n{min(rounds, default=0)} to {max(rounds, default=0)} rounds; {disturbed} of this run were not counted, since others took more than {arguments.others:.0%} of the cores")
    if left:
        print(f"Not yet measured: {len(left)}, the next is {left[0]}. Run the same command again to go on: {shlex.join(sys.argv)}")
    return 75 if left else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Our trackers beside PyPI's on the same detections: HOTA, IDF1, identity switches on three generated scenes, and us a frame."""

import argparse
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENT = ROOT / "build-trackers"


def own_environment(build):
    """Goes on in the virtual environment of the peers, which is made the first time, with the package of this build."""
    python = ENVIRONMENT / "bin" / "python"
    if pathlib.Path(sys.prefix) != ENVIRONMENT:
        script = f'root="{ROOT}"; . "$root/scripts/environment.sh"; python_environment "{ENVIRONMENT}" -r "{HERE / "requirements.txt"}"'
        subprocess.run(["bash", "-c", script], check=True)
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)
    package = build.resolve() / "python"
    if not (package / "hetero").is_dir():
        sys.exit(f"{package} has no package hetero: give a build folder with it (./check.sh makes build-check)")
    sys.path.insert(0, str(package))


def play(side, frames):
    """The answers to all frames."""
    return [side(frame.boxes.copy(), frame.scores.copy()) for frame in frames]


def mean(values):
    return sum(values) / len(values)


def compare_scenes(wanted, seeds, sides):
    import scenes
    import scores

    for scene in wanted:
        made = [scenes.make(scene, seed) for seed in seeds]
        print(f"\n{scene}: means of seeds {seeds[0]} to {seeds[-1]}\n")
        print("| tracker | HOTA | DetA | AssA | IDF1 | switches |\n| --- | --- | --- | --- | --- | --- |")
        for name, create in sides.items():
            results = [scores.score(frames, play(create(), frames)) for frames in made]
            line = " | ".join(f"{mean([one[key] for one in results]):.1f}" for key in ("HOTA", "DetA", "AssA", "IDF1", "switches"))
            print(f"| {name} | {line} |", flush=True)


def compare_times(counts, sides):
    import scenes

    print("\nus a frame, median\n")
    print(f"| tracker | {' | '.join(f'{count} objects' for count in counts)} |\n|{' --- |' * (len(counts) + 1)}")
    crowds = {count: scenes.crowd(count, 60, seed=1) for count in counts}
    for name, create in sides.items():
        line = []
        for count in counts:
            side, taken = create(), []
            for boxes, scores in crowds[count]:
                start = time.perf_counter()
                side(boxes.copy(), scores.copy())
                taken.append(time.perf_counter() - start)
            line.append(f"{1e6 * sorted(taken[10:])[25]:,.0f}")
        print(f"| {name} | {' | '.join(line)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="a build folder with the package hetero")
    parser.add_argument("--scenes", default="occlusion,crossings,re-entry")
    parser.add_argument("--seeds", default="1-5", help="FIRST-LAST; the defaults of our trackers were chosen on 101-110 (default %(default)s)")
    parser.add_argument("--sides", default="", help="only trackers whose names contain one of these, separated by commas")
    parser.add_argument("--packages", type=pathlib.Path, help="a folder of further packages: torch, for boxmot (README.md)")
    parser.add_argument("--no-times", action="store_true", help="leaves out the measurement of time")
    arguments = parser.parse_args()
    own_environment(arguments.build)
    if arguments.packages:
        sys.path.append(str(arguments.packages.resolve()))
    from sides import SIDES

    first, last = map(int, arguments.seeds.split("-"))
    wanted = arguments.sides.split(",")
    sides = {}
    for name, create in SIDES.items():
        if not any(part in name for part in wanted):
            continue
        try:
            create()
        except ModuleNotFoundError as missing:
            print(f"{name} is left out: {missing}")
            continue
        sides[name] = create
    compare_scenes(arguments.scenes.split(","), list(range(first, last + 1)), sides)
    if not arguments.no_times:
        compare_times([10, 100, 500], sides)


if __name__ == "__main__":
    main()

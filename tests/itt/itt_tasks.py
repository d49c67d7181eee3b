#!/usr/bin/env python3
"""What profilers of the ITT interface see of us: domains and tasks by name, per node, per request and per part of an
element, told by a collector of our own. Prints the list.

Usage: itt_tasks.py HETERO COLLECTOR SOURCE_ROOT
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HETERO, COLLECTOR, ROOT = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
MODELS = ROOT / "pipelines/demo/models"
MODEL = MODELS / "scene_detector.onnx"
RUNS = 5
FRAMES = 12

Task = collections.namedtuple("Task", "domain name thread begin end")


class Tasks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="itt_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.events = self.folder / "events"

    def run_command(self, *command, collector=COLLECTOR):
        environment = dict(os.environ, HET_ITT_EVENTS=str(self.events), GST_REGISTRY=str(self.folder / "registry.bin"))
        environment.pop("INTEL_LIBITTNOTIFY64", None)
        if collector:
            environment["INTEL_LIBITTNOTIFY64"] = str(collector)
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def tasks(self):
        """Those of our domains in the order of their begins; each has an end, and those of a thread are nested."""
        found = []
        stacks = collections.defaultdict(list)
        by_id = {}
        for number, line in enumerate(self.events.read_text().splitlines()):
            kind, thread, domain, *rest = line.split("\t")
            if kind == "begin":
                stacks[thread].append(len(found))
                found.append(Task(domain, rest[0], thread, number, None))
            elif kind == "end":
                index = stacks[thread].pop()
                self.assertEqual(found[index].domain, domain, f"line {number + 1}: the end of another task")
                found[index] = found[index]._replace(end=number)
            elif kind == "begin_id":
                self.assertNotIn((domain, rest[0]), by_id, "an id stands for one task")
                by_id[domain, rest[0]] = len(found)
                found.append(Task(domain, rest[1], None, number, None))
            else:
                self.assertEqual(kind, "end_id")
                index = by_id[domain, rest[0]]
                self.assertIsNone(found[index].end, "ended once")
                found[index] = found[index]._replace(end=number)
        ours = [task for task in found if task.domain.startswith("hetero")]
        for task in ours:
            self.assertIsNotNone(task.end, f"{task} has no end")
        return ours

    def count(self, tasks, domain):
        return collections.Counter(task.name for task in tasks if task.domain == domain)

    def print_list(self, title, tasks):
        print(f"\n{title}")
        for (domain, name), number in sorted(collections.Counter((task.domain, task.name) for task in tasks).items()):
            print(f"  {domain:<16} {name:<40} {number}")

    def test_every_request_and_every_node_is_a_task(self):
        self.run_command(HETERO, "bench", MODEL, "-d", "CPU", "-niter", RUNS, "-nireq", 1, "-trace", "trace.json")
        tasks = self.tasks()
        self.print_list(f"hetero bench, {RUNS} inferences and one before", tasks)
        self.assertEqual({task.domain for task in tasks}, {"hetero.request", "hetero.node"})
        requests = [task for task in tasks if task.domain == "hetero.request"]
        self.assertEqual(len({task.name for task in requests}), 1, "named after the model")
        self.assertGreaterEqual(len(requests), RUNS)
        # The same nodes that the trace has, each once in every request. Its row for pictures is no node.
        trace = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        nodes = {event["name"] for event in trace if event["ph"] == "X"} - {"preprocess"}
        counts = self.count(tasks, "hetero.node")
        self.assertEqual(set(counts), nodes)
        self.assertEqual(set(counts.values()), {len(requests)})
        for node in (task for task in tasks if task.domain == "hetero.node"):
            self.assertTrue(any(r.begin < node.begin and node.end < r.end for r in requests), f"{node} is outside of requests")

    def test_subgraphs_are_requests_inside_the_models(self):
        device = "HETERO:REF,CPU"
        affinity = json.dumps({"rules": [{"name": "/stem/stem.1/conv/Conv", "device": "CPU"}]})
        (self.folder / "device.json").write_text(json.dumps({device: {"HETERO_AFFINITY": affinity}}))
        self.run_command(HETERO, "bench", MODEL, "-d", device, "-niter", 1, "-load_config", "device.json")
        tasks = self.tasks()
        self.print_list("hetero bench on HETERO:REF,CPU", tasks)
        requests = [task for task in tasks if task.domain == "hetero.request"]
        name = min((task.name for task in requests), key=len)
        parts = {task.name for task in requests if task.name != name}
        self.assertGreaterEqual(len(parts), 3, "before, on and behind CPU")
        for whole in (task for task in requests if task.name == name):
            inside = collections.Counter(task.name for task in requests if whole.begin < task.begin and task.end < whole.end)
            self.assertEqual(inside, collections.Counter(parts), "every part once")

    def test_every_part_of_an_elements_work_is_a_task(self):
        self.run_command("gst-launch-1.0", "-q", *f"videotestsrc num-buffers={FRAMES} pattern=ball ! "
                         "video/x-raw,format=NV12,width=320,height=240 ! heterodetect name=found device=CPU "
                         f"model={MODEL} model-proc={MODEL.with_suffix('.json')} ! fakesink".split())
        tasks = self.tasks()
        self.print_list(f"a pipeline of {FRAMES} frames", tasks)
        self.assertEqual({task.domain for task in tasks}, {"hetero.element", "hetero.request", "hetero.node"})
        self.assertEqual(self.count(tasks, "hetero.element"),
                         {f"found {part}": FRAMES for part in ("decode", "attach", "push")})
        self.assertEqual(sum(self.count(tasks, "hetero.request").values()), FRAMES)

    def test_nothing_is_written_without_a_collector(self):
        self.run_command(HETERO, "bench", MODEL, "-d", "CPU", "-niter", 1, collector=None)
        self.assertFalse(self.events.exists())
        self.run_command(HETERO, "bench", MODEL, "-d", "CPU", "-niter", 1, collector=self.folder / "missing.so")
        self.assertFalse(self.events.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

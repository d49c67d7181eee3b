#!/usr/bin/env python3
"""What hetero-archive-ray does next, without Ray: the shards that it deals, what it says of processes that end, and its refusals."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "serving/archive/schedulers/hetero_archive_ray.py"
specification = importlib.util.spec_from_file_location("hetero_archive_ray", PROGRAM)
archive_ray = importlib.util.module_from_spec(specification)
sys.dont_write_bytecode = True
specification.loader.exec_module(archive_ray)

# A worker that does a shard, fails another, dies at a third and says nonsense at a fourth.
WORKER = r"""
import json, os, sys
for line in sys.stdin:
    key = json.loads(line)["shard"]
    if key == "dies":
        os.kill(os.getpid(), 11)
    answer = {"failed": key, "error": "no video", "kind": "error", "given_up": False} if key == "fails" else {"done": key, "frames": 3, "seconds": 1}
    os.write(1, b"what\n" if key == "nonsense" else (json.dumps(answer) + "\n").encode())
"""


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        for name in ("notes", "failures"):
            (self.folder / name).mkdir()
        self.plan("a", "b", "c", "d")

    def plan(self, *keys):
        (self.folder / "plan.json").write_text(json.dumps({"shards": [{"key": key, "frames": 10} for key in keys]}))

    def done(self, key):
        (self.folder / "notes" / f"{key}.json").write_text("{}")

    def failures(self, key):
        return json.loads((self.folder / "failures" / f"{key}.json").read_text())

    def queue(self, tries=3):
        return archive_ray.ShardQueue(archive_ray.Archive(self.folder), tries)


class Queue(Folder):
    def test_only_what_is_missing_is_dealt(self):
        self.done("a")
        (self.folder / "failures/b.json").write_text(json.dumps({"key": "b", "tries": [], "given_up": True}))
        queue = self.queue()
        self.assertEqual([queue.take(0), queue.take(1), queue.take(0)], [("c", False), ("d", False), (None, False)])

    def test_a_failed_shard_is_tried_again_until_it_is_given_up(self):
        queue = self.queue()
        queue.take(0)
        queue.answered("a", {"failed": "a", "error": "bad", "given_up": False})
        self.assertEqual([queue.take(0)[0] for _ in range(4)], ["b", "c", "d", "a"])
        queue.answered("a", {"failed": "a", "error": "bad", "given_up": True})
        self.assertTrue(queue.is_empty())
        self.assertEqual(queue.failed, {"a": "bad"})

    def test_who_is_to_blame_for_a_crash_is_found_alone(self):
        queue = self.queue(tries=2)
        queue.take(0)
        queue.take(1)
        for key in ("a", "b"):
            queue.worker_ended(key, False, "signal 11")
        self.assertEqual(queue.take(1), (None, False))  # suspects wait for a worker with nothing beside them
        self.assertEqual(queue.take(0), ("a", True))
        queue.answered("a", {"done": "a"})
        self.assertEqual(queue.take(0), ("b", True))
        queue.worker_ended("b", True, "signal 11")
        self.assertEqual(queue.take(0), ("b", True))
        queue.worker_ended("b", True, "signal 11")
        self.assertIn("signal 11", queue.failed["b"])
        self.assertTrue(self.failures("b")["given_up"])
        self.assertEqual([failed["kind"] for failed in self.failures("b")["tries"]], ["crash", "crash"])
        self.assertFalse((self.folder / "failures/a.json").exists())

    def test_a_lost_actor_is_not_the_shards_doing(self):
        queue = self.queue(tries=1)
        for _ in range(archive_ray.MOST_LOSSES):
            self.assertEqual(queue.take(0), ("a", False))
            queue.actor_lost("a")
        self.assertFalse((self.folder / "failures/a.json").exists())
        queue.take(0)
        queue.actor_lost("a")
        self.assertIn("actors were lost", queue.failed["a"])

    def test_an_answer_that_was_lost_is_in_the_folder(self):
        queue = self.queue()
        queue.take(0)
        self.done("a")
        queue.worker_ended("a", True, "signal 9")
        self.assertEqual(queue.done, {"a"})


class Worker(Folder):
    def test_answers_and_ends(self):
        worker = archive_ray.Worker([sys.executable, "-c", WORKER], self.folder)
        self.assertEqual(worker.do("good")["done"], "good")
        self.assertEqual(worker.do("fails")["error"], "no video")
        self.assertEqual(worker.do("dies"), {"ended": "signal 11"})
        self.assertEqual(worker.do("good")["done"], "good")
        self.assertIn("'what'", worker.do("nonsense")["ended"])
        self.assertEqual(worker.do("good")["done"], "good")
        worker.stop()

    def test_a_node_without_the_folder_says_so(self):
        with self.assertRaisesRegex(FileNotFoundError, "need the archive's folder"):
            archive_ray.Worker(["true"], self.folder / "elsewhere")

    def test_a_program_that_is_not_there_is_an_end(self):
        self.assertIn("No such file", archive_ray.Worker(["/nowhere/hetero-archive"], self.folder).do("a")["ended"])


class Program(Folder):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, check=False)

    def test_refusals(self):
        done = self.run_it(self.folder / "elsewhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no plan that can be read", done.stderr)
        self.assertEqual(self.run_it(self.folder, "--tries", "0").returncode, 2)

    def test_nothing_is_missing(self):
        for key in "abcd":
            self.done(key)
        done = self.run_it(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, "nothing is missing; 0 shards were given up\n"))


if __name__ == "__main__":
    unittest.main()

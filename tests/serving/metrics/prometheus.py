#!/usr/bin/env python3
"""A real Prometheus reads the tracer, and every query of the dashboard and of the alerts has an answer: prometheus.py SOURCE_ROOT BUILD_ROOT."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from served import Served  # noqa: E402

ROOT, BUILD = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
TREE = BUILD / "prometheus"
MODELS = ROOT / "pipelines/demo/models"
LINE = (f"videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! queue ! heterodetect threshold=0.1 "
        f"model={MODELS}/scene_detector.onnx model-proc={MODELS}/scene_detector.json ! heterotrack ! heterometaconvert "
        f"! heterometapublish file-path=/dev/null ! fakesink sync=true")
# Of hetero launch, which this is not.
INSTANCE = {"HETERO_INSTANCE": "0", "HETERO_INSTANCE_RESTARTS": "1"}


def need_prometheus():
    done = subprocess.run([ROOT / "scripts/prometheus.sh", TREE], capture_output=True, text=True)
    assert done.returncode in (0, 75), f"scripts/prometheus.sh ends with {done.returncode}: {done.stdout}{done.stderr}"
    if done.returncode == 75:
        print(f"skipped: {done.stdout.strip()} {done.stderr.strip()}")
        sys.exit(77)


def promtool(*arguments, **options):
    return subprocess.run([TREE / "usr/bin/promtool", *arguments], capture_output=True, text=True, timeout=60, **options)


def dashboard_queries():
    for panel in json.loads((ROOT / "packaging/metrics/dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")


def alert_queries():
    """What rules compare, without the comparison, which says yes only in trouble."""
    text = (ROOT / "packaging/metrics/alerts.yml").read_text()
    for name, rule in re.findall(r"- alert: (\w+)\n((?:        .*\n?)+)", text):
        expression = re.search(r"expr: (\|\n(?:          .*\n)+|.*)", rule).group(1).lstrip("|")
        for either in re.split(r"\sor\s", expression):
            for side in re.split(r"\s(?:==|>=|>)\s", either):
                if not re.fullmatch(r"\s*[\d.]+\s*", side):
                    yield name, " ".join(side.split()).replace('{type="error"}', "")


class Parsers(unittest.TestCase):
    def test_both_texts_are_read_by_others(self):
        with Served(LINE, "latency=pipeline+element", environment={**INSTANCE, "OTEL_SERVICE_NAME": 'gate "7" \\ Süd'}) as served:
            served.wait_for_frames(30)
            older = served.get(accept="text/plain")[1]
            open_metrics = served.get()[1]
        # A name that ends as OpenMetrics' histograms do is no error; promtool has opinions on style, too.
        done = promtool("check", "metrics", input=older)
        self.assertNotIn("error", done.stderr + done.stdout)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        print(done.stdout, done.stderr)
        sys.path.insert(0, str(TREE / "usr/lib/python3/dist-packages"))
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
        from prometheus_client.parser import text_string_to_metric_families as read_older
        found = {family.name: family for family in read_open(open_metrics)}
        self.assertEqual(found["target"].samples[0].labels["service_name"], 'gate "7" \\ Süd')
        self.assertEqual(found["hetero_frames_in"].type, "counter")
        self.assertEqual(found["gst_element_latency_seconds"].unit, "seconds")
        self.assertGreater(len(list(read_older(older))), 40)
        # What it tells is in the guide, and the guide tells nothing else.
        table = re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE)
        for family in found.values():
            name = family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
            self.assertIn((name, family.type), table)


class Prometheus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="prometheus_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.served = Served(LINE, "latency=pipeline+element", environment=INSTANCE)
        cls.served.__enter__()
        cls.addClassCleanup(cls.served.__exit__)
        with socket.create_server(("127.0.0.1", 0)) as free:
            cls.port = free.getsockname()[1]
        shutil.copy(ROOT / "packaging/metrics/alerts.yml", cls.folder)
        configuration = (ROOT / "packaging/metrics/prometheus.yml").read_text()
        configuration = configuration.replace("scrape_interval: 15s", "scrape_interval: 1s").replace("127.0.0.1:9464", f"127.0.0.1:{cls.served.port}")
        (cls.folder / "prometheus.yml").write_text(configuration)
        cls.log = (cls.folder / "log").open("w+")
        cls.process = subprocess.Popen([TREE / "usr/bin/prometheus", f"--config.file={cls.folder}/prometheus.yml", f"--storage.tsdb.path={cls.folder}/data",
                                        f"--web.listen-address=127.0.0.1:{cls.port}"], stdout=cls.log, stderr=subprocess.STDOUT)
        cls.addClassCleanup(cls.stop)
        cls.wait_for_scrapes(6)

    @classmethod
    def stop(cls):
        cls.process.terminate()
        cls.process.wait(20)
        cls.log.close()

    @classmethod
    def ask(cls, query):
        url = f"http://127.0.0.1:{cls.port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]["result"]

    @classmethod
    def wait_for_scrapes(cls, count):
        limit = time.monotonic() + 60
        while True:
            assert cls.process.poll() is None, (cls.folder / "log").read_text()
            try:
                result = cls.ask("count_over_time(gst_source_buffers_total[1m])")
                if result and float(result[0]["value"][1]) >= count:
                    return
            except OSError:
                pass  # it is not there yet
            assert time.monotonic() < limit, (cls.folder / "log").read_text()[-3000:]
            time.sleep(0.5)

    def test_it_is_up_and_nothing_was_refused(self):
        self.assertEqual(self.ask("up")[0]["value"][1], "1")
        self.assertEqual(self.ask("scrape_samples_scraped - scrape_samples_post_metric_relabeling")[0]["value"][1], "0")
        log = (self.folder / "log").read_text()
        self.assertNotRegex(log, r"level=(warn|error).*(sample|scrape|append)")

    def test_every_query_of_the_dashboard_has_data(self):
        queries = list(dashboard_queries())
        self.assertGreater(len(queries), 20)
        for title, query in queries:
            self.assertTrue(self.ask(query), f"{title}: {query}")

    def test_rules_are_right_and_what_they_compare_has_data(self):
        done = promtool("check", "rules", ROOT / "packaging/metrics/alerts.yml")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        queries = list(alert_queries())
        self.assertGreaterEqual(len(queries), 10)
        for name, query in queries:
            self.assertTrue(self.ask(query), f"{name}: {query}")

    def test_values_are_those_that_the_process_tells(self):
        series = 'gst_pipeline_starts_total{pipeline="pipeline0"}'
        self.assertEqual(float(self.ask(series)[0]["value"][1]), self.served.value(series))


if __name__ == "__main__":
    need_prometheus()
    sys.argv[1:] = sys.argv[3:]
    unittest.main(verbosity=2)

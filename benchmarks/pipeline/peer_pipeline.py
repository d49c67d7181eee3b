"""The peer's pipelines, in its interpreter: peer_pipeline.py JSON, whose keys are video, model, streams, seconds, warmup, precision, threshold, classifier.

A thread a stream with cv2.VideoCapture and cv2.resize. A detector alone uses one AsyncInferQueue with as many requests as
OpenVINO wants in THROUGHPUT mode, results as they come. With a classifier every stream keeps requests of both models in flight
and takes their results in the order of its frames, as a tracker needs it. Prints the measures of bench_streams.
"""
import collections
import json
import os
import resource
import sys
import threading
import time

import cv2
import openvino
import peer_stages


class Counts:
    """Frames and objects of each stream, and whether a video has ended."""

    def __init__(self, streams):
        self.frames = [0] * streams
        self.objects = [0] * streams
        self.ended = threading.Event()

    def pictures(self, video):
        capture = cv2.VideoCapture(video)
        while not self.ended.is_set():
            there, frame = capture.read()
            if not there:
                self.ended.set()
                return
            yield frame


def detect(options, counts):
    """(run(stream), requests): detector alone."""
    detector = peer_stages.Detector(options["model"], options["precision"], options["threshold"])
    queue = openvino.AsyncInferQueue(detector.compiled)
    starting = threading.Lock()

    def done(request, user):
        stream, scale = user
        counts.objects[stream] += len(detector.objects(request, scale)[0])
        counts.frames[stream] += 1

    queue.set_callback(done)

    def run(stream):
        for frame in counts.pictures(options["video"]):
            tensor, scale = detector.input(frame)
            with starting:
                queue.start_async(tensor, (stream, scale), share_inputs=True)

    return run, len(queue)


class Requests:
    """Idle requests of a model, made when they are needed."""

    def __init__(self, compiled):
        self.compiled, self.idle = compiled, []

    def start(self, tensor):
        request = self.idle.pop() if self.idle else self.compiled.create_infer_request()
        request.start_async({0: tensor}, share_inputs=True)
        return request


def analyse(options, counts):
    """(run(stream), requests): detector, tracker, classifier of every object, a line of JSON a frame."""
    detector = peer_stages.Detector(options["model"], options["precision"], options["threshold"])
    classifier = peer_stages.Classifier(options["classifier"], options["precision"])
    wanted = detector.compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
    depth = -(-wanted // options["streams"]) + 1

    def run(stream):
        tracker, out = peer_stages.Tracker(), open(os.devnull, "w")
        detections, classifications = Requests(detector.compiled), Requests(classifier.compiled)
        detecting, classifying = collections.deque(), collections.deque()

        def take_detected():
            request, tensor, frame, scale = detecting.popleft()
            request.wait()
            boxes, scores, classes = detector.objects(request, scale)
            detections.idle.append(request)
            ids = tracker.ids_of(boxes)
            crops = [classifier.input(frame, box) for box in boxes]
            started = [None if crop is None else classifications.start(crop) for crop in crops]
            classifying.append((started, crops, frame.shape, boxes, scores, classes, ids))

        def take_classified():
            started, _, *found = classifying.popleft()
            attributes = []
            for request in started:
                if request is None:
                    attributes.append({})
                    continue
                request.wait()
                attributes.append(classifier.attributes(request))
                classifications.idle.append(request)
            out.write(peer_stages.json_line(counts.frames[stream], *found, attributes))
            counts.objects[stream] += len(started)
            counts.frames[stream] += 1

        for frame in counts.pictures(options["video"]):
            tensor, scale = detector.input(frame)
            detecting.append((detections.start(tensor), tensor, frame, scale))
            if len(detecting) >= depth:
                take_detected()
            if len(classifying) >= depth:
                take_classified()

    return run, depth * options["streams"]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    options = json.loads(sys.argv[1])
    counts = Counts(options["streams"])
    run, requests = (analyse if options.get("classifier") else detect)(options, counts)
    threads = [threading.Thread(target=run, args=(s,)) for s in range(options["streams"])]
    for thread in threads:
        thread.start()
    time.sleep(options["warmup"])
    before, start_cpu, start = list(counts.frames), cpu(), time.perf_counter()
    counts.ended.wait(options["seconds"])
    wall, used, frames = time.perf_counter() - start, cpu() - start_cpu, [a - b for a, b in zip(counts.frames, before)]
    counts.ended.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"seconds": wall, "cpu_seconds": used, "frames": frames, "objects": sum(counts.objects) / max(1, sum(counts.frames)), "requests": requests}), flush=True)
    os._exit(0)  # OpenVINO's threads and Python's end aborts the process now and then


if __name__ == "__main__":
    main()

"""Counts the objects of each label, for the element heteropython: see the doc block of python/gst/element/gstheteropython.cpp."""
import collections


class Count:
    def __init__(self, every=30):
        self.every = every
        self.frames = 0
        self.labels = collections.Counter()

    def process_frame(self, frame):
        self.frames += 1
        self.labels.update(region.label() for region in frame.regions())
        if self.frames % self.every == 0:
            print(f"{self.frames} frames:", ", ".join(f"{count} {label}" for label, count in sorted(self.labels.items())) or "no objects")

#!/usr/bin/env python3
"""Archives of an object store: object_store.py BUILD FOLDER, in the Python that has moto and boto3.

moto's server plays the store. URLs are signed anew for each plan, and what is done stays done; an object that changes is done again. A folder
that s3fs mounts gives what the files give.
"""
import contextlib
import json
import logging
import os
import pathlib
import subprocess
import sys
import time

import boto3
import merged_files
from moto.server import ThreadedMotoServer

from cluster_check import Work, notes

BUCKET = "videos"


class Store:
    def __init__(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line a request
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        self.address = f"http://{host}:{port}"
        self.client = boto3.client("s3", endpoint_url=self.address, region_name="us-east-1",
                                   aws_access_key_id="test", aws_secret_access_key="test")
        self.client.create_bucket(Bucket=BUCKET)

    def put(self, key, path):
        self.client.put_object(Bucket=BUCKET, Key=key, Body=path.read_bytes())

    def url(self, key):
        return self.client.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": key}, ExpiresIn=3600)


    @contextlib.contextmanager
    def mounted(self, folder):
        """The bucket as a folder."""
        folder.mkdir(exist_ok=True)
        keys = folder.with_suffix(".keys")
        keys.write_text("test:test\n", encoding="utf-8")
        keys.chmod(0o600)
        subprocess.run(["s3fs", BUCKET, folder, "-o", f"url={self.address},passwd_file={keys},use_path_request_style,ro"], check=True, timeout=60)
        try:
            until = time.monotonic() + 20
            while not os.path.ismount(folder) or not list(folder.iterdir()):
                assert time.monotonic() < until, f"nothing is in {folder}"
                time.sleep(0.1)
            yield
        finally:
            subprocess.run(["umount", folder], check=True)


def check(work):
    paths = sorted(path for path in work.videos.iterdir() if path.name[:8] in ("video_00", "video_01"))[:8]
    by_signed_urls(work, paths)
    if os.getuid() != 0 or not pathlib.Path("/dev/fuse").exists():
        print("skipped: a mounted folder (it needs root and /dev/fuse)")
        return
    in_a_mounted_folder(work, paths)


def in_a_mounted_folder(work, paths):
    """The same lines as from the files themselves, of whole files and of ranges."""
    store = Store()
    for path in paths:
        store.put(path.name, path)
    mount = work.folder / "bucket"
    with store.mounted(mount):
        for name, options in (("mounted_whole", ()), ("mounted_ranges", ("--shard", "1s"))):
            merged = []
            for source in (mount, work.videos):
                place = work.folder / name
                subprocess.run(["rm", "-rf", place], check=True)
                work.archive("plan", *(source / path.name for path in paths), "-o", place, *options, "--", *work.pipeline())
                work.archive("run", "-o", place)
                merged.append(work.folder / f"{name}_{source.name}.jsonl")
                work.archive("merge", place, "-o", merged[-1])
                work.archive("verify", place)
            difference = merged_files.first_difference(*merged)
            assert difference is None, f"{name}: {difference}"
            print(f"{name}: {len(paths)} videos in a folder of s3fs give what the files give")
    store.server.stop()


def by_signed_urls(work, paths):
    line = " ".join(work.pipeline()).replace("filesrc location={video} ! decodebin", "uridecodebin uri={uri}").split()
    place, urls = work.folder / "object_store", work.folder / "urls.txt"
    subprocess.run(["rm", "-rf", place], check=True)
    store = Store()
    for path in paths:
        store.put(f"day one/{path.name}", path)

    def plan(*options):
        urls.write_text("".join(store.url(f"day one/{path.name}") + "\n" for path in paths), encoding="utf-8")
        said = work.archive("plan", urls, "-o", place, *options, "--", *line)
        print(said.splitlines()[-1])
        return urls.read_text(encoding="utf-8")

    first = plan()
    work.archive("run", "-o", place)
    # Demuxers that cannot seek in their source may tell other times, so the same URLs go through gst-launch-1.0.
    archive = json.loads((place / "plan.json").read_text(encoding="utf-8"))
    output = work.folder / "gst_launch.jsonl"
    for video in archive["videos"]:
        assert "Signature" not in video["name"], f"the name {video['name']} has the signature in it"
        words = [word.replace("{uri}", video["uri"]).replace("{name}", video["name"]).replace("{output}", str(output)) for word in line]
        output.unlink(missing_ok=True)
        subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=120, stdout=subprocess.DEVNULL)
        key = archive["shards"][video["shards"][0]]["key"]
        difference = merged_files.first_difference(place / "outputs" / f"{key}.jsonl", output)
        assert difference is None, f"{video['name']} by gst-launch-1.0: {difference}"
    print(f"{len(archive['videos'])} videos by presigned URLs are what gst-launch-1.0 makes of them")

    time.sleep(1.1)  # for another signature
    assert plan() != first, "the signatures are the same"
    done = notes(place)
    began = time.monotonic()
    work.archive("run", "-o", place)
    assert notes(place) == done == len(paths), f"{notes(place)} notes, {done} before"
    print(f"with new signatures nothing is done again ({time.monotonic() - began:.1f} s)")

    store.put(f"day one/{paths[0].name}", paths[1])
    plan()
    status = json.loads(work.archive("status", place, "--json", status=None))
    assert status["missing"] == 1, f"an object has changed: {status}"
    work.archive("run", "-o", place)
    assert notes(place) == done + 1, f"{notes(place)} notes, {done} before"
    print("an object that has changed is done again, no other")

    store.client.delete_object(Bucket=BUCKET, Key=f"day one/{paths[2].name}")
    said = work.archive("plan", urls, "-o", place, "--", *line)
    assert paths[2].name in said and "NOT FOUND" in said.upper(), said
    print("an object that is not there is told by its name")
    store.server.stop()


if __name__ == "__main__":
    check(Work(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))

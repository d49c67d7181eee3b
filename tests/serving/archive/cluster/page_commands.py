"""The commands of a page of docs/, as a reader copies them."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[4]
MODELS = ROOT / "pipelines/demo/models"
# What stands for the reader's own.
MODEL = ("model=M.onnx", f"model={MODELS}/scene_detector.onnx model-proc={MODELS}/scene_detector.json")


def page_commands(page, *replacements):
    """The indented lines of docs/PAGE.md, with these texts replaced, each of which has to be there."""
    lines = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line[4:] for line in lines if line.startswith("    "))
    for before, after in replacements:
        assert before in text, f"docs/{page}.md has no '{before}'"
        text = text.replace(before, after)
    return text


def page_folder(work, page):
    """A folder with two videos, in which the commands can be run: hetero is in the PATH."""
    folder = work.folder / page
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "videos").mkdir(parents=True)
    for name in ("video_000.mp4", "video_010.mp4"):
        (folder / "videos" / name).symlink_to(work.videos / name)
    os.environ["PATH"] = f"{work.build / 'tools'}:{os.environ['PATH']}"
    return folder


def run_commands(commands, folder, *before):
    """As a shell that stops at what fails; `before` is a command that runs others."""
    print(commands, flush=True)
    subprocess.run([*map(str, before), "bash", "-euc", commands], cwd=folder, check=True, timeout=300)


def assert_merged(folder):
    lines = (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50, f"all.jsonl has {len(lines)} lines"

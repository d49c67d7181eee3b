"""Types of the package as mypy sees them: typing_check.py ROOT CACHE. PYTHONPATH names the package; CACHE is mypy's. 77 where mypy is missing."""
from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing

import hetero._hetero
import stub_signatures
from numpy.typing import NDArray

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(hetero.__file__).parent
# A build without plugins has no hetero.gst.
EXTENSIONS = ["hetero._hetero", *(["hetero.gst._gst"] if (PACKAGE / "gst").is_dir() else [])]
PROGRAMS = ["typed_program.py", *(["typed_gst_program.py"] if len(EXTENSIONS) > 1 else [])]
# Libraries without types of their own leave Any behind, and what is installed differs from machine to machine.
LENIENT = ["--ignore-missing-imports", "--no-warn-return-any", "--allow-untyped-decorators", "--allow-any-generics", "--no-warn-unused-ignores"]


def mypy(*arguments: str | os.PathLike[str], tool: str = "mypy", package: pathlib.Path = PACKAGE) -> tuple[int, str]:
    """Exit status and output of mypy or mypy.stubtest, which see this package."""
    folder = os.fspath(package.parent)
    # The extension finds the library beside the package in the build, which a copy of the package is not.
    libraries = os.pathsep.join(filter(None, [os.fspath(PACKAGE.parents[1]), os.environ.get("LD_LIBRARY_PATH")]))
    paths = {"PYTHONPATH": folder, "MYPYPATH": folder, "LD_LIBRARY_PATH": libraries}
    cache = [] if tool == "mypy.stubtest" else ["--cache-dir", sys.argv[2]]
    done = subprocess.run([sys.executable, "-m", tool, *cache, *map(os.fspath, arguments)], env={**os.environ, **paths}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.strip()


def passes(what: str, status: int, output: str) -> None:
    print(f"{what}: {output}")
    assert status == 0, f"{what}: exit status {status}"


def check_signatures() -> None:
    compared, differing = stub_signatures.check(PACKAGE / "_hetero.pyi")
    print("\n".join([f"arguments and results of {compared} functions: {len(differing)} differences", *differing]))
    assert compared > 150 and not differing
    for name in EXTENSIONS[1:]:
        compared, differing = stub_signatures.check_own(importlib.import_module(name), PACKAGE / "gst/_gst.pyi")
        print("\n".join([f"arguments and results of {compared} methods of hetero.gst: {len(differing)} differences", *differing]))
        assert compared > 25 and not differing


def check_annotations() -> None:
    """They can be resolved at run time, too."""
    count = 0
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        if name == "hetero.gst" and len(EXTENSIONS) == 1:
            continue  # it says that it is not there
        for value in list(vars(importlib.import_module(name)).values()):
            if getattr(value, "__module__", "") != name:
                continue
            members = [value, *vars(value).values()] if inspect.isclass(value) else [value]
            for member in members:
                function = member.fget if isinstance(member, property) else member
                if inspect.isfunction(function) or inspect.isclass(function):
                    # hetero.gst knows numpy's types only while they are checked, as not every interpreter can import numpy.
                    typing.get_type_hints(function, localns={"NDArray": NDArray} if name.startswith("hetero.gst.") else None)
                    count += 1
    print(f"annotations: {count} resolved at run time")
    assert count > 200


def check_types(root: pathlib.Path) -> None:
    passes("package", *mypy("--strict", "-p", "hetero"))
    for program in PROGRAMS:
        check_program(HERE / program)
    examples = [path for folder in ("python", "python/gst") for path in sorted((root / "examples" / folder).glob("*.py"))]
    if examples:
        passes("examples", *mypy("--strict", *LENIENT, *examples))


def check_program(program: pathlib.Path) -> None:
    strict = ["--strict"] if program.name == "typed_program.py" else ["--strict", "--ignore-missing-imports"]
    passes(program.name, *mypy(*strict, program))
    # Without the marks every mistake is an error.
    text = program.read_text("utf-8")
    wrong = [number for number, line in enumerate(text.splitlines(), 1) if "# type: ignore[" in line]
    with tempfile.TemporaryDirectory() as folder:
        unmarked = pathlib.Path(folder, "unmarked.py")
        unmarked.write_text(text.replace("# type: ignore[", "# ["), "utf-8")
        _, output = mypy(*strict, unmarked)
    found = {int(number) for number in re.findall(r"unmarked\.py:(\d+): error:", output)}
    print(f"{program.name}: {len(found)} wrong types found of {len(wrong)}")
    assert found == set(wrong), output


def check_stub() -> None:
    allowed = ["--allowlist", HERE / "stubtest_allowlist.txt", "--ignore-unused-allowlist"]
    passes("stubtest", *mypy(*EXTENSIONS, *allowed, tool="mypy.stubtest"))
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder, "hetero")
        shutil.copytree(PACKAGE, broken, ignore=shutil.ignore_patterns("*.so.p", "__pycache__"))
        stub = broken / "_hetero.pyi"
        stub.write_text(stub.read_text("utf-8").replace("def wait_all(", "def wait_for_all("), "utf-8")
        status, output = mypy("hetero._hetero", "--concise", *allowed, tool="mypy.stubtest", package=broken)
    assert status != 0 and "wait_for_all is not present at runtime" in output and "wait_all is not present in stub" in output, output
    print("stubtest: a wrong stub is found")


def run_programs(root: pathlib.Path) -> None:
    model = root / "pipelines/demo/models/scene_detector.onnx"
    done = subprocess.run([sys.executable, HERE / "typed_program.py", model, model.with_suffix(".json")], text=True, stdout=subprocess.PIPE,
                          check=True)
    print(done.stdout.strip())
    assert "detections [1,1260,10]: (1, 1260, 10)" in done.stdout and "[0, 1, 2]" in done.stdout
    if len(PROGRAMS) == 1:
        print("this build has no hetero.gst: its types are not checked")
        return
    done = subprocess.run([sys.executable, HERE / "typed_gst_program.py"], text=True, stdout=subprocess.PIPE, check=True)
    print(done.stdout.strip())
    assert "half 3 at 0,0 80x96, 0.50 of the picture, bright, {'seen': 2}" in done.stdout


def main(root: pathlib.Path) -> None:
    check_annotations()
    check_signatures()
    run_programs(root)
    if importlib.util.find_spec("mypy") is None:
        print("mypy is not installed (python3-mypy): types are not checked")
        sys.exit(77)
    check_types(root)
    check_stub()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

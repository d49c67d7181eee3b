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

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(hetero.__file__).parent
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


def check_annotations() -> None:
    """They can be resolved at run time, too."""
    count = 0
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for value in list(vars(importlib.import_module(name)).values()):
            if getattr(value, "__module__", "") != name:
                continue
            members = [value, *vars(value).values()] if inspect.isclass(value) else [value]
            for member in members:
                function = member.fget if isinstance(member, property) else member
                if inspect.isfunction(function) or inspect.isclass(function):
                    typing.get_type_hints(function)
                    count += 1
    print(f"annotations: {count} resolved at run time")
    assert count > 200


def check_types(root: pathlib.Path) -> None:
    passes("package", *mypy("--strict", "-p", "hetero"))
    program = HERE / "typed_program.py"
    passes("a user's program", *mypy("--strict", program))
    # Without the marks every mistake is an error.
    text = program.read_text("utf-8")
    wrong = [number for number, line in enumerate(text.splitlines(), 1) if "# type: ignore[" in line]
    with tempfile.TemporaryDirectory() as folder:
        unmarked = pathlib.Path(folder, "unmarked.py")
        unmarked.write_text(text.replace("# type: ignore[", "# ["), "utf-8")
        _, output = mypy("--strict", unmarked)
    found = {int(number) for number in re.findall(r"unmarked\.py:(\d+): error:", output)}
    print(f"a user's program: {len(found)} wrong types found of {len(wrong)}")
    assert found == set(wrong), output
    examples = sorted((root / "examples/python").glob("*.py"))
    if examples:
        passes("examples", *mypy("--strict", *LENIENT, *examples))


def check_stub() -> None:
    allowed = ["--allowlist", HERE / "stubtest_allowlist.txt", "--ignore-unused-allowlist"]
    passes("stubtest", *mypy("hetero._hetero", *allowed, tool="mypy.stubtest"))
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder, "hetero")
        shutil.copytree(PACKAGE, broken, ignore=shutil.ignore_patterns("*.so.p", "__pycache__"))
        stub = broken / "_hetero.pyi"
        stub.write_text(stub.read_text("utf-8").replace("def wait_all(", "def wait_for_all("), "utf-8")
        status, output = mypy("hetero._hetero", "--concise", *allowed, tool="mypy.stubtest", package=broken)
    assert status != 0 and "wait_for_all is not present at runtime" in output and "wait_all is not present in stub" in output, output
    print("stubtest: a wrong stub is found")


def run_program(root: pathlib.Path) -> None:
    model = root / "pipelines/demo/models/scene_detector.onnx"
    done = subprocess.run([sys.executable, HERE / "typed_program.py", model, model.with_suffix(".json")], text=True, stdout=subprocess.PIPE,
                          check=True)
    print(done.stdout.strip())
    assert "detections [1,1260,10]: (1, 1260, 10)" in done.stdout and "[0, 1, 2]" in done.stdout


def main(root: pathlib.Path) -> None:
    check_annotations()
    check_signatures()
    run_program(root)
    if importlib.util.find_spec("mypy") is None:
        print("mypy is not installed (python3-mypy): types are not checked")
        sys.exit(77)
    check_types(root)
    check_stub()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

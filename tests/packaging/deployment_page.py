#!/usr/bin/env python3
"""The commands of docs/deployment.md do what the page says. Usage: deployment_page.py ROOT HETERO_LAUNCH [--write]

A block of YAML that begins with "# NAME.yaml" is that file. Every command "hetero launch ..." is run where these lie: with --dry-run,
when it has neither that nor --status; what follows "    $ hetero launch ..." on the page has to be its output. --write puts it there.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FILE = re.compile(r"^```yaml\n# (\S+\.yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    (?P<shown>\$ )?(?:[A-Z_]+=\S+ )?hetero launch (?P<words>.*)\n(?P<output>(?:    (?!\$ |hetero |[A-Z_]+=).*\n|\n(?=    ))*)",
                     re.MULTILINE)
NOT_RUNNING = 1


def run(program, folder, words):
    if "--status" not in words and "--dry-run" not in words:
        words = ["--dry-run", *words]
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def indented(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    page = root / "docs/deployment.md"
    text = page.read_text(encoding="utf-8")
    problems, commands, shown = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pipelines").symlink_to(root / "pipelines")
        for file, content in FILE.findall(text):
            (folder / file).write_text(content, encoding="utf-8")

        def check(match):
            nonlocal commands, shown
            commands += 1
            words = shlex.split(match["words"])
            result = run(program, folder, words)
            wanted = NOT_RUNNING if "--status" in words else 0
            if result.returncode != wanted:
                problems.append(f"hetero launch {match['words']}: status {result.returncode}, not {wanted}: {result.stderr.strip()}")
            if not match["shown"]:
                return match[0]
            shown += 1
            if match["output"] != indented(result.stdout) and "--write" not in sys.argv:
                problems.append(f"hetero launch {match['words']}: the page shows\n{match['output']}and it prints\n{indented(result.stdout)}")
            return match[0][:match.start("output") - match.start()] + indented(result.stdout)

        written = COMMAND.sub(check, text)
    if "--write" in sys.argv:
        page.write_text(written, encoding="utf-8")
    if shown < 3 or commands <= shown:
        problems.append(f"only {commands} commands, {shown} with output, were found on the page")
    print("\n".join(problems) or f"{commands} commands of the page, {shown} with their output")
    sys.exit(bool(problems))


main()

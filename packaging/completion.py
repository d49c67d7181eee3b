#!/usr/bin/env python3
"""Writes the completion of bash for a program whose --help has CLI11's form. Usage: completion.py PROGRAM.

Subcommands and options come from the texts; the values of options and other words are completed as files.
"""
import re
import subprocess
import sys

NAMES = re.compile(r"^  (-[^\s]+)")


def help_of(*command):
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def options(text):
    """Every name of every option: "-d,--device TEXT" has two."""
    return [name for line in text.splitlines() if (found := NAMES.match(line)) for name in found[1].split(",")]


def subcommands(text):
    inside = text.partition("\nSubcommands:\n")[2]
    return [line.split()[0] for line in inside.splitlines() if line.strip()]


def main():
    program = sys.argv[1]
    text = help_of(program)
    names = subcommands(text)
    if not names:
        sys.exit(f"{program} --help names no subcommands")
    print(f"# Completion of bash for {program}, made from its --help.")
    print(f"_{program}() {{")
    print('  local current=${COMP_WORDS[COMP_CWORD]} word words=')
    print('  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do')
    print("    case $word in")
    for name in names:
        print(f"      {name}) words='{' '.join(options(help_of(program, name)))}'; break ;;")
    print("    esac")
    print("  done")
    print(f"  [ -n \"$words\" ] || words='{' '.join(names + options(text))}'")
    print('  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")')
    print("}")
    print(f"complete -o bashdefault -o default -F _{program} {program}")


main()

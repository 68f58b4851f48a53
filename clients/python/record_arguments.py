"""Prints the arguments that a script declares, as JSON: `python record_arguments.py sim.py REPORT`.

The script is started, as by `python sim.py`, and ends where it parses its arguments: argparse, click or typer then describe what they
take to this file in place of parsing. So arguments that are added in a loop or by a helper are found too. What a script does before that
happens; the caller gives it an empty folder and a deadline. REPORT: `{"parser", "arguments": [{"name", "flag", "value", "whole"}], "notes"}`.
`flag`: null for a positional argument. `value`: null for a required one.
"""

import json
import os
import runpy
import sys

NUMBERS = (int, float)
REPORT = sys.argv[2] if len(sys.argv) > 2 else ""


def is_number(value):
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def number(value):
    """The number of a default, also of a number that is written as text; None for anything else."""
    if is_number(value):
        return value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    return None


def report(parser, arguments, notes=()):
    """Writes what was found and ends the script."""
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump({"parser": parser, "arguments": arguments, "notes": list(notes)}, file)
    os._exit(0)


def long_flag(flags):
    """The longest spelling of an option, such as `--speed-mps` of `-s` and `--speed-mps`."""
    return max(flags, key=lambda flag: (flag.startswith("--"), len(flag))) if flags else None


def of_argparse(parser):
    import argparse

    found, notes = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            notes.append("it has subcommands, whose arguments are not listed")
        if not isinstance(action, argparse._StoreAction) or action.nargs not in (None, "?"):
            continue
        default = parser._defaults.get(action.dest, action.default)
        value = number(default)
        asked = value is None and action.type in NUMBERS and (action.required or not action.option_strings)
        if asked or (value is not None and (action.type in NUMBERS or is_number(default))):
            whole = action.type is int
            found.append({"name": action.dest, "flag": long_flag(action.option_strings), "value": value, "whole": whole})
    report("argparse", found, notes)


def kind_of(parameter):
    """The name of the type, such as `float` or `integer range`. Typer without click has the annotation."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return parameter.type.name
    return {int: "integer", float: "float"}.get(getattr(described, "python_type", getattr(described, "annotation", None)), repr(described))


def of_click(command, name):
    found, notes = [], []
    if getattr(command, "commands", None):
        notes.append("it has subcommands, whose arguments are not listed")
    for parameter in command.params:
        kind = kind_of(parameter)
        if not kind.startswith(("integer", "float")) or parameter.nargs != 1 or getattr(parameter, "multiple", False):
            continue
        default = parameter.default() if callable(parameter.default) else parameter.default
        value = number(default)
        flag = long_flag([one for one in parameter.opts if one.startswith("-")])
        if value is None and flag is not None and not parameter.required:
            continue
        found.append({"name": parameter.name, "flag": flag, "value": value, "whole": kind.startswith("integer")})
    report(name, found, notes)


def listen(source):
    """Makes the parsers describe themselves. A library that is not there is not used by the script either."""
    import argparse

    for method in ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"):
        setattr(argparse.ArgumentParser, method, lambda parser, *_, **__: of_argparse(parser))
    for module, names in (("click", ("Command",)), ("typer.core", ("TyperCommand", "TyperGroup"))):
        if module.split(".")[0] not in source:
            continue
        try:
            library = __import__(module, fromlist=["*"])
        except ImportError:
            continue
        for name in names:
            try:
                command = getattr(library, name)
            except AttributeError:
                continue
            library_name = module.split(".")[0]
            command.main = lambda self, *_, _name=library_name, **__: of_click(self, _name)


def main():
    script = os.path.abspath(sys.argv[1])
    with open(script, "rb") as file:
        source = file.read().decode("utf-8-sig")
    sys.argv, sys.path[0] = [script], os.path.dirname(script)
    listen(source)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()

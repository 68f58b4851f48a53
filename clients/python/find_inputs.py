"""Prints what the source of a simulation script shows of its inputs, as JSON, without executing it: `python find_inputs.py sim.py [FUNCTION]`.

`defaults`: of simbatch.run. `parsers`: the libraries by which it reads arguments; `arguments`: those that are written out for argparse.
`functions`: their parameters, `function`: the function of a run. `constants`: numbers that are assigned at the top of the module to
names in capitals, with their places. An input is {"name", "value", "whole"}; `value` is null where the source has none.
"""

import ast
import json
import sys


def number(node):
    """The value of a literal number, with a sign or without; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def called(node):
    """The last name of the function that a call calls."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def defaults_of(tree):
    """The mapping in `simbatch.run(defaults={...})`, also when it is a constant of the module."""
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and called(node) in ("run", "open_run")):
            continue
        values = [keyword.value for keyword in node.keywords if keyword.arg == "defaults"] or node.args[:1]
        for value in values:
            value = assigned.get(value.id, value) if isinstance(value, ast.Name) else value
            if isinstance(value, ast.Dict):
                for key, item in zip(value.keys, value.values):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str) and number(item) is not None:
                        yield key.value, number(item)


def arguments_of(tree):
    """The options and arguments of argparse that have a number as their default."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and called(node) == "add_argument"):
            continue
        names = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        value = number(keywords["default"]) if "default" in keywords else None
        if not names or value is None:
            continue
        destination = keywords.get("dest")
        long_names = [name for name in names if name.startswith("--")]
        name = destination.value if isinstance(destination, ast.Constant) else (long_names or names)[0].lstrip("-").replace("-", "_")
        kind = keywords.get("type")
        yield {"name": name, "value": value, "whole": isinstance(kind, ast.Name) and kind.id == "int"}


def constants_of(tree):
    """The numbers that are assigned to names in capitals at the top, with their nodes."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper() and node.value is not None and number(node.value) is not None:
                yield target.id, node.value


def parameters_of(function):
    """The parameters of a function that may be numbers: with a number as their default, or with none at all."""
    given = function.args
    named = given.posonlyargs + given.args
    pairs = list(zip(named, [None] * (len(named) - len(given.defaults)) + list(given.defaults)))
    pairs += list(zip(given.kwonlyargs, given.kw_defaults))
    for argument, default in pairs:
        value = None if default is None else number(default)
        if default is None or value is not None:
            whole = isinstance(argument.annotation, ast.Name) and argument.annotation.id == "int"
            yield {"name": argument.arg, "value": value, "whole": whole}


def functions_of(tree):
    """The functions of the module that have a parameter with a number as its default, by name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not node.args.posonlyargs:
            found = list(parameters_of(node))
            if found:
                yield node.name, found


# A function that is called like one of these is the simulation; else the last one of those with a number as a default.
NAMES = ("simulate", "simulation", "run", "model", "main")


def chosen(functions, name):
    """The name of the function that computes a run; None when there is none. `name`: the choice of the user."""
    if name:
        return name if name in functions else None
    found = [one for one, inputs in functions.items() if any(it["value"] is not None for it in inputs)]
    return next((one for one in NAMES if one in found), found[-1] if found else None)


def place(source, node):
    """Line and column of a number in the source, from 1 and in characters, and its text."""
    line = source.splitlines()[node.lineno - 1]
    column = len(line.encode()[: node.col_offset].decode()) + 1
    return [node.lineno, column, ast.get_source_segment(source, node)]


def find(source, function=None):
    """What a module's source shows of its inputs. Raises SyntaxError."""
    tree = ast.parse(source)
    modules = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    functions = dict(functions_of(tree))
    return {
        "runs_under_simbatch": "simbatch" in modules or "SVC_RUN_CONFIG" in source,
        "defaults": [{"name": name, "value": value, "whole": False} for name, value in dict(defaults_of(tree)).items()],
        "parsers": sorted(modules & {"argparse", "click", "typer"}),
        "arguments": list({it["name"]: it for it in arguments_of(tree)}.values()),
        "functions": functions,
        "function": chosen(functions, function),
        "constants": [
            {"name": name, "value": number(node), "whole": False, "place": place(source, node)}
            for name, node in dict(constants_of(tree)).items()
        ],
    }


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        try:
            print(json.dumps(find(file.read().decode("utf-8-sig"), *sys.argv[2:3])))
        except SyntaxError as error:
            sys.exit(f"{sys.argv[1]}:{error.lineno}: {error.msg}")

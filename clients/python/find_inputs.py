"""Prints the inputs of a simulation script as JSON, without executing it: `python find_inputs.py sim.py`.

`{"inputs": [{"name", "value", "origin"}], "runs_under_simbatch": bool}`. `origin`: `defaults` (of simbatch.run), `argparse` or
`constant`; only the first of these that has any. A constant is a number that is assigned at the top of the module to a name in
capitals.
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
        yield name, value


def constants_of(tree):
    """The numbers that are assigned to names in capitals at the top."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper() and node.value is not None and number(node.value) is not None:
                yield target.id, number(node.value)


def find(source):
    """The inputs of a module's source. Raises SyntaxError."""
    tree = ast.parse(source)
    modules = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    text = "SVC_RUN_CONFIG" in source
    for origin, reader in (("defaults", defaults_of), ("argparse", arguments_of), ("constant", constants_of)):
        found = dict(reader(tree)) if origin != "defaults" or "simbatch" in modules else {}
        if found:
            inputs = [{"name": name, "value": value, "origin": origin} for name, value in found.items()]
            return {"inputs": inputs, "runs_under_simbatch": "simbatch" in modules or text}
    return {"inputs": [], "runs_under_simbatch": "simbatch" in modules or text}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        try:
            print(json.dumps(find(file.read().decode("utf-8-sig"))))
        except SyntaxError as error:
            sys.exit(f"{sys.argv[1]}:{error.lineno}: {error.msg}")

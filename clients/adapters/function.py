import dataclasses
import importlib.util
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
spec = importlib.util.spec_from_file_location("simulation", os.path.join(HERE, SCRIPT))
module = importlib.util.module_from_spec(spec)
sys.modules["simulation"] = module
spec.loader.exec_module(module)


def plain(value):
    """A number, text, or None for what JSON does not have; numbers of numpy too."""
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str)) else None


def outputs_of(returned):
    """The outputs in what the function returns: a mapping, a named tuple, a dataclass, a tuple or a number."""
    if dataclasses.is_dataclass(returned):
        returned = {field.name: getattr(returned, field.name) for field in dataclasses.fields(returned)}
    if hasattr(returned, "_asdict"):
        returned = returned._asdict()
    if isinstance(returned, (tuple, list)):
        returned = {f"result_{index}": value for index, value in enumerate(returned)}
    if not hasattr(returned, "items"):
        returned = {"result": returned}
    found = {str(name): plain(value) for name, value in returned.items()}
    return {name: value for name, value in found.items() if value is not None or isinstance(returned[name], float)}


if __name__ == "__main__":
    with open(os.environ["SVC_RUN_CONFIG"], encoding="utf-8") as file:
        parameters = json.load(file)["parameters"]
    for name in WHOLE:
        if name in parameters:
            if parameters[name] != int(parameters[name]):
                sys.exit(f"{name} is {parameters[name]} and must be a whole number: vary it by whole ones")
            parameters[name] = int(parameters[name])
    path = os.path.join(os.environ["SVC_OUTPUT_DIR"], "metadata.json")
    os.chdir(os.environ["SVC_OUTPUT_DIR"])
    outputs = outputs_of(getattr(module, FUNCTION)(**parameters))
    if outputs or not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(outputs, file)

"""Prints what the model description of an FMU (FMI 2 and 3) has, as JSON, without executing it: `python read_fmu.py model.fmu`.

`{"inputs": [{"name", "value", "units", "whole"}], "outputs": [{"name", "units"}], "stop_time", "fmi"}`. Inputs: parameters and inputs with
a start value that is a number. `stop_time` is null where the FMU has no default experiment.
"""

import json
import sys
import zipfile
from xml.etree import ElementTree

LARGEST = 64 * 1024 * 1024
WHOLE = ("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")
REAL = ("Real", "Float32", "Float64")


def description_of(path):
    """The text of modelDescription.xml, up to 64 MiB."""
    with zipfile.ZipFile(path) as archive:
        try:
            opened = archive.open("modelDescription.xml")
        except KeyError:
            sys.exit("it has no modelDescription.xml")
        with opened:
            text = opened.read(LARGEST + 1)
    if len(text) > LARGEST:
        sys.exit("its modelDescription.xml is larger than 64 MiB")
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        sys.exit("its modelDescription.xml declares entities")
    return text


def read(path):
    root = ElementTree.fromstring(description_of(path))
    units = {
        it.get("name"): (it[0].get("unit") if len(it) else it.get("unit"))
        for it in root.iterfind("TypeDefinitions/*")
    }
    inputs, outputs = [], []
    for variable in root.iterfind("ModelVariables/*"):
        # FMI 2 has the type as a child, FMI 3 as the name of the element.
        typed = variable[0] if variable.tag == "ScalarVariable" and len(variable) else variable
        if typed.tag not in WHOLE + REAL or variable.find("Dimension") is not None:
            continue
        unit = typed.get("unit") or units.get(typed.get("declaredType")) or ""
        causality, start = variable.get("causality", "local"), typed.get("start")
        if causality in ("parameter", "input") and start is not None:
            whole = typed.tag in WHOLE
            inputs.append({"name": variable.get("name"), "value": int(start) if whole else float(start), "units": unit, "whole": whole})
        elif causality == "output":
            outputs.append({"name": variable.get("name"), "units": unit})
    experiment = root.find("DefaultExperiment")
    stop = None if experiment is None or experiment.get("stopTime") is None else float(experiment.get("stopTime"))
    return {"inputs": inputs, "outputs": outputs, "stop_time": stop, "fmi": root.get("fmiVersion")}


if __name__ == "__main__":
    try:
        print(json.dumps(read(sys.argv[1])))
    except (zipfile.BadZipFile, ElementTree.ParseError, ValueError) as error:
        sys.exit(f"it is not an FMU: {error}")

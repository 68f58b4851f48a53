"""The key of a run, written from docs/reuse.md alone. Run it in this folder: it writes vectors.json."""

import hashlib
import json
import math
import struct


def text(value):
    raw = value.encode("utf-8")
    return struct.pack("<I", len(raw)) + raw


def ordered(names):
    return sorted(names, key=lambda it: it.encode("utf-8"))


def numbers(values):
    return struct.pack(f"<I{len(values)}d", len(values), *values)


def times(at):
    if "points" in at:
        return at["points"]
    count = math.floor((at["to"] - at["from"]) / at["step"] + 1e-9) + 1
    return [min(at["from"] + i * at["step"], at["to"]) for i in range(count)]


def history_parts(histories):
    parts = [struct.pack("<I", len(histories))]
    for one in histories:
        parts += [text(one.get("name", one["variable"])), text(one["variable"])]
        parts += [text(one.get("interpolation", "linear")), text(one.get("origin", "")), numbers(times(one["at"]))]
    return parts


def derived_parts(derived):
    parts = [struct.pack("<I", len(derived))]
    for one in derived:
        parts += [text(one.get(name, "")) for name in ("name", "take", "telemetry", "while", "at", "expression")]
        parts.append(numbers(one.get("band", [])))
    return parts


def run_key(run):
    rules = run["conditions"] if run["enabled"] else []
    histories, derived = run.get("histories", []), run.get("derived", [])
    version = 2 if histories or derived else 1
    parts = [b"simbatch-run-key/%d\x00" % version, text(run["name"]), text(run["version"]), struct.pack("<d", run["duration_minutes"])]
    parts.append(struct.pack("<I", len(run["environment"])))
    for name in ordered(run["environment"]):
        parts += [text(name), text(run["environment"][name])]
    parts.append(struct.pack("<I", len(rules)))
    for rule in rules:
        parts += [text(rule["variable"]), text(rule["condition"]), text(rule["description"])]
    parts.append(struct.pack("<I", 1 if rules and run["shadow"] else 0))
    parts.append(struct.pack("<d", run["sampling_rate_hz"]))
    parts.append(struct.pack("<I", len(set(run["variables"]))))
    for name in ordered(set(run["variables"])):
        parts.append(text(name))
    if version == 2:
        parts += history_parts(histories) + derived_parts(derived)
    parts += [bytes.fromhex(run["code"]), text(run["image"])]
    parts.append(struct.pack("<I", len(run["parameters"])))
    for name in ordered(run["parameters"]):
        parts += [text(name), bytes.fromhex(run["parameters"][name])]
    parts += [struct.pack("<d", run["random_seed"]), struct.pack("<d", run["draw"])]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def double(value):
    return struct.pack("<d", value).hex()


RULE = {"variable": "altitude", "condition": "< 0", "description": "below the ground"}
HISTORY = {"variable": "altitude", "at": {"from": 0, "to": 0.3, "step": 0.1}}
PLAIN = {
    "name": "rocket",
    "version": "1.0",
    "duration_minutes": 1,
    "environment": {},
    "enabled": False,
    "conditions": [],
    "shadow": False,
    "sampling_rate_hz": 10,
    "variables": [],
    "code": "ab" * 32,
    "image": "",
    "parameters": {"mass": double(100.25), "wind": double(-0.1)},
    "random_seed": 281474976710655,
    "draw": -1,
}
CHANGES = [
    {},
    {"name": "rockets"},
    {"version": ""},
    {"duration_minutes": 2147483647},
    {"environment": {"B": "2", "A": "1=2"}},
    {"environment": {"\U0001d400": "x", "\uff21": "\u00e9"}},
    {"conditions": [RULE]},
    {"enabled": True, "conditions": [RULE]},
    {"enabled": True, "conditions": [RULE], "shadow": True},
    {"enabled": True, "conditions": [RULE, {**RULE, "condition": "> 9"}]},
    {"enabled": True, "conditions": [], "shadow": True},
    {"sampling_rate_hz": 0.1},
    {"variables": ["b", "a", "b"]},
    {"code": "00" * 32},
    {"image": "sha256:" + "cd" * 32},
    {"parameters": {}},
    {"parameters": {"mass": double(0.0)}},
    {"parameters": {"mass": double(-0.0)}},
    {"parameters": {"mass": double(5e-324)}},
    {"parameters": {"ma\u0308ss": double(1e308), "\U0001f680": double(1.0), "\uff21": double(2.0)}},
    {"histories": [HISTORY]},
    {"histories": [{**HISTORY, "name": "height"}]},
    {"histories": [{**HISTORY, "at": {"points": [0, 0.1, 0.3]}}]},
    {"histories": [{**HISTORY, "interpolation": "previous"}, {"variable": "wind", "at": {"points": [-1.5]}, "origin": "end"}]},
    {"derived": [{"name": "peak", "take": "max", "telemetry": "altitude"}]},
    {"derived": [{"name": "peak", "take": "max", "telemetry": "altitude", "while": "wind > 3"}]},
    {"derived": [{"name": "settled_s", "take": "last_time_outside", "telemetry": "altitude", "band": [-1, 1]}]},
    {
        "histories": [HISTORY],
        "derived": [{"name": "hits", "take": "count", "at": "each(wind > 3)"}, {"name": "share", "expression": "outputs.hits / 2"}],
    },
    {"random_seed": 0},
    {"draw": 0},
]

if __name__ == "__main__":
    runs = [{**PLAIN, **change} for change in CHANGES]
    vectors = [{**run, "key": run_key(run)} for run in runs]
    with open("vectors.json", "w", encoding="utf-8") as file:
        json.dump(vectors, file, indent=1, sort_keys=True)
        file.write("\n")

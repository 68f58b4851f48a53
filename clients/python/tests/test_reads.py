"""The note of the parameters that a simulation looks up."""

import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import simbatch
from simbatch import _parameters, _run

GIVEN = {"cd": 0.5, "mass_kg": 42.5, "__proto__": 1.0}

LOOK_UPS = {
    "nothing": ("None", [], []),
    "an item": ("p['cd']", ["cd"], []),
    "get": ("p.get('mass_kg')", ["mass_kg"], []),
    "a name that is missing": ("p.get('cd_scale', 1)", [], ["cd_scale"]),
    "whether a missing name is there": ("'cd_scale' in p", [], ["cd_scale"]),
    "whether a name is there, which is not its value": ("'cd' in p", [], []),
    "printing": ("repr(p), str(p), f'{p}'", [], []),
    "the number of parameters": ("len(p), bool(p)", [], []),
    "an item that is removed": ("p.pop('cd')", ["cd"], []),
    "setdefault": ("p.setdefault('cd', 2)", ["cd"], []),
    "an item that is replaced": ("p.update(cd=2)", [], []),
    "strange names": ("p['__proto__'], p.get('constructor')", ["__proto__"], ["constructor"]),
    "a format": ("'%(cd)s' % p", ["cd"], []),
    "a name of an expression": ("eval('cd', {}, p)", ["cd"], []),
    "operator.itemgetter": ("__import__('operator').itemgetter('cd')(p)", ["cd"], []),
    "each": ("p['cd'], p['mass_kg'], p['__proto__']", "all", None),
    "iteration": ("[name for name in p]", "all", None),
    "keys": ("p.keys()", "all", None),
    "values": ("p.values()", "all", None),
    "items": ("p.items()", "all", None),
    "reversed": ("list(reversed(p))", "all", None),
    "dict": ("dict(p)", "all", None),
    "unpacking": ("{**p}", "all", None),
    "keywords": ("(lambda **named: named)(**p)", "all", None),
    "copy": ("p.copy()", "all", None),
    "copy.copy": ("copy.copy(p)", "all", None),
    "copy.deepcopy": ("copy.deepcopy(p)", "all", None),
    "pickle": ("pickle.dumps(p)", "all", None),
    "json": ("json.dumps(p)", "all", None),
    "json with indent": ("json.dumps(p, indent=1)", "all", None),
    "union": ("p | {}", "all", None),
    "union with another": ("{} | p", "all", None),
    "update of another": ("{}.update(p)", "all", None),
    "comparison": ("p == {}", "all", None),
    "the names of a program": ("eval('cd', p)", None, None),
}


@unittest.skipUnless(os.name == "posix", "file systems without access times")
class Reading(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.directory = Path(kept.name)
        self.addCleanup(setattr, _run, "_current", None)
        _run._current = None
        self.path = self.directory / "run.json"

    def prepare(self, parameters=GIVEN):
        self.path.write_text(json.dumps({"run_id": 0, "parameters": parameters, "metadata": {}}), encoding="utf-8")
        os.utime(self.path, ns=(_parameters.UNREAD_NS, self.path.stat().st_mtime_ns))
        return {**os.environ, "SVC_RUN_CONFIG": str(self.path), "SVC_OUTPUT_DIR": str(self.directory)}

    def open(self, defaults=None, parameters=GIVEN):
        with mock.patch.dict(os.environ, self.prepare(parameters)):
            return simbatch.run(defaults)

    def execute(self, program):
        """The report of a program that is executed as a process; None where it has left none."""
        subprocess.run([sys.executable, "-c", "import os, simbatch\n" + program], env=self.prepare(), check=True, cwd=Path(__file__).parents[1])
        path = self.directory / _parameters.READS_FILE
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def test_each_way_to_look_up(self):
        for title, (look, read, asked) in LOOK_UPS.items():
            with self.subTest(title):
                _run._current = None
                run = self.open()
                self.assertEqual(run._reads._mark_ns, self.path.stat().st_atime_ns)
                eval(look, {"copy": copy, "json": json, "pickle": pickle, "p": run.parameters})
                expected = None if read is None else {"read": read} if read == "all" else {"read": read, "asked": asked}
                self.assertEqual(run._reads.report(), expected)

    def test_the_values_are_those_of_a_dictionary_before_and_after_all_were_looked_up(self):
        for look in (lambda p: None, dict):
            _run._current = None
            p = self.open().parameters
            look(p)
            self.assertEqual((p["cd"], p.get("mass_kg"), p.get("x", 3), len(p), "cd" in p, "x" in p), (0.5, 42.5, 3, 3, True, False))
            self.assertEqual((dict(p), {**p}, p | {"a": 1.0}, {"a": 1.0} | p, p.copy()), (GIVEN, GIVEN, {**GIVEN, "a": 1.0}, {"a": 1.0, **GIVEN}, GIVEN))
            self.assertEqual((pickle.loads(pickle.dumps(p)), copy.deepcopy(p), json.loads(json.dumps(p))), (GIVEN, GIVEN, GIVEN))
            self.assertIsInstance(pickle.loads(pickle.dumps(p)), simbatch.Parameters)
            with self.assertRaisesRegex(simbatch.RunConfigError, "did you mean 'mass_kg'"):
                p["mass_k"]

    def test_a_default_of_the_simulation_is_a_name_that_the_study_does_not_have(self):
        run = self.open({**GIVEN, "thrust": 1.0})
        self.assertEqual((run.parameters["thrust"], run.parameters["cd"]), (1.0, 0.5))
        self.assertEqual(run._reads.report(), {"read": ["cd"], "asked": ["thrust"]})

    def test_names_that_are_asked_for_are_few_and_short(self):
        run = self.open()
        for name in [None, 7, "x" * 257, *map(str, range(40))]:
            run.parameters.get(name)
        self.assertEqual(run._reads.report()["asked"], [str(it) for it in range(16)])

    def test_a_program_leaves_its_look_ups_when_it_ends(self):
        self.assertEqual(self.execute("simbatch.run().parameters['cd']"), {"read": ["cd"], "asked": []})

    def test_nothing_is_known_of_a_program_that_reads_the_file_itself(self):
        read = "open(os.environ['SVC_RUN_CONFIG']).read()\n"
        for program in (read + "simbatch.run()", "simbatch.run()\n" + read):
            with self.subTest(program):
                self.assertIsNone(self.execute(program))

    def test_nothing_is_known_where_a_child_reads_the_file_or_has_a_copy_of_the_parameters(self):
        for start in (
            "import subprocess; subprocess.run(['cat', os.environ['SVC_RUN_CONFIG']], stdout=-3)",
            "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import simbatch; simbatch.run().parameters[\"cd\"]'], check=True)",
            "os.waitpid(os.fork() or os._exit(0), 0)",
        ):
            with self.subTest(start):
                self.assertIsNone(self.execute("run = simbatch.run()\n" + start))

    def test_a_child_that_reads_nothing_changes_nothing(self):
        program = "import subprocess; p = simbatch.run().parameters; subprocess.run(['true', str(p['cd'])], check=True)"
        self.assertEqual(self.execute(program), {"read": ["cd"], "asked": []})

    def test_nothing_is_known_where_the_file_system_keeps_no_access_times(self):
        with mock.patch.dict(_parameters._keeps_access_times, {self.directory.stat().st_dev: False}):
            run = self.open()
        self.assertIsNone(run._reads)
        self.assertIs(type(run.parameters), simbatch.Parameters)

    def test_a_run_configuration_without_the_mark_of_a_runner_shows_nothing(self):
        environment = self.prepare()
        os.utime(self.path)
        with mock.patch.dict(os.environ, environment):
            self.assertIsNone(simbatch.run()._reads)


if __name__ == "__main__":
    unittest.main()

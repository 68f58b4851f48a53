"""The client without a server: configuration, results, and a file that was left half-written."""

import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import simbatch
from simbatch import _checkpoint, _run


class Here(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.directory = Path(kept.name)
        self.addCleanup(setattr, _run, "_current", None)
        _run._current = None

    def open(self, config, defaults=None, **environment):
        path = self.directory / "run.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
        given = {"SVC_RUN_CONFIG": str(path), "SVC_OUTPUT_DIR": str(self.directory / "out" / "deep"), **environment}
        with mock.patch.dict(os.environ, given, clear=True):
            return simbatch.run(defaults)

    def written(self, run):
        return json.loads((run.output_dir / "metadata.json").read_text(encoding="utf-8"))


CONFIG = {"run_id": 3, "parameters": {"cd": 1, "mass_kg": 42.5}, "metadata": {"seed": 9223372036854775807}}


class Continuing(Here):
    def test_a_state_is_kept_as_a_whole_and_read_by_the_next_attempt(self):
        directory = self.directory / "kept" / "attempt-1"
        run = self.open(CONFIG)
        with mock.patch.dict(os.environ, {"SVC_CHECKPOINT_DIR": str(directory), "SVC_ATTEMPT": "2"}):
            checkpoint = run.checkpoint()
            self.assertEqual(run.attempt, 2)
            self.assertIs(run.checkpoint(), checkpoint)
        self.assertIsNone(checkpoint.load())
        for step in range(3):
            checkpoint.save({"step": step, "values": [1.5, None]})
        self.assertEqual(checkpoint.load(), {"step": 2, "values": [1.5, None]})
        self.assertEqual(os.listdir(directory), ["checkpoint.pickle"])
        self.assertFalse(checkpoint.due(60))
        self.assertTrue(checkpoint.due(0))

    def test_a_damaged_state_begins_the_run_anew(self):
        checkpoint = _checkpoint.Checkpoint(self.directory)
        path = self.directory / "checkpoint.pickle"
        checkpoint.save("a state")
        whole = path.read_bytes()
        for damaged in (whole[:-1], whole[:20], b"", whole[:-3] + b"xyz", b"other" + whole):
            path.write_bytes(damaged)
            with mock.patch("sys.stderr", io.StringIO()) as said:
                self.assertIsNone(checkpoint.load())
            self.assertIn("is damaged; the run begins anew", said.getvalue())

    def test_nothing_is_kept_without_a_directory(self):
        run = self.open(CONFIG)
        with mock.patch.dict(os.environ, {}, clear=True):
            checkpoint = run.checkpoint()
            self.assertEqual(run.attempt, 1)
        checkpoint.save("a state")
        self.assertIsNone(checkpoint.load())
        self.assertIsNone(checkpoint.directory)


class Reading(Here):
    def test_everything_of_the_run(self):
        run = self.open(CONFIG)
        self.assertEqual((run.run_id, dict(run.parameters)), (3, {"cd": 1.0, "mass_kg": 42.5}))
        self.assertIsInstance(run.parameters["cd"], float)
        self.assertEqual(run.metadata["seed"], 9223372036854775807)
        self.assertTrue(run.output_dir.is_dir())

    def test_a_second_call_is_the_same_run(self):
        self.assertIs(self.open(CONFIG), simbatch.run())

    def test_random_seed_differs_between_runs_and_studies(self):
        seeds = set()
        for run_id in range(5):
            for seed in (None, 1, 2):
                _run._current = None
                seeds.add(self.open({"run_id": run_id, "parameters": {}, "metadata": {"seed": seed}}).random_seed)
        self.assertEqual(len(seeds), 15)
        self.assertLess(max(seeds), 2**48)

    def test_random_seed_follows_the_run_not_the_draw(self):
        seeds = []
        for run_id, metadata in ((3, {}), (8, {"draw": 3}), (3, {"draw": 8})):
            _run._current = None
            seeds.append(self.open({"run_id": run_id, "parameters": {}, "metadata": {"seed": 1, **metadata}}).random_seed)
        self.assertEqual(seeds[0], seeds[2])
        self.assertNotEqual(seeds[0], seeds[1])

    def test_faults(self):
        for config, words in [
            ("", "cannot be read"),
            ("[]", "JSON object"),
            ({"run_id": -1, "parameters": {}}, "run_id"),
            ({"run_id": True, "parameters": {}}, "run_id"),
            ({"run_id": 0, "parameters": []}, "parameters"),
            ({"run_id": 0, "parameters": {"cd": None}}, "parameter cd"),
            ({"run_id": 0, "parameters": {}, "metadata": 1}, "metadata"),
        ]:
            with self.subTest(config=config), self.assertRaisesRegex(simbatch.RunConfigError, words):
                self.open(config)

    def test_a_misspelt_name_gets_a_hint(self):
        with self.assertRaisesRegex(simbatch.RunConfigError, "did you mean 'mass_kg'.*it has: cd, mass_kg"):
            self.open(CONFIG).parameters["mass"]
        with self.assertRaisesRegex(simbatch.RunConfigError, "'mass_kg', which.*did you mean 'mass'"):
            _run._current = None
            self.open(CONFIG, {"cd": 1, "mass": 2})

    def test_get_and_in_stay_as_of_any_mapping(self):
        run = self.open(CONFIG)
        self.assertNotIn("area", run.parameters)
        self.assertEqual(run.parameters.get("area", 2.0), 2.0)


class Results(Here):
    def test_merge_and_replace(self):
        run = self.open(CONFIG)
        run.result(a=1, nested={"x": [1, float("inf")]})
        run.result({"tank.1": -0.5}, a=2)
        self.assertEqual(self.written(run), {"a": 2, "nested": {"x": [1, None]}, "tank.1": -0.5})
        self.assertEqual([path.name for path in run.output_dir.iterdir()], ["metadata.json"])

    def test_the_file_is_as_the_module_json_writes_it(self):
        scalars = {"float": -0.0, "small": 5e-324, "large": 1e308, "int": -(10**30), "yes": True, "no": False, "none": None, 'é "\n': "\ud800 é\\\n"}
        for outputs in ({}, scalars, {**scalars, "list": [1.5, None]}, {"nested": {"a": 1}}):
            self.assertEqual(_run._text(outputs), json.dumps(outputs, indent=2), outputs)
        for value in (float("nan"), float("inf"), float("-inf")):
            with self.assertRaisesRegex(ValueError, "not JSON compliant"):
                _run._text({"a": 1.0, "b": value})

    def test_adds_to_what_the_simulation_wrote_itself(self):
        run = self.open(CONFIG)
        (run.output_dir / "metadata.json").write_text('{"own": 1}', encoding="utf-8")
        run.result(a=1)
        self.assertEqual(self.written(run), {"own": 1, "a": 1})

    def test_numpy_likes(self):
        class Scalar:
            def tolist(self):
                return 2.5

        class Array:
            def tolist(self):
                return [1.0, float("nan")]

        run = self.open(CONFIG)
        run.result(scalar=Scalar(), array=Array(), path=Path("a/b"))
        self.assertEqual(self.written(run), {"scalar": 2.5, "array": [1.0, None], "path": "a/b"})

    def test_what_json_cannot_hold_names_its_place_and_leaves_the_file(self):
        run = self.open(CONFIG)
        run.result(a=1)
        with self.assertRaisesRegex(TypeError, r"deep\.list\[1\].*not object"):
            run.result(deep={"list": [1, object()]})
        run.result(b=2)
        self.assertEqual(self.written(run), {"a": 1, "b": 2})


class Histories(Here):
    def test_values_are_numbers_or_missing_beside_the_outputs(self):
        run = self.open(CONFIG)
        run.result(a=1)
        run.history("z", [1, None, float("nan"), 2.5])
        run.history("nz g", (True + 1, -0.0))
        run.result(b=2)
        histories = {"z": [1.0, None, None, 2.5], "nz g": [2.0, -0.0]}
        self.assertEqual(self.written(run), {"a": 1, "histories": histories, "b": 2})
        run.history("z", [])
        self.assertEqual(self.written(run)["histories"], {**histories, "z": []})

    def test_arrays(self):
        class Array:
            def tolist(self):
                return [1.5, float("nan")]

        run = self.open(CONFIG)
        run.history("z", Array())
        self.assertEqual(self.written(run), {"histories": {"z": [1.5, None]}})

    def test_other_values_name_their_place_and_leave_the_file(self):
        run = self.open(CONFIG)
        run.history("z", [1])
        faults = (
            ([1, "2"], TypeError, r"z\[1\]: .* not str"),
            ([[1]], TypeError, r"z\[0\]: .* not list"),
            ([True], TypeError, r"z\[0\]: .* not bool"),
            ([0, float("inf")], ValueError, r"z\[1\]: .* finite"),
            ("12", TypeError, "list of numbers, not str"),
            ({1: 2}, TypeError, "list of numbers, not dict"),
        )
        for values, error, message in faults:
            with self.subTest(values=values), self.assertRaisesRegex(error, message):
                run.history("z", values)
        with self.assertRaisesRegex(TypeError, "name of a history is a text, not int"):
            run.history(3, [1])
        self.assertEqual(self.written(run), {"histories": {"z": [1.0]}})


class Telemetry(Here):
    def test_without_data_and_without_server(self):
        with self.open(CONFIG) as run:
            run.telemetry(t=1, a=1)
            run.telemetry({"b": 2})
        self.assertEqual(run.dropped_samples, 0)


if __name__ == "__main__":
    unittest.main()

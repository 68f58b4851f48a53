"""The parts of a study beside its inputs: requirements, early termination, telemetry, policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union


def given(**members: Any) -> Dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True)
class Saltelli:
    """The design for Sobol' indices: `method=Saltelli(base=1024)`. See `Batch.indices`.

    base: number of blocks, best a power of two. A block has d + 2 runs for d inputs that vary, so the study has base * (d + 2)
    runs; with `second_order` 2 * d + 2.
    """

    base: int
    second_order: bool = False

    def runs(self, inputs: int) -> int:
        """The number of runs for so many inputs that vary."""
        if isinstance(self.base, bool) or not isinstance(self.base, int) or self.base < 1:
            raise ValueError(f"base of Saltelli must be an integer from 1, not {self.base!r}")
        return self.base * ((2 if self.second_order else 1) * inputs + 2)

    def member(self) -> Dict[str, Any]:
        """The design as a submission has it."""
        return {"indices": "total", "second_order": self.second_order}


def _cells(rule: Optional[str], weights: Optional[Mapping[str, Mapping[str, float]]]) -> Dict[str, Any]:
    """The members of a requirement about the cells of scenarios."""
    plain = None if weights is None else {axis: dict(levels) for axis, levels in weights.items()}
    return {"in": rule, "weights": plain}


@dataclass(frozen=True)
class Requirement:
    """A requirement on one output: a run passes when `condition` holds for it.

    `condition`: an operator (`<`, `<=`, `>`, `>=`, `==`, `!=`) and a number, as `"< 50"`, or two ends, both included, as
    `"2500 .. 3200"`. `probability`: the required probability
    of passing, in (0, 1). `confidence`: of the verdict, 0.95 when None. `terminated`: how a run counts that a rule ended early:
    `fail` (default), `unknown`, `exclude`. `look`: `once` (default), judged when all runs have ended, or `continuous`.
    Of a study with scenarios `cells` is where the probability is required (`in` of the contract): in `each` cell (default), in the `worst`, or `pooled` by
    `weights`, axis -> level -> weight.
    """

    output: str
    condition: str
    probability: float
    confidence: Optional[float] = None
    name: Optional[str] = None
    """Unique in the study; by default the output and the condition."""
    terminated: Optional[str] = None
    look: Optional[str] = None
    cells: Optional[str] = None
    weights: Optional[Mapping[str, Mapping[str, float]]] = None

    def member(self) -> Dict[str, Any]:
        """The requirement as a submission has it."""
        return {
            "name": self.name or f"{self.output} {self.condition}",
            "output": self.output,
            "condition": self.condition,
            "probability": self.probability,
            **given(confidence=self.confidence, terminated=self.terminated, look=self.look, **_cells(self.cells, self.weights)),
        }


@dataclass(frozen=True)
class JointRequirement:
    """A requirement on several others: a run passes when it passes all of them, which are named in `all`.

    The other members are those of `Requirement`.
    """

    all: Sequence[str]
    probability: float
    confidence: Optional[float] = None
    name: Optional[str] = None
    """Unique in the study; by default the names, joined by `and`."""
    terminated: Optional[str] = None
    look: Optional[str] = None
    cells: Optional[str] = None
    weights: Optional[Mapping[str, Mapping[str, float]]] = None

    def member(self) -> Dict[str, Any]:
        """The requirement as a submission has it."""
        if isinstance(self.all, str):
            raise TypeError(f"all must be the names of requirements, as [\"near\", \"slow\"], not {self.all!r}")
        return {
            "name": self.name or " and ".join(self.all),
            "all": list(self.all),
            "probability": self.probability,
            **given(confidence=self.confidence, terminated=self.terminated, look=self.look, **_cells(self.cells, self.weights)),
        }


@dataclass(frozen=True)
class Rule:
    """Ends a run when a telemetry variable meets a condition: `Rule("altitude_m", "< -10", "below ground")`."""

    variable: str
    condition: str
    description: str = ""

    def member(self) -> Dict[str, Any]:
        """The condition as a submission has it."""
        return {"variable": self.variable, "condition": self.condition, "description": self.description}


@dataclass(frozen=True)
class EarlyTermination:
    """Rules that end a run on its live telemetry. With `shadow` they are evaluated and recorded, and no run is ended.

    `check_hz`: how often a hit is acted upon, per second; every sample is judged in any case.
    """

    rules: Sequence[Rule]
    shadow: bool = False
    check_hz: float = 10.0
    enabled: bool = True

    def member(self) -> Dict[str, Any]:
        """The early termination as a submission has it."""
        return {
            "enabled": self.enabled,
            "check_frequency_hz": self.check_hz,
            "conditions": [rule.member() for rule in self.rules],
            **({"shadow": True} if self.shadow else {}),
        }


@dataclass(frozen=True)
class Telemetry:
    """Which telemetry is stored: `rate_hz` samples per second of telemetry time (0: all), `variables` (empty: all)."""

    rate_hz: float = 0.0
    variables: Sequence[str] = ()
    flush_s: int = 5
    """Seconds between writes to the disk; 0: every 100 ms."""
    compression: str = "snappy"
    """`none`, `gzip`, `snappy` or `lz4`."""
    live: bool = False
    """Whether the telemetry of running runs can be read, down-sampled, from runners with `--serve-files`."""

    def member(self) -> Dict[str, Any]:
        """The telemetry as a submission has it."""
        return {
            "sampling_rate_hz": self.rate_hz,
            "variables": list(self.variables),
            "storage": {"s3_bucket": "", "s3_prefix": "", "compression": self.compression},
            "buffer_flush_interval_seconds": self.flush_s,
            **({"live": True} if self.live else {}),
        }


@dataclass(frozen=True)
class Precision:
    """How precisely a quantity of an output is to be known: `Precision("miss_m", mean=True, half_width=0.1)`.

    One of `mean=True`, `quantile=0.95` and `probability="> 50"` (a condition) is the quantity. `half_width`: what is wanted, in the units of the
    quantity, or `relative`: as a share of its value, 0.01 for 1 %. `bounds`: of a mean, the least and the greatest value that the output can
    have: the interval then holds for every number of runs, and without them in the limit of many. `confidence`: of the interval, 0.95 when None.
    """

    output: str
    mean: bool = False
    quantile: Optional[float] = None
    probability: Optional[str] = None
    half_width: Optional[float] = None
    relative: Optional[float] = None
    bounds: Optional[Tuple[float, float]] = None
    confidence: Optional[float] = None

    def member(self) -> Dict[str, Any]:
        """The precision as a submission has it."""
        given_ones = [self.mean, self.quantile is not None, self.probability is not None]
        if sum(given_ones) != 1:
            raise ValueError(f"Precision of {self.output!r}: give one of mean=True, quantile=0.95 and probability='> 50'")
        if self.quantile is not None and not 0 < self.quantile < 1:
            raise ValueError(f"Precision of {self.output!r}: quantile must be above 0 and below 1, not {self.quantile!r}; 0.95 is P95")
        quantity = "mean" if self.mean else "probability" if self.quantile is None else f"p{round(100 * self.quantile, 10):g}"
        return {
            "output": self.output,
            "quantity": quantity,
            **given(
                condition=self.probability,
                bounds=None if self.bounds is None else list(self.bounds),
                half_width=self.half_width,
                relative=self.relative,
                confidence=self.confidence,
            ),
        }


@dataclass(frozen=True)
class Policy:
    """How the runs of a study are released, and when it stops by itself."""

    canary_runs: Optional[int] = None
    """So many runs are released first; the others follow when they have completed: two thirds of three or more, two of the first three
    once one of fewer has exceeded its time limit; or after `Batch.release`."""
    canary: Optional[str] = None
    """A small study of its own that has to complete first: `nominal`, one run with every input at its median; `corners`, also a run with all
    inputs at their 1 % quantile and one with all at their 99 % quantile. Not with `canary_runs`, nor for an adaptive study."""
    max_failures: Union[int, str, None] = None
    """The study is cancelled when so many runs are Failed or Timeout: a number, or a share such as `"5%"`."""
    priority: Optional[int] = None
    """-1000 to 1000, 0 by default: studies of higher priority are served first."""
    stop_when: Optional[str] = None
    """`settled`: when every requirement is settled, the open runs are cancelled. `precise`: when every precision is reached."""
    precision: Sequence[Union["Precision", Mapping[str, Any]]] = ()
    """For `precise`: each a `Precision`, or a mapping as a submission has it."""
    code: Optional[str] = None
    """`pin`: the code of the first attempt that started executes all runs; runners with another code are given none."""

    reuse: Optional[str] = None
    """`all`: a run with the same key as a finished run of the coordinator (code, parameters, seed, environment, rules) gets its result and is not
    executed. `family`: only results of the study that this one grew from, its extensions and its reruns. `none`, the default: every run is executed."""

    def member(self) -> Dict[str, Any]:
        """The policy as a submission has it."""
        return given(
            canary_runs=self.canary_runs,
            canary=self.canary,
            max_failures=self.max_failures,
            priority=self.priority,
            stop_when=self.stop_when,
            precision=[one.member() if isinstance(one, Precision) else dict(one) for one in self.precision] or None,
            code=self.code,
            reuse=self.reuse,
        )

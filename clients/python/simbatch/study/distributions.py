"""The distributions of the contract, one class each. `lower` and `upper` truncate. `units` and `source` are notes for people: `source` says where
the distribution comes from, and is shown in the evidence about the study.

docs/sampling.md defines each of them exactly. A distribution is an immutable value: two with the same members are equal.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple, Union

_RENAMED = {"rate": "lambda"}
# Not members of a distribution, but of its dispersion.
_NOTES = ("units", "source")


@dataclass(frozen=True)
class Distribution:
    """Base class of all distributions."""

    type: ClassVar[str] = ""

    def members(self) -> Dict[str, Any]:
        """The members of the contract, without those that are not given."""
        made: Dict[str, Any] = {"type": self.type}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name not in _NOTES and value is not None:
                made[_RENAMED.get(one.name, one.name)] = value
        return made

    def dispersion(self) -> Dict[str, Any]:
        """The dispersion of a submission: `{"distribution": {...}, "units": "..."}`, and `source` where it is given."""
        units, source = (getattr(self, name, "") for name in _NOTES)
        return {"distribution": self.members(), "units": units, **({"source": source} if source else {})}

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in _NOTES:
                if not isinstance(value, str):
                    raise TypeError(f"{type(self).__name__}.{one.name} must be a text, not {value!r}")
            elif value is not None or one.name not in ("lower", "upper"):
                object.__setattr__(self, one.name, self._checked(one.name, value))
        self._check()

    def _checked(self, name: str, value: Any) -> Any:
        return number(f"{type(self).__name__}.{name}", value)

    def _check(self) -> None:
        """Checks relations between the members."""

    def _require(self, holds: bool, name: str, rule: str) -> None:
        if not holds:
            raise ValueError(f"{type(self).__name__}.{name} must be {rule}, not {getattr(self, name)!r}")


def number(name: str, value: Any) -> Union[int, float]:
    """A finite Python number of any kind of number. Raises TypeError and ValueError with the name."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    made = int(value) if isinstance(value, numbers.Integral) else float(value)
    if not math.isfinite(made):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return made


@dataclass(frozen=True)
class _Bounded(Distribution):
    def _check(self) -> None:
        lower, upper = getattr(self, "lower", None), getattr(self, "upper", None)
        if lower is not None and upper is not None:
            self._require(lower < upper, "lower", f"< upper ({upper!r})")


@dataclass(frozen=True)
class Normal(_Bounded):
    """Normal with `mean` and standard deviation `std_dev` >= 0, truncated to [`lower`, `upper`] where given."""

    type = "normal"
    mean: float
    std_dev: float
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        super()._check()
        self._require(self.std_dev >= 0, "std_dev", ">= 0")


@dataclass(frozen=True)
class Chosen(_Bounded):
    """Not drawn: every row of a round gives the number, from `lower` to `upper` where given. For `method="adaptive"`."""

    type = "chosen"
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform between `min` and `max`, both included."""

    type = "uniform"
    min: float
    max: float
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        self._require(self.min <= self.max, "min", f"<= max ({self.max!r})")


@dataclass(frozen=True)
class Exponential(_Bounded):
    """Exponential with `rate` > 0 (lambda of the contract): the mean is 1 / rate. Truncated to [`lower`, `upper`] where given."""

    type = "exponential"
    rate: float
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        super()._check()
        self._require(self.rate > 0, "rate", "> 0")


@dataclass(frozen=True)
class Gamma(_Bounded):
    """Gamma with `shape` > 0 and `scale` > 0 (not a rate): the mean is shape * scale. Truncated where bounds are given."""

    type = "gamma"
    shape: float
    scale: float
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        super()._check()
        self._require(self.shape > 0, "shape", "> 0")
        self._require(self.scale > 0, "scale", "> 0")


@dataclass(frozen=True)
class Beta(Distribution):
    """Beta on [0, 1] with shapes `alpha` and `beta`, each in (0, 1e9]."""

    type = "beta"
    alpha: float
    beta: float
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        self._require(0 < self.alpha <= 1e9, "alpha", "in (0, 1e9]")
        self._require(0 < self.beta <= 1e9, "beta", "in (0, 1e9]")


@dataclass(frozen=True)
class Fixed(Distribution):
    """The same `value` in every run. A plain number among the inputs means this."""

    type = "fixed"
    value: float
    units: str = ""
    source: str = ""


@dataclass(frozen=True)
class Lognormal(_Bounded):
    """Lognormal: ln x is normal with mean `mu` and standard deviation `sigma` >= 0; the median is exp(mu)."""

    type = "lognormal"
    mu: float
    sigma: float
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        super()._check()
        self._require(self.sigma >= 0, "sigma", ">= 0")


@dataclass(frozen=True)
class Loguniform(Distribution):
    """Loguniform on [`min`, `max`], 0 < min: every decade has the same probability."""

    type = "loguniform"
    min: float
    max: float
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        self._require(self.min > 0, "min", "> 0")
        self._require(self.min <= self.max, "min", f"<= max ({self.max!r})")


@dataclass(frozen=True)
class Weibull(_Bounded):
    """Weibull with `shape` > 0 and `scale` > 0. Truncated to [`lower`, `upper`] where given."""

    type = "weibull"
    shape: float
    scale: float
    lower: Optional[float] = None
    upper: Optional[float] = None
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        super()._check()
        self._require(self.shape > 0, "shape", "> 0")
        self._require(self.scale > 0, "scale", "> 0")


@dataclass(frozen=True)
class Triangular(Distribution):
    """Triangular on [`min`, `max`] with the most likely value `mode`."""

    type = "triangular"
    min: float
    mode: float
    max: float
    units: str = ""
    source: str = ""

    def _check(self) -> None:
        self._require(self.min <= self.max, "min", f"<= max ({self.max!r})")
        self._require(self.min <= self.mode <= self.max, "mode", f"from min ({self.min!r}) to max ({self.max!r})")


@dataclass(frozen=True)
class Discrete(Distribution):
    """One of 1 to 10,000 values, each with a weight > 0: `Discrete({0: 9, 1: 1})`, or `Discrete([1, 2, 3])` for equal weights."""

    type = "discrete"
    values: Union[Mapping[float, float], Sequence[float]]
    units: str = ""
    source: str = ""

    def _checked(self, name: str, value: Any) -> Any:
        pairs = value.items() if isinstance(value, Mapping) else [(item, 1) for item in _items("Discrete.values", value)]
        made = tuple((number("Discrete.values", item), number("Discrete weight", weight)) for item, weight in pairs)
        if not 1 <= len(made) <= 10_000:
            raise ValueError(f"Discrete.values must have 1 to 10,000 values, not {len(made)}")
        for item, weight in made:
            if weight <= 0:
                raise ValueError(f"Discrete.values: the weight of {item!r} must be > 0, not {weight!r}")
        return made

    def members(self) -> Dict[str, Any]:
        """The members of the contract."""
        pairs: Any = self.values
        return {"type": self.type, "values": [{"value": value, "weight": weight} for value, weight in pairs]}


@dataclass(frozen=True)
class Empirical(Distribution):
    """Measured data, 2 to 100,000 numbers in any order: samples are its quantiles, linear between the sorted numbers."""

    type = "empirical"
    data: Sequence[float] = field(repr=False)
    units: str = ""
    source: str = ""

    def _checked(self, name: str, value: Any) -> Any:
        made = _numbers("Empirical.data", value)
        if not 2 <= len(made) <= 100_000:
            raise ValueError(f"Empirical.data must have 2 to 100,000 numbers, not {len(made)}")
        return made

    def members(self) -> Dict[str, Any]:
        """The members of the contract."""
        return {"type": self.type, "data": list(self.data)}


@dataclass(frozen=True)
class Table(Distribution):
    """An explicit sample table: run k gets number k of `values`, of which there is at least one for each run."""

    type = "table"
    values: Sequence[float] = field(repr=False)
    units: str = ""
    source: str = ""

    def _checked(self, name: str, value: Any) -> Any:
        return _numbers("Table.values", value)

    def members(self) -> Dict[str, Any]:
        """The members of the contract."""
        return {"type": self.type, "values": list(self.values)}


def _items(name: str, value: Any) -> List[Any]:
    if hasattr(value, "tolist"):  # numpy, pandas
        value = value.tolist()
    if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a list of numbers, not {type(value).__name__}")
    return list(value)


def _numbers(name: str, value: Any) -> Tuple[Union[int, float], ...]:
    return tuple(number(f"{name}[{index}]", item) for index, item in enumerate(_items(name, value)))

"""Frozen distributions of scipy.stats as distributions of the contract, where an equal one exists. Does not import SciPy."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Tuple

from .distributions import (
    Beta,
    Discrete,
    Distribution,
    Exponential,
    Gamma,
    Lognormal,
    Loguniform,
    Normal,
    Triangular,
    Uniform,
    Weibull,
)


class UnequalDistribution(ValueError):
    """A distribution of SciPy that has no equal one here. The message names it and the way through `Empirical`."""


def is_frozen(value: Any) -> bool:
    """Whether the value is a frozen distribution of scipy.stats."""
    return type(value).__module__.startswith("scipy.stats") and hasattr(value, "dist") and hasattr(value, "kwds")


def from_scipy(frozen: Any) -> Distribution:
    """The equal distribution. Raises UnequalDistribution when there is none."""
    name: str = frozen.dist.name
    if name.startswith("Distribution") or hasattr(frozen.dist, "pk"):  # rv_discrete(values=...)
        if hasattr(frozen.dist, "xk") and not frozen.args and not frozen.kwds:
            return _weighted(frozen.dist.xk, frozen.dist.pk)
        raise _unequal(frozen)
    shapes, loc, scale = frozen.dist._parse_args(*frozen.args, **frozen.kwds)
    make = _EQUAL.get(name)
    values = [float(value) for value in (*shapes, loc, scale)] if make is not None and _are_scalar(*shapes, loc, scale) else []
    if make is None or not values:
        raise _unequal(frozen)
    try:
        return make(tuple(values[:-2]), values[-2], values[-1])
    except _Shifted:
        raise _unequal(frozen, f" with loc={values[-2]:g}") from None


class _Shifted(Exception):
    """The distribution of the contract has no shift."""


def _are_scalar(*values: Any) -> bool:
    return all(getattr(value, "ndim", 0) == 0 for value in values)


def _unequal(frozen: Any, detail: str = "") -> UnequalDistribution:
    name = frozen.dist.name or type(frozen.dist).__name__
    return UnequalDistribution(
        f"scipy.stats.{name}{detail} has no equal distribution in simbatch; approximate it by data: "
        "simbatch.Empirical(frozen.ppf([(k + .5) / 10_000 for k in range(10_000)]))"
    )


def _unshifted(make: Callable[[Tuple[float, ...], float], Distribution]) -> Callable[..., Distribution]:
    def made(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
        if loc != 0:
            raise _Shifted
        return make(shapes, scale)

    return made


def _weighted(values: Any, weights: Any) -> Discrete:
    return Discrete(dict(zip([float(value) for value in values], [float(weight) for weight in weights])))


def _beta(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
    if loc != 0 or scale != 1:
        raise _Shifted
    return Beta(shapes[0], shapes[1])


def _truncnorm(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
    lower, upper = (None if math.isinf(bound) else loc + bound * scale for bound in shapes)
    return Normal(loc, scale, lower, upper)


def _triang(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
    return Triangular(loc, loc + shapes[0] * scale, loc + scale)


def _randint(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
    low, high = (int(shape + loc) for shape in shapes)
    return Discrete(list(range(low, high)))


def _bernoulli(shapes: Tuple[float, ...], loc: float, scale: float) -> Distribution:
    return Discrete({loc: 1 - shapes[0], loc + 1: shapes[0]})


_EQUAL: Dict[str, Callable[[Tuple[float, ...], float, float], Distribution]] = {
    "norm": lambda shapes, loc, scale: Normal(loc, scale),
    "truncnorm": _truncnorm,
    "halfnorm": lambda shapes, loc, scale: Normal(loc, scale, lower=loc),
    "uniform": lambda shapes, loc, scale: Uniform(loc, loc + scale),
    "triang": _triang,
    "beta": _beta,
    "expon": _unshifted(lambda shapes, scale: Exponential(1 / scale)),
    "truncexpon": _unshifted(lambda shapes, scale: Exponential(1 / scale, upper=shapes[0] * scale)),
    "gamma": _unshifted(lambda shapes, scale: Gamma(shapes[0], scale)),
    "erlang": _unshifted(lambda shapes, scale: Gamma(shapes[0], scale)),
    "chi2": _unshifted(lambda shapes, scale: Gamma(shapes[0] / 2, 2 * scale)),
    "lognorm": _unshifted(lambda shapes, scale: Lognormal(math.log(scale), shapes[0])),
    "loguniform": _unshifted(lambda shapes, scale: Loguniform(shapes[0] * scale, shapes[1] * scale)),
    "reciprocal": _unshifted(lambda shapes, scale: Loguniform(shapes[0] * scale, shapes[1] * scale)),
    "weibull_min": _unshifted(lambda shapes, scale: Weibull(shapes[0], scale)),
    "rayleigh": _unshifted(lambda shapes, scale: Weibull(2, math.sqrt(2) * scale)),
    "randint": _randint,
    "bernoulli": _bernoulli,
}

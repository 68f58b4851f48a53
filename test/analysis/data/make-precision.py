"""Reference values of the confidence sequences, by definitions written again with NumPy and SciPy: `python make-precision.py > precision.json`.

Each sequence is evaluated as the papers define it, from all values at once and without the incremental forms of the program. Versions: NumPy 2, SciPy 1.
"""

import json

import numpy as np
from scipy import optimize, special

rng = np.random.default_rng(20261123)


def mixture(s, f, p, a, b):
    return special.betaln(s + a, f + b) - special.betaln(a, b) - special.xlogy(s, p) - special.xlog1py(f, -p)


def probability(values, confidence):
    """Robbins (1970): all p with mixture < ln(1 / alpha), by root finding from either side of the share."""
    s, n = int(np.nansum(values)), len(values)
    u = int(np.isnan(values).sum())
    bound = -np.log1p(-confidence)

    def end(s, f, lower):
        if (s if lower else f) == 0:
            return 0.0 if lower else 1.0
        share = s / (s + f)
        excess = lambda p: mixture(s, f, p, 0.5, 0.5) - bound
        # The share may be 0 or 1 itself, where the mixture is evaluated at the limit.
        return float(optimize.brentq(excess, 1e-300, share, xtol=1e-15) if lower else optimize.brentq(excess, share, 1 - 1e-16, xtol=1e-15))

    return [end(s, n - s, True), end(s + u, n - s - u, False)]


def quantile(values, p, confidence):
    """Howard and Ramdas (2022): ranks by scanning every number of runs below the quantile."""
    n = len(values)
    known = np.sort(values[~np.isnan(values)])
    u = n - len(known)
    s = np.arange(n + 1)
    possible = s[mixture(s, n - s, p, 60 * p, 60 * (1 - p)) < -np.log1p(-confidence)]
    low, high = int(possible.min()) - u, int(possible.max()) + 1
    return [float(known[low - 1]) if low >= 1 else None, float(known[high - 1]) if high <= len(known) else None]


def bernstein(x, confidence):
    """Waudby-Smith and Ramdas (2024), theorem 2 with the predictable plug-in of equation 15, c = 1/2."""
    alpha = 1 - confidence
    t = np.arange(1, len(x) + 1)
    mu = (0.5 + np.cumsum(x)) / (t + 1)
    before = np.concatenate([[0.5], mu[:-1]])
    sigma2 = (0.25 + np.cumsum((x - mu) ** 2)) / (t + 1)
    sigma2_before = np.concatenate([[0.25], sigma2[:-1]])
    bets = np.minimum(np.sqrt(2 * np.log(2 / alpha) / (sigma2_before * t * np.log1p(t))), 0.5)
    psi = (-np.log1p(-bets) - bets) / 4
    radius = (np.log(2 / alpha) + np.sum(4 * (x - before) ** 2 * psi)) / np.sum(bets)
    centre = np.sum(bets * x) / np.sum(bets)
    return max(0.0, centre - radius), min(1.0, centre + radius)


def bounded(values, low, high, confidence):
    least = np.where(np.isnan(values), low, values)
    greatest = np.where(np.isnan(values), high, values)
    scale = high - low
    return [
        float(low + scale * bernstein((least - low) / scale, confidence)[0]),
        float(low + scale * bernstein((greatest - low) / scale, confidence)[1]),
    ]


def asymptotic(values, confidence):
    """Waudby-Smith et al. (2024), theorem 2.2; T = 500; from 100 values on, and above 25 times the squared skewness."""
    n, alpha = len(values), 1 - confidence
    centred = values - values.mean()
    variance = np.mean(centred**2)
    skewness = np.mean(centred**3) / variance**1.5
    if n < 100 or n <= 25 * skewness**2:
        return [None, None]
    rho2 = (-2 * np.log(alpha) + np.log(-2 * np.log(alpha) + 1)) / 500
    radius = np.sqrt(variance) * np.sqrt(2 * (n * rho2 + 1) / (n**2 * rho2) * np.log(np.sqrt(n * rho2 + 1) / alpha))
    return [float(values.mean() - radius), float(values.mean() + radius)]


def listed(values):
    return [None if np.isnan(v) else float(v) for v in values]


def with_unknown(values, share):
    return np.where(rng.random(len(values)) < share, np.nan, values)


cases = []
for n in (1, 7, 60, 500):
    for confidence in (0.8, 0.999) if n < 500 else (0.95,):
        for share in (0.0, 0.05):
            ones = with_unknown((rng.random(n) < 0.1).astype(float), share)
            cases.append({"precision": {"quantity": "probability", "confidence": confidence}, "values": listed(ones), "interval": probability(ones, confidence)})
            y = with_unknown(np.round(rng.gamma(2, 3, n), 3), share)
            for p in (0.05, 0.5, 0.95):
                cases.append({"precision": {"quantity": f"p{100 * p:g}", "confidence": confidence}, "values": listed(y), "interval": quantile(y, p, confidence)})
            b = with_unknown(np.round(-3 + 8 * rng.beta(2, 5, n), 3), share)
            cases.append({"precision": {"quantity": "mean", "bounds": [-3, 5], "confidence": confidence}, "values": listed(b), "interval": bounded(b, -3.0, 5.0, confidence)})
        z = np.round(rng.normal(100, 7, n) if n != 500 else rng.lognormal(0, 0.5, n), 3)
        if n > 1:
            cases.append({"precision": {"quantity": "mean", "confidence": confidence}, "values": listed(z), "interval": asymptotic(z, confidence)})
heavy = np.round(rng.lognormal(0, 1.5, 300), 3)
cases.append({"precision": {"quantity": "mean", "confidence": 0.95}, "values": listed(heavy), "interval": asymptotic(heavy, 0.95)})
print(json.dumps(cases, separators=(",", ":")))

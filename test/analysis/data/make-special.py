"""Writes special.json: reference values of the special functions, computed with mpmath at 60 digits.

Every argument is taken as the exact double it is. Usage: python make-special.py > special.json (mpmath 1.3 or later).
"""
import json
import sys
import time

from mpmath import mp, mpf

mp.dps = 60


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def lower_series(x, a, b, digits):
    """I_x(a, b) as a power series with positive terms (DLMF 8.17.7, 8.17.8)."""
    lead = mp.exp(a * mp.log(x) + b * mp.log(1 - x) - log_beta(a, b)) / a
    term = total = mpf(1)
    least = mpf(10) ** -digits
    k = 0
    while term > total * least or (a + b + k) * x > a + 1 + k:
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
    return lead * total


def both(x, y, a, b):
    """I_x(a, b) and its complement; y is 1 - x. The series is slow near 1: there the other one, to digits enough for the difference."""
    if x * (a + b) <= a:
        if x <= 0.9:
            lower = lower_series(x, a, b, 40)
            return lower, 1 - lower
        with mp.workdps(1300):
            upper = lower_series(y, b, a, 1290)
            return 1 - upper, upper
    upper, lower = both(y, x, b, a)
    return lower, upper


def tails(x, a, b):
    with mp.workdps(1300):
        y = 1 - mpf(x)
    return both(mpf(x), y, mpf(a), mpf(b))


def number(value):
    """The nearest double, as JSON."""
    return float(mp.nstr(value, 25))


def beta_rows():
    points = [
        (0.5, 1, 1), (0.9, 0.5, 0.5), (0.001, 2, 3), (0.999, 2, 3), (0.3, 20, 5), (0.9, 60, 1), (0.95, 58, 2),
        (0.9, 1.8, 0.2), (0.9973, 1.9946, 0.0054), (0.99, 101.98, 0.02), (0.9973, 2001.9946, 0.0054),
        (0.5, 500, 500), (0.5, 400, 600), (0.5, 100, 900), (0.05, 500, 500), (0.9, 900.5, 100.5), (0.9, 9000, 1200),
        (0.9, 500000, 500000), (0.9, 900000, 100000), (0.9, 899000, 101000), (0.9, 903000, 97000), (0.9, 909000, 91000),
        (0.9973, 997300, 2700), (0.9973, 996800, 3200), (0.9973, 1000000, 1), (0.9973, 999999.9, 0.0054), (0.5, 500000.5, 0.5),
        (0.9999, 500000, 0.5), (0.99999, 500000, 0.5), (1e-6, 1, 1000000), (1e-5, 1, 1000000), (1e-5, 20, 1000000),
        (1e-8, 3, 1000000), (1e-300, 0.5, 3), (0.7, 1e-5, 3), (0.999999, 2, 2e-6), (0.25, 3.5, 1e-3),
    ]
    for x, a, b in points:
        lower, upper = tails(x, a, b)
        density = mpf(a) * mp.log(x) + mpf(b) * mp.log(1 - mpf(x)) - log_beta(mpf(a), mpf(b))
        yield {"x": x, "a": a, "b": b, "log_beta": number(log_beta(mpf(a), mpf(b))), "lower": number(lower),
               "upper": number(upper), "log_lower": number(mp.log(lower)), "log_upper": number(mp.log(upper)),
               "log_lower_ratio": number(mp.log(lower) - density), "log_upper_ratio": number(mp.log(upper) - density)}


def beta_inverse(u, a, b):
    """The x at which I_x(a, b) is u, by bisection in doubles followed by Newton steps."""
    u, a, b = mpf(u), mpf(a), mpf(b)
    low, high = mpf(0), mpf(1)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tails(middle, a, b)[0] < u else (low, middle)
    x = (low + high) / 2
    for _ in range(4):
        density = mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - log_beta(a, b))
        x -= (tails(x, a, b)[0] - u) / density
    return x


def beta_inverse_rows():
    for u, a, b in [(0.05, 58, 2), (0.95, 59, 1), (0.1, 997, 4), (0.9, 998, 3), (0.05, 999999, 2), (0.95, 1000000, 1),
                    (0.05, 900000, 100001), (0.001, 10, 91), (0.999, 10, 91), (0.5, 5000.5, 0.5), (0.025, 1, 10000), (0.3, 0.5, 0.5)]:
        yield {"u": u, "a": a, "b": b, "x": number(beta_inverse(u, a, b))}


def binomial_rows():
    for k, n, q in [(0, 1, 0.5), (3, 10, 0.3), (9, 10, 0.3), (50, 100, 0.95), (100, 200, 0.5), (20, 500, 0.01),
                    (900500, 1000000, 0.9), (2500, 1000000, 0.0027), (0, 1000000, 1e-6), (150, 1000, 0.05)]:
        upper, lower = tails(q, k + 1, n - k)
        yield {"k": k, "n": n, "q": q, "cdf": number(lower), "sf": number(upper)}


def normal_rows():
    for z in [-38, -20, -8, -3, -1, -0.1, 0, 1e-9, 0.3, 1, 1.959963984540054, 2.2, 2.25, 3, 5, 8.5, 20, 37.5]:
        yield {"z": z, "cdf": number(mp.erfc(-mpf(z) / mp.sqrt(2)) / 2), "sf": number(mp.erfc(mpf(z) / mp.sqrt(2)) / 2)}


def student_tail(t, nu):
    t, nu = mpf(t), mpf(nu)
    if t == 0:
        return mpf(1) / 2
    with mp.workdps(1300):
        x, y = nu / (nu + t * t), t * t / (nu + t * t)
    return both(x, y, nu / 2, mpf(1) / 2)[0] / 2


def student_rows():
    for nu in [1, 2, 3, 7, 30, 62.7, 199, 9999, 999999]:
        for t in [0, 1e-6, 0.3, 1, 2, 3.5, 10, 40, 300]:
            tail = student_tail(t, nu)
            if tail > mpf(10) ** -290:
                yield {"nu": nu, "t": t, "sf": number(tail)}


def student_quantile_rows():
    for nu in [1, 2, 3, 7, 30, 199, 9999, 999999]:
        for u in [0.5000001, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 0.9999999]:
            tail = 1 - mpf(u)
            low, high = mpf(0), mpf(10) ** 8
            for _ in range(90):
                middle = (low + high) / 2
                low, high = (middle, high) if student_tail(middle, nu) > tail else (low, middle)
            yield {"nu": nu, "u": u, "t": number((low + high) / 2)}


def kolmogorov_rows():
    for x in [0.03, 0.05, 0.2, 0.5, 0.8, 0.99, 1, 1.01, 1.36, 2, 3, 8, 18]:
        value = 2 * mp.nsum(lambda j: (-1) ** (int(j) - 1) * mp.exp(-2 * j * j * mpf(x) ** 2), [1, mp.inf]) if x >= 1 else (
            1 - mp.sqrt(2 * mp.pi) / mpf(x) * sum(mp.exp(-((2 * j - 1) * mp.pi) ** 2 / (8 * mpf(x) ** 2)) for j in range(1, 40)))
        yield {"x": x, "sf": number(value)}


def sequential_rows():
    """The logarithms of both E values of the sequential test, at 60 digits from the definition."""
    for s, f, p in [(0, 0, 0.9), (1, 0, 0.9), (0, 1, 0.9), (25, 0, 0.9), (100, 30, 0.9), (232, 0, 0.99), (990, 10, 0.99),
                    (855, 0, 0.9973), (1990, 10, 0.9973), (30, 70, 0.3), (70, 30, 0.3), (5, 5, 0.999999), (0, 1000, 0.5),
                    (900000, 100000, 0.9), (901000, 99000, 0.9), (898000, 102000, 0.9), (1000000, 0, 0.99999), (500, 100000, 0.01)]:
        q = mpf(p)
        a, b = 2 * q, 2 * (1 - q)
        base = log_beta(s + a, f + b) - log_beta(a, b) - s * mp.log(q) - f * mp.log(1 - q)
        before, after = tails(q, a, b), tails(q, s + a, f + b)
        yield {"passed": s, "failed": f, "p": p, "log_e_met": number(base + mp.log(after[1]) - mp.log(before[1])),
               "log_e_violated": number(base + mp.log(after[0]) - mp.log(before[0]))}


rows = {"beta": beta_rows, "beta_inverse": beta_inverse_rows, "binomial": binomial_rows, "normal": normal_rows, "student": student_rows,
        "student_quantile": student_quantile_rows, "kolmogorov": kolmogorov_rows, "sequential": sequential_rows}
tables = []
for name, make in rows.items():
    start = time.time()
    tables.append(f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in make()) + "\n]")
    print(f"{name}: {time.time() - start:.1f} s", file=sys.stderr)
print("{\n" + ",\n".join(tables) + "\n}")

"""Small plots as inline SVG: histograms and lines. No scripts, no references, colours that suit light and dark pages."""

from __future__ import annotations

import math
from typing import List, Optional, Sequence, Tuple

from html import escape

WIDTH, HEIGHT, _FOOT = 220, 90, 14
_BAR, _LINE, _LIMIT, _TEXT = "#4c78a8", "#4c78a8", "#e45756", "#888888"


def histogram(values: Sequence[float], *, title: str, limit: Optional[float] = None) -> str:
    """A histogram of finite values with the number of bins of Freedman and Diaconis; `limit` as a vertical line."""
    finite = sorted(value for value in values if math.isfinite(value))
    if not finite:
        return ""
    low, high = finite[0], finite[-1]
    if low == high:
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    bins = _bins(finite)
    counts = [0] * bins
    for value in finite:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    step, top = WIDTH / bins, max(counts)
    room = HEIGHT - _FOOT - 16
    bars = []
    for at, count in enumerate(counts):
        height = room * count / top
        bars.append(_rect(at * step, HEIGHT - _FOOT - height, max(step - 1, 0.5), height))
    marks = ""
    if limit is not None and low <= limit <= high:
        x = (limit - low) / (high - low) * WIDTH
        marks = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="{HEIGHT - _FOOT}" stroke="{_LIMIT}" stroke-width="1.5"/>'
    return _figure(title, "".join(bars) + marks, low, high)


def line(points: Sequence[Tuple[float, float]], *, title: str) -> str:
    """A line through points in the order of x, at most 500 of them drawn."""
    finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(finite) < 2:
        return ""
    finite = finite[:: max(1, len(finite) // 500)]
    xs, ys = [x for x, _ in finite], [y for _, y in finite]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    width, height = (right - left) or 1.0, (high - low) or 1.0
    room = HEIGHT - _FOOT - 16
    path = " ".join(
        f"{(x - left) / width * WIDTH:.1f},{HEIGHT - _FOOT - (y - low) / height * room:.1f}" for x, y in finite
    )
    drawn = f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="1.2"/>'
    return _figure(f"{title}: {low:.4g} to {high:.4g}", drawn, left, right)


def progress(done: int, failed: int, total: int) -> str:
    """A bar of ended runs, the failed ones in another colour."""
    width = 2 * WIDTH
    x_done, x_failed = (width * count / max(total, 1) for count in (done, failed))
    return (
        f'<svg width="{width}" height="10" role="img"><rect width="{width}" height="10" fill="{_TEXT}" opacity="0.2"/>'
        f'<rect width="{x_done:.1f}" height="10" fill="{_BAR}"/>'
        f'<rect x="{x_done - x_failed:.1f}" width="{x_failed:.1f}" height="10" fill="{_LIMIT}"/></svg>'
    )


def _bins(finite: List[float]) -> int:
    n = len(finite)
    spread = finite[(3 * n) // 4] - finite[n // 4]
    if spread <= 0:
        return min(20, max(1, round(math.sqrt(n))))
    return max(1, min(40, math.ceil((finite[-1] - finite[0]) / (2 * spread / math.pow(n, 1 / 3)))))


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{_BAR}"/>'


def _figure(title: str, content: str, low: float, high: float) -> str:
    label = f'font-size="10" font-family="sans-serif" fill="{_TEXT}"'
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" style="margin-right:12px">'
        f"<title>{escape(title)}</title>"
        f'<text x="0" y="10" {label}>{escape(title)}</text>{content}'
        f'<text x="0" y="{HEIGHT - 2}" {label}>{low:.4g}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 2}" text-anchor="end" {label}>{high:.4g}</text></svg>'
    )

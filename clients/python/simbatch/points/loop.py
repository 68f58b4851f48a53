"""The loop around an external algorithm: ask for points, wait, hand the results over; the same call continues after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from ..batch.batch import Batch
    from ..batch.rounds import Round

Row = Dict[str, Any]


def tell_and_ask(
    batch: "Batch",
    ask: Callable[[int], Any],
    tell: Callable[["Round", List[Row]], Any],
    stop: Optional[Callable[[], bool]] = None,
    *,
    repeatable: bool = False,
) -> int:
    """Runs an external algorithm on an adaptive study and returns the number of rounds. After a crash of anything, call it again.

    ask(k): the rows of round k as `Batch.append` takes them, or the tuple (rows, draws), as `product` makes it; None ends the loop.
    tell(round, rows): takes the results, rows as `Round.wait` returns them. stop(): true ends the loop; asked before each new round.
    Round k has the key `round-k`. The rounds that the study has already go to `tell` first, in their order, and nothing of them is
    executed again. repeatable: for algorithms that give the same points again for the same results and take results only for points
    that they gave, such as a seeded generator: they are asked from round 0 on, and a round with other rows than before is
    ApiError `round-key-reused`. Raises what `Batch.append` and `Round.wait` raise.
    """
    number = 0
    if not repeatable:
        for known in batch.rounds():
            tell(known, known.wait())
            number = known.number + 1
    while not (stop is not None and stop()):
        asked = ask(number)
        if asked is None:
            break
        rows, draws = _pair(asked)
        made = batch.append(rows, draws, key=f"round-{number}")
        tell(made, made.wait())
        number += 1
    return number


def _pair(asked: Any) -> Tuple[Any, Any]:
    if not isinstance(asked, tuple):
        return asked, None
    if len(asked) != 2:
        raise TypeError(f"ask must return rows, or the tuple (rows, draws), not a tuple of {len(asked)}")
    return asked

"""A coordinator: the studies it has, and the submission of new ones."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from ..api.problems import argument_of
from ..api.transport import DEFAULT_RETRY_S, DEFAULT_TIMEOUT_S, PathLike, Transport, credential, segment
from ..errors import ApiError, Fault, SimbatchError, StudyError
from .batch import Batch
from .connection import Connection
from .continued import continued

if TYPE_CHECKING:
    from ..evaluator.evaluator import Evaluator
    from ..study.description import StudyDescription
    from ..study.probe import Probe


def connect(
    endpoint: Optional[str] = None,
    *,
    token: Optional[str] = None,
    token_file: Optional[PathLike] = None,
    ca_file: Optional[PathLike] = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    retry_s: float = DEFAULT_RETRY_S,
) -> "Coordinator":
    """A coordinator. Nothing is sent before the first question.

    endpoint: its address; by default SIMBATCH_ENDPOINT, else http://127.0.0.1:7070. The credential: `token`, `token_file`,
    SIMBATCH_TOKEN or SIMBATCH_TOKEN_FILE, the first that is given. ca_file: certificates in PEM for https, besides those of the
    system; by default NODE_EXTRA_CA_CERTS. timeout_s: time limit of an exchange. retry_s: how long a request that may be
    repeated is repeated while the coordinator is away.
    Raises SimbatchError for an address, a token or a file that cannot be used.
    """
    secret = credential(token, token_file)
    read_from = token_file if token is None else None
    return Coordinator(Transport(endpoint, token=secret, token_file=read_from, ca_file=ca_file, timeout_s=timeout_s, retry_s=retry_s))


class Coordinator(Connection):
    """One coordinator. Made by `simbatch.connect()`; threads may share it."""

    def batches(
        self,
        *,
        status: Union[str, Sequence[str], None] = None,
        name: Union[str, Sequence[str], None] = None,
        label: Union[str, Sequence[str], None] = None,
        owner: Union[str, Sequence[str], None] = None,
        mine: bool = False,
    ) -> "Batches":
        """The studies in order of submission. `status`, `name`, `owner`: only these; `label`: `"key=value"`, all of them required. `mine`: those of this token."""
        query = {"status": status, "name": name, "label": label, "owner": owner, "mine": "true" if mine else None}
        found = [Batch(self, one["id"], one) for page in self.transport.pages("/batches", query) for one in page]
        return Batches(found)

    def open(self, reference: str = "latest") -> Batch:
        """A study by its id, the beginning of its id, its name, or `latest`. Raises SimbatchError when there is none."""
        if len(reference) == 36:
            return Batch(self, reference, self.transport.get(f"/batches/{segment(reference)}")["batch"])
        if reference == "latest":
            newest = self._newest()
            if newest is None:
                raise SimbatchError(f"no study at {self.endpoint}: submit one first")
            return newest
        found = self.batches()
        matching = [one for one in found if one.id.startswith(reference)] or [one for one in found if one.name == reference][-1:]
        if not matching:
            raise SimbatchError(f"no study {reference!r} at {self.endpoint}; it has {len(found)} studies, see batches()")
        if len(matching) > 1:
            raise SimbatchError(f"{len(matching)} studies begin with {reference!r}; give more of the id")
        return matching[0]

    def _newest(self) -> Optional[Batch]:
        try:
            page = self.transport.get("/batches", {"order": "newest", "limit": 1})
        except ApiError as error:
            # An older coordinator refuses the order: the list is read there.
            if error.code != "malformed-query":
                raise
            found = self.batches()
            return found[-1] if found else None
        return Batch(self, page[0]["id"], page[0]) if page else None

    def submit(self, study: "StudyDescription", *, again: bool = False) -> Batch:
        """Submits a study, or continues the study of the same design. See `Study.submit`."""
        answer = self._sent(study, again)
        continuation = answer.get("continuation")
        made = Batch(self, answer["batch_id"], study=study)
        for one in answer.get("warnings") or ():
            line = f'{argument_of(one["pointer"], study.pairs) or "study"}: {one["detail"]}'
            made.warnings.append(line)
            if one["code"] == "study-damaged" or "cannot meet" in line:
                warnings.warn(line, stacklevel=3)
        if continuation is not None and not continuation["created"]:
            return continued(made, continuation, study)
        if continuation is not None and "previous" in continuation:
            print(f"simbatch: {continuation['sentence']}", file=sys.stderr)
        return made

    def evaluator(
        self,
        simulation: "Union[str, StudyDescription]",
        *,
        version: Optional[str] = None,
        inputs: Optional[Sequence[str]] = None,
        outputs: Optional[Sequence[str]] = None,
        fixed: Optional[Mapping[str, float]] = None,
        failed: str = "nan",
        noise: bool = False,
        retry_failed: bool = False,
        budget: Optional[int] = None,
        timeout_s: int = 0,
        progress: bool = True,
        label: Optional[str] = None,
    ) -> "Evaluator":
        """A simulation as a function: `f = sb.connect().evaluator("rocket", version="1.4", inputs=["mass", "cd"], outputs=["miss_m"])`,
        then `Y = f(X)`.

        simulation: its name, as runners offer it, with its `version`, or a Study, whose chosen inputs are then the inputs.
        inputs: the parameters in the order of the columns of X. outputs: those in the order of the columns of the answer; None: all
        numbers that the first completed run reports. fixed: numbers of parameters that stay the same.
        failed: `"nan"` or `"raise"`, for rows whose run fails. noise: every row of every call is a run of its own; a repeated program
        gets the same runs for the same calls. retry_failed: points that have failed are executed again, once a call.
        budget: the most runs of a study, 1,000,000 by default; a full one is closed, and another begins without its points.
        timeout_s: time limit of a run in seconds, where the study is made; 0: none.
        progress: a bar for calls that take longer than a second. label: a text that the rounds are stored with.
        The same simulation, version, inputs and fixed numbers are the same evaluator in every program, `simbatch evaluate` and
        `simbatch bridge`: they share one open study, and nothing is executed twice. Nothing is sent before the first call.
        """
        from ..evaluator.make import for_points, named_evaluator, study_evaluator

        options = {"failed": failed, "noise": noise, "retry_failed": retry_failed, "progress": progress, "label": label}
        if isinstance(simulation, str):
            made = {"runs": budget, "timeout_s": timeout_s}
            return named_evaluator(self, simulation, version, inputs, outputs, fixed, made, options)
        if version is not None or inputs is not None or fixed is not None or timeout_s != 0:
            raise TypeError("version, inputs, fixed and timeout_s are those of the study; leave them out")
        return study_evaluator(self, for_points(simulation, budget), outputs, options)

    def probe(self, study: "StudyDescription", *, corners: bool = False) -> "Probe":
        """Executes 2 d + 1 runs at this coordinator for the d dispersed inputs of a study, waits for them, and returns which inputs are read
        and what each changes: see `Study.probe`, which executes them on this machine.

        corners: also a run with all inputs low, and a run with all inputs high. Needs the program `simbatch` on this machine.
        Raises StudyError for a study without a dispersed input or with chosen ones, ProgramNotFoundError, SimbatchError.
        """
        from ..study.probe import probe

        return probe(study, self.transport, corners)

    def _sent(self, study: "StudyDescription", again: bool) -> Dict[str, Any]:
        """The answer to a submission. A repeated continuation executes nothing; any other submission has a key of its own."""
        query = None if again else {"continue": "true"}
        key = os.urandom(16).hex() if again else None
        try:
            answer: Dict[str, Any] = self.transport.send(
                "POST", "/jobs", query, body=study.submission(), idempotency_key=key, repeat=not again
            ).json()
        except StudyError as error:
            raise _with_pairs(error, study) from None
        return answer


class Batches(List[Batch]):
    """Studies, as a list that a notebook shows as a table."""

    def __repr__(self) -> str:
        from ..show.text import batches_text

        return batches_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import batches_html

        return batches_html(self)


def _with_pairs(error: StudyError, study: "StudyDescription") -> StudyError:
    """The error of a refused study, with the pairs of correlations by name."""
    faults = [Fault(one.pointer, one.detail, argument_of(one.pointer, study.pairs)) for one in error.faults]
    return StudyError(
        error.status, error.code, error.detail, faults=faults, problem=error.problem, request_id=error.request_id
    )



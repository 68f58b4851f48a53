"""A study that a submission has continued, and what is said about it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping

from .batch import Batch

if TYPE_CHECKING:
    from ..study.description import StudyDescription


def continued(batch: Batch, continuation: Mapping[str, Any], study: "StudyDescription") -> Batch:
    """The batch with those of its extensions that the number of runs of the study asks for."""
    resource = batch.resource
    asked = study.runs > resource["total_jobs"]
    if asked:
        links = [one for one in resource.get("children", ()) if one["relation"] == "extension"]
        batch.extensions = [Batch(batch.coordinator, one["batch_id"], study=study) for one in links]
    members = [batch, *batch.extensions]
    if any(one.resource["status"] == "Cancelled" for one in members):
        warning = f"study {study.name!r} was cancelled; again=True runs it anew"
        batch.warnings.append(warning)
        print(f"simbatch: {warning}", file=sys.stderr)
    elif continuation["amended"] or "extension" in continuation or continuation["kept"] or continuation.get("waiting") or study.runs < continuation["runs"]:
        print(f"simbatch: {continuation['sentence']}", file=sys.stderr)
    return batch

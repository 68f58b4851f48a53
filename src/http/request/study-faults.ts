/** Validation of a submitted study: its shape by the schema, its meaning by the domain, its size by the coordinator. */
import { replicateCountFaults } from '../../analysis/precision/planning.ts';
import { submissionFaults } from '../../domain/study/submission.ts';
import { selectedRuns } from '../../domain/runs/run-selection.ts';
import { INT32_MAX } from '../../contract/limits.ts';
import { BatchSubmission } from '../../contract/study.ts';
import type { Fault } from '../../contract/types.ts';
import { isLarge, schemaFaults } from '../../contract/validation/validate.ts';

const MAX_FAULTS = 100;

function sizeFaults({ config, runs_override }: BatchSubmission, maxRuns: number): Fault[] {
  const { monte_carlo } = config;
  const wanted = selectedRuns(config, runs_override).count;
  if (wanted <= maxRuns) return [];
  const pointer = wanted === monte_carlo.runs ? '/config/monte_carlo/runs' : '/runs_override';
  const detail = `is ${wanted}; this coordinator takes studies of up to ${maxRuns} runs: submit fewer, or start it with a higher --max-runs`;
  return [{ pointer, detail }];
}

const tooFewReplicates = (study: BatchSubmission): Fault[] =>
  replicateCountFaults(study, selectedRuns(study.config, study.runs_override).count);

/** Returns all faults of a study; empty when it can be submitted as a BatchSubmission. */
export function studyFaults(value: unknown, maxRuns = INT32_MAX): Fault[] {
  const ofShape = schemaFaults(BatchSubmission, value);
  if (ofShape.length > 0 && isLarge(value)) return ofShape;
  const reported = new Set(ofShape.map((fault) => fault.pointer));
  const ofMeaning = submissionFaults(value).filter((fault) => !reported.has(fault.pointer));
  if (ofShape.length === 0 && ofMeaning.length === 0) ofMeaning.push(...sizeFaults(value as BatchSubmission, maxRuns));
  if (ofShape.length === 0 && ofMeaning.length === 0) ofMeaning.push(...tooFewReplicates(value as BatchSubmission));
  return [...ofShape, ...ofMeaning].slice(0, MAX_FAULTS);
}

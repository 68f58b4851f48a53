/** The compiler's proof that the schemas say what `domain/types.ts` says: a schema that drifts does not compile. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static } from 'typebox';
import type * as wire from '../../src/domain/types.ts';
import '../../src/contract/reports.ts';
import '../../src/contract/runners.ts';
import '../../src/contract/batches.ts';
import { registry } from '../../src/contract/build.ts';
import { packageRoot } from '../../src/base/package.ts';
import type * as batches from '../../src/contract/batches.ts';
import type * as compute from '../../src/contract/compute.ts';
import type * as dispersions from '../../src/contract/dispersions.ts';
import type * as jobs from '../../src/contract/jobs.ts';
import type * as problem from '../../src/contract/problem.ts';
import type * as reports from '../../src/contract/reports.ts';
import type * as runners from '../../src/contract/runners.ts';
import type * as study from '../../src/contract/study.ts';

/** The type with all its references and intersections written out, so that two spellings of one shape compare equal. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { [K in keyof T]: Plain<T[K]> }
    : T;
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the comparison is of two generic signatures
type Same<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;
type Agree<Schema, Wire> = Same<Static<Schema & object>, Wire>;
type Must<T extends true> = T;

/** A schema that disagrees makes its line an error. */
export interface Agreement {
  BatchSubmission: Must<Agree<typeof study.BatchSubmission, wire.BatchSubmission>>;
  BatchConfig: Must<Agree<typeof study.BatchConfig, wire.BatchConfig>>;
  ComputeConfig: Must<Agree<typeof compute.ComputeConfig, wire.ComputeConfig>>;
  DistributionType: Must<Agree<typeof dispersions.DistributionType, wire.DistributionType>>;
  SubmissionResponse: Must<Agree<typeof study.SubmissionResponse, wire.SubmissionResponse>>;
  Job: Must<Agree<typeof jobs.Job, wire.Job>>;
  JobResult: Must<Agree<typeof jobs.JobResult, wire.JobResult>>;
  JobHistory: Must<Agree<typeof jobs.JobHistory, wire.JobHistory>>;
  Batch: Must<Agree<typeof batches.Batch, wire.Batch>>;
  BatchStatusResponse: Must<Agree<typeof batches.BatchStatusResponse, wire.BatchStatusResponse>>;
  BatchResultsResponse: Must<Agree<typeof batches.BatchResultsResponse, wire.BatchResultsResponse>>;
  CancelRequest: Must<Agree<typeof batches.CancelRequest, wire.CancelRequest>>;
  Runner: Must<Agree<typeof runners.Runner, wire.Runner>>;
  RunnerListResponse: Must<Agree<typeof runners.RunnerListResponse, wire.RunnerListResponse>>;
  RegisterRequest: Must<Agree<typeof runners.RegisterRequest, wire.RegisterRequest>>;
  RegisterResponse: Must<Agree<typeof runners.RegisterResponse, wire.RegisterResponse>>;
  HeartbeatRequest: Must<Agree<typeof runners.HeartbeatRequest, wire.HeartbeatRequest>>;
  HeartbeatResponse: Must<Agree<typeof runners.HeartbeatResponse, wire.HeartbeatResponse>>;
  ClaimRequest: Must<Agree<typeof runners.ClaimRequest, wire.ClaimRequest>>;
  ClaimResponse: Must<Agree<typeof runners.ClaimResponse, wire.ClaimResponse>>;
  SignOffRequest: Must<Agree<typeof runners.SignOffRequest, wire.SignOffRequest>>;
  StartRequest: Must<Agree<typeof reports.StartRequest, wire.StartRequest>>;
  CompleteRequest: Must<Agree<typeof reports.CompleteRequest, wire.CompleteRequest>>;
  FailRequest: Must<Agree<typeof reports.FailRequest, wire.FailRequest>>;
  ReportsRequest: Must<Agree<typeof reports.ReportsRequest, wire.ReportsRequest>>;
  ReportsResponse: Must<Agree<typeof reports.ReportsResponse, wire.ReportsResponse>>;
  Problem: Must<Agree<typeof problem.Problem, wire.Problem>>;
  HealthResponse: Must<Agree<typeof problem.HealthResponse, wire.HealthResponse>>;
}

describe('the schemas and the wire types', () => {
  it('have the same names', () => {
    const source = readFileSync(join(packageRoot, 'src/domain/types.ts'), 'utf8');
    const wireNames = [...source.matchAll(/^export interface (\w+)/gm)].map((match) => match[1]!);
    expect(wireNames).to.have.length.above(30);
    expect(wireNames.filter((wireName) => !registry.has(wireName))).to.deep.equal([]);
  });
});

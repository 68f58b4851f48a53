/** The facts about a study that its runs do not say: the coordinator reads them. */
import type {
  AuditAnswer,
  Batch,
  BatchHistory,
  BatchStatus,
  CodeVersion,
  InputEffect,
  InputRead,
  Runner,
} from '../../contract/types.ts';

export interface EvidenceFacts {
  batch: Batch;
  history: BatchHistory;
  codeVersions: readonly CodeVersion[];
  /** The registered ones. */
  runners: readonly Runner[];
  audits: readonly (AuditAnswer & { status: BatchStatus })[];
  auditsOmitted: number;
  /** Whether each input was looked up, by its name. */
  read: ReadonlyMap<string, InputRead>;
  /** The effect of each input and the probe that shows it, by its name. */
  effects: ReadonlyMap<string, { effect: InputEffect; probe: string }>;
  /** When requirements were stated, by their names. */
  stated: ReadonlyMap<string, { runs_ended: number; at: string }>;
}

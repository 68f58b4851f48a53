/** Banner of a study whose limits were not really checked: the findings of `domain/limit-findings.ts`. */
import type { BatchStatusResponse, BatchSubmission } from '../../../src/contract/types.ts';
import { limitFindings } from '../../../src/domain/limit-findings.ts';
import { useRequest } from '../data/api.ts';

export function LimitBanner({ progress }: { progress: BatchStatusResponse }) {
  const { data } = useRequest<BatchSubmission>(`/batches/${progress.batch.id}/submission`);
  if (data === undefined) return null;
  const findings = limitFindings({
    earlyTermination: data.config.early_termination,
    variables: data.config.telemetry.variables,
    jobsByStatus: progress.jobs_by_status,
    telemetry: progress.telemetry,
  }).filter(({ severity }) => severity === 'doubtful');
  return findings.map(({ code, reason, remedy }) => (
    <div key={code} className="notice" role="alert" data-finding={code}>
      <strong>{reason}.</strong>
      <span>{remedy}</span>
    </div>
  ));
}

/** The question before a study is cancelled. */
import type { Batch } from '../../../src/contract/types.ts';
import { Ask } from '../parts/common.tsx';

export function CancelBatch({
  batch,
  onAnswer,
  onClose,
}: {
  batch: Batch;
  onAnswer: (reason: string | undefined) => void;
  onClose: () => void;
}) {
  return (
    <Ask
      title={`Cancel “${batch.name}”?`}
      reason="Why (optional)"
      action="Cancel the study"
      danger
      onAnswer={onAnswer}
      onClose={onClose}
    >
      <p>
        Runs that have not ended become Cancelled and running simulations are killed. This cannot be undone; results so
        far are kept.
      </p>
    </Ask>
  );
}

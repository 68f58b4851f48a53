/** The code that executed the runs of a study, in one line: its digest and commit, or that there are several. */
import type { BatchStatusResponse, CodeVersion, CodeVersionList } from '../../../src/contract/types.ts';
import { shortCode } from '../../../src/domain/code-name.ts';
import { useRequest } from '../data/api.ts';
import { useStudyVersion } from '../data/use-refresh.ts';

export function CodeLine({ progress: { batch } }: { progress: BatchStatusResponse }) {
  const version = useStudyVersion(batch);
  const { data = [] } = useRequest<CodeVersionList>(`/batches/${batch.id}/code-versions`, version);
  const [first, ...others] = data;
  if (first === undefined) return null;
  if (others.length > 0) {
    const parts = data.map((it) => `${nameOf(it)} (${it.runs} runs)`);
    return (
      <span className="small" data-code="several">
        <strong>Several versions of the code:</strong> {parts.join(', ')}
      </span>
    );
  }
  return (
    <span className="small soft" data-code="one">
      Code {first.digest === null ? 'not known' : <code>{shortCode(first.digest)}</code>}
      {commitOf(first)}
      {first.note === undefined ? '' : ` (${first.note})`}
    </span>
  );
}

const nameOf = ({ digest }: CodeVersion): string => (digest === null ? 'not known' : shortCode(digest));

/** `, commit v1.2-3-gabc, with changes`. */
function commitOf({ git }: CodeVersion): string {
  if (git === undefined) return '';
  const state = git.dirty === true ? ', with changes' : git.dirty === null ? ', changes not known' : '';
  return `, commit ${git.describe ?? git.commit.slice(0, 12)}${state}`;
}

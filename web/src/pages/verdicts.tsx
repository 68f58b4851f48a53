/** The verdicts on the requirements of a study, live: a card each, with its sentence and what would settle it. */
import { useRef } from 'react';
import type { BatchStatusResponse, RequirementVerdict } from '../../../src/contract/types.ts';
import { count, figure } from '../parts/time.tsx';

export function Verdicts({ progress }: { progress: BatchStatusResponse }) {
  // Between the end of a study and its last verdict there is none: the one before stays.
  const latest = useRef<RequirementVerdict[]>([]);
  latest.current = progress.requirements ?? latest.current;
  if (latest.current.length === 0) return null;
  return (
    <section className="verdicts" aria-label="Requirements" aria-live="polite">
      {latest.current.map((it) => (
        <Verdict key={it.name} requirement={it} />
      ))}
    </section>
  );
}

const WORDS: Record<RequirementVerdict['verdict'], string> = {
  met: 'met',
  violated: 'violated',
  'not-shown': 'not shown',
  open: 'open',
};

function Verdict({ requirement: it }: { requirement: RequirementVerdict }) {
  return (
    <article className={`verdict v-${it.verdict}`} data-verdict={it.verdict} aria-label={`Requirement ${it.name}`}>
      <header>
        <strong className="clip" title={it.name}>
          {it.name}
        </strong>
        <span className="word">{WORDS[it.verdict]}</span>
      </header>
      <p>{it.sentence}</p>
      <dl className="small">
        <Figure name="Bounds" value={`${figure(it.lower)} to ${figure(it.upper)}`} />
        <Figure name="Clean runs still needed" value={it.needed_clean_runs} />
        <Figure name="Failures left" value={it.failures_left} />
        <Figure name="Further clean runs" value={it.more_clean_runs} />
        <Figure name="Settled at run" value={it.settled_at_run_id} />
      </dl>
      {it.warnings.map(({ code, message }) => (
        <p key={code} className="small soft">
          {message}
        </p>
      ))}
    </article>
  );
}

function Figure({ name, value }: { name: string; value: string | number | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{typeof value === 'number' ? count(value) : value}</dd>
    </div>
  );
}

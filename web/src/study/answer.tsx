/** The answer about a study: the first line of its page, in the colour of its level, and the next steps. */
import { useEffect, useState } from 'react';
import type { BatchStatusResponse, StudyAnswer } from '../../../src/contract/types.ts';
import { Command } from '../parts/common.tsx';
import { here as endpoint } from '../parts/here.ts';
import { hrefOf } from '../router.ts';
import { useAnswer } from '../data/use-answer.ts';

/** The answer as it is now; the one before while a newer one is computed. */
export function useStudyAnswer(progress: BatchStatusResponse | undefined): StudyAnswer | undefined {
  // A study that has ended may wait for a study that was submitted with it.
  const [isOpen, setOpen] = useState(false);
  const { data } = useAnswer<StudyAnswer>(progress, progress === undefined ? undefined : 'answer', isOpen);
  useEffect(() => setOpen(data?.level === 'running'), [data]);
  return data;
}

export function Answer({ batchId, answer }: { batchId: string; answer: StudyAnswer | undefined }) {
  const [command, setCommand] = useState<string>();
  if (answer === undefined) return <p className="answer">…</p>;
  const here = hrefOf(['batches', batchId]);
  return (
    <section aria-label="Answer">
      <p className={`answer l-${answer.level}`} role="status" title={answer.reasons.join('\n')}>
        {answer.sentence}
      </p>
      <div className="row next-steps" role="group" aria-label="Next steps">
        {answer.next.map(({ label, action: { page, command: text } }) => {
          const href = page.slice(1);
          // A step on this very page is shown as its command.
          return href === here ? (
            <button
              key={label}
              type="button"
              className="chip"
              title={text}
              aria-expanded={command === text}
              onClick={() => setCommand(command === text ? undefined : text)}
            >
              {label}
            </button>
          ) : (
            <a key={label} className="chip" href={href} title={text}>
              {label}
            </a>
          );
        })}
      </div>
      {command !== undefined && <Command text={`${command} ${endpoint()}`} />}
    </section>
  );
}

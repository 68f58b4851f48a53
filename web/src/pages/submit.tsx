/** Submission of a study: as a form or a file, with its faults in place, and a preview of its design. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { stringifyExact } from '../../../src/base/json/json-writing.ts';
import type { BatchSubmission, Fault, SubmissionResponse } from '../../../src/contract/types.ts';
import { selectedRuns } from '../../../src/domain/runs/run-selection.ts';
import { cellsOf, combinationsOf } from '../../../src/domain/scenarios/cells.ts';
import { post, RequestError } from '../data/api.ts';
import { Failure, Panel } from '../parts/common.tsx';
import { OpenFile } from '../parts/open-file.tsx';
import { count } from '../parts/time.tsx';
import { go, hrefOf } from '../router.ts';
import { FormContext } from '../submit/fields.tsx';
import { StudyForm } from '../submit/form.tsx';
import { Plan } from '../submit/plan.tsx';
import { Preview } from '../submit/preview.tsx';
import { faultsOf, isAdaptive, isOfCells, NEW_STUDY } from '../submit/study.ts';

type View = 'form' | 'file';

export default function SubmitPage() {
  const [study, setStudy] = useState<BatchSubmission>(NEW_STUDY);
  const [view, setView] = useState<View>('form');
  const [refused, setRefused] = useState<{ message: string; faults: readonly Fault[] }>();
  const [isTried, setTried] = useState(false);
  const [isSending, setSending] = useState(false);
  const found = useMemo(() => faultsOf(study), [study]);
  // Before the first attempt to submit, an empty field is not a fault.
  const faults = refused?.faults.length
    ? refused.faults
    : isTried
      ? found
      : found.filter((it) => it.pointer !== '/name' && it.pointer !== '/config/simulation/name');
  const size = useMemo(() => (found.some(isOfCells) ? undefined : sizeOf(study)), [study, found]);
  const runs = size?.runs;
  const submit = async (): Promise<void> => {
    setTried(true);
    if (found.length > 0) return;
    setSending(true);
    try {
      const { data } = await post<SubmissionResponse>('/jobs', stringifyExact(study), {
        'Idempotency-Key': keyOf(study),
      });
      go(hrefOf(['batches', data.batch_id]));
    } catch (error) {
      setRefused({ message: (error as Error).message, faults: error instanceof RequestError ? error.faults : [] });
    } finally {
      setSending(false);
    }
  };
  const change = (next: BatchSubmission): void => {
    setRefused(undefined);
    setStudy(next);
  };
  return (
    <>
      <div className="head">
        <h1 className="grow">Submit a study</h1>
        <OpenFile
          label="Open a file …"
          accept=".yaml,.yml,.json"
          failing="The file could not be read."
          onOpen={async (text) => {
            change(await parse(text));
            setTried(true);
          }}
        />
        <div className="row" role="group" aria-label="Show as">
          {(['form', 'file'] as const).map((it) => (
            <button key={it} type="button" className="chip" aria-pressed={view === it} onClick={() => setView(it)}>
              {it === 'form' ? 'Form' : 'YAML'}
            </button>
          ))}
        </div>
      </div>
      <Failure what="The study was not accepted." detail={refused?.message} />
      <div className="columns submit">
        <div className="stack">
          {view === 'file' ? (
            <AsFile study={study} onChange={change} faults={faults} />
          ) : (
            <FormContext.Provider value={{ study, faults, change }}>
              <StudyForm />
            </FormContext.Provider>
          )}
          {size !== undefined && <CellCount size={size} />}
          {size !== undefined && !isAdaptive(study) && <Plan study={study} runs={size.runs} cells={size.cells} />}
          <div className="row">
            <button type="button" className="primary" disabled={isSending} onClick={() => void submit()}>
              Submit {isAdaptive(study) && 'up to '}
              {runs === undefined ? '' : count(runs)} runs
            </button>
            {isTried && faults.length > 0 && (
              <span className="fault" role="alert">
                {faults.length === 1 ? 'One field needs a look.' : `${faults.length} fields need a look.`}
              </span>
            )}
          </div>
        </div>
        <Preview
          config={study.config}
          hasFaults={found.some(
            (it) =>
              isOfCells(it) ||
              it.pointer.startsWith('/config/dispersions') ||
              it.pointer.startsWith('/config/monte_carlo'),
          )}
        />
      </div>
    </>
  );
}

const keys = new WeakMap<BatchSubmission, string>();

/** Makes a repeated submission (a second click, a lost answer) create one study only. */
function keyOf(study: BatchSubmission): string {
  const key =
    keys.get(study) ??
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (it) => it.toString(16).padStart(2, '0')).join('');
  keys.set(study, key);
  return key;
}

async function parse(text: string): Promise<BatchSubmission> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { intAsBigInt: false, prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(error.message);
  const value = document.toJS({ maxAliasCount: 100 }) as BatchSubmission | null;
  const config = value?.config as Partial<BatchSubmission['config']> | undefined;
  const missing = ['simulation', 'monte_carlo', 'dispersions', 'compute', 'early_termination', 'telemetry'].filter(
    (it) => typeof config?.[it as keyof typeof config] !== 'object' || config[it as keyof typeof config] === null,
  );
  if (missing.length > 0) throw new Error(`This is not a complete study: config needs ${missing.join(', ')}.`);
  return value as BatchSubmission;
}

function AsFile({
  study,
  onChange,
  faults,
}: {
  study: BatchSubmission;
  onChange: (study: BatchSubmission) => void;
  faults: readonly Fault[];
}) {
  const [text, setText] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const shown = useRef<BatchSubmission>(undefined);
  useEffect(() => {
    if (shown.current === study) return;
    shown.current = study;
    void import('yaml').then(({ stringify }) => setText(stringify(study)));
  }, [study]);
  const typed = (next: string): void => {
    setText(next);
    parse(next).then(
      (value) => {
        shown.current = value;
        setFailure(undefined);
        return onChange(value);
      },
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <Panel title="Study file">
      <div className="stack">
        <label>
          <span className="visually-hidden">Study as YAML</span>
          <textarea
            className="mono source-edit"
            spellCheck={false}
            value={text ?? ''}
            aria-invalid={failure !== undefined}
            onChange={(event) => typed(event.target.value)}
          />
        </label>
        {failure !== undefined && <pre className="fault message-text">{failure}</pre>}
        {faults.map((it) => (
          <p key={it.pointer + it.detail} className="fault">
            <code>{it.pointer}</code> {it.detail}
          </p>
        ))}
      </div>
    </Panel>
  );
}

interface Size {
  /** Runs of all cells. */
  runs: number;
  /** 1 without scenarios. */
  cells: number;
  skipped: number;
  hasCells: boolean;
}

/** How many runs and cells the study would have; undefined while that cannot be known. Expects no fault of its cells. */
function sizeOf({ config, runs_override: cap }: BatchSubmission): Size | undefined {
  if (!Number.isInteger(config.monte_carlo.runs)) return undefined;
  try {
    const cells = cellsOf(config);
    const skipped = cells === undefined ? 0 : combinationsOf(cells.axes) - cells.count;
    const runs = selectedRuns(config, cap ?? undefined).count;
    return { runs, cells: cells?.count ?? 1, skipped, hasCells: cells !== undefined };
  } catch {
    // The fault of the selection is shown at its field.
    return undefined;
  }
}

/** The cells of a study with scenarios, and the runs of each. */
function CellCount({ size: { runs, cells, skipped, hasCells } }: { size: Size }) {
  if (!hasCells) return null;
  const each = runs % cells === 0 ? `, ${count(runs / cells)} runs in each` : '';
  return (
    <p role="status">
      <strong>
        {count(cells)} {cells === 1 ? 'cell' : 'cells'}
      </strong>
      {skipped > 0 && ` (${count(skipped)} skipped)`}
      {each}: {count(runs)} runs.
    </p>
  );
}

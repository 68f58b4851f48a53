/** The palette: Ctrl-K opens a search over pages, studies, runs, runners and actions; the list of keys opens with `?`. */
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { Batch, RunnerListResponse } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { useRequest } from '../data/api.ts';
import { Dialog } from '../parts/common.tsx';
import { go, hrefOf, useRoute } from '../router.ts';
import { choose } from '../theme.ts';
import { useKeys } from './keys.ts';

interface Entry {
  name: string;
  kind: 'Page' | 'Inspect' | 'Study' | 'Run' | 'Runner' | 'Action';
  run: () => void;
}

const PAGES: readonly (readonly [name: string, href: string])[] = [
  ['Studies', hrefOf(['batches'])],
  ['Pool', hrefOf(['runners'])],
  ['Inspector', hrefOf(['inspect'])],
  ['Statecharts', hrefOf(['machines'])],
  ['Submit a study', hrefOf(['submit'])],
];
const TABS = ['overview', 'runs', 'explore', 'compare', 'study'];
const SHOWN = 12;

export function Keys() {
  const [open, setOpen] = useState<'palette' | 'help'>();
  useKeys({ palette: () => setOpen('palette'), help: () => setOpen('help') });
  return (
    <>
      <button type="button" className="quiet search-button" title="Search (Ctrl K)" onClick={() => setOpen('palette')}>
        Search <kbd>Ctrl K</kbd>
      </button>
      {open === 'palette' && <Palette onClose={() => setOpen(undefined)} />}
      {open === 'help' && <Help onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** The entries of a text: every word of it occurs in the name. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ name }: Entry): number => (name.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return entries
    .filter(({ name, kind }) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)))
    .sort((a, b) => rank(a) - rank(b));
}

function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const entries = useEntries(text);
  const found = useMemo(() => matching(entries, text.replace(/^#\d+\s*/, '')).slice(0, SHOWN), [entries, text]);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);
  const pick = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <dialog ref={dialog} className="palette" aria-label="Search" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
        aria-label="Search studies, runs, runners, pages"
        placeholder="A study, a runner, a page; #17 for a run of this study, NAME #17 for one of another"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setAt((chosen + step + found.length) % Math.max(1, found.length));
          }
          if (event.key === 'Enter') pick(found[chosen]);
        }}
      />
      <ul id={id} role="listbox" aria-label="Found">
        {found.map((it, index) => (
          <li
            key={`${it.kind} ${it.name} ${index}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => pick(it)}
          >
            <span className="clip">{it.name}</span>
            <span className="small soft">{it.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="empty">Nothing matches.</p>}
    </dialog>
  );
}

function useEntries(text: string): Entry[] {
  const { path } = useRoute();
  const studies = useRequest<Batch[]>('/batches').data;
  const pool = useRequest<RunnerListResponse>('/runners').data;
  const here = studyOf(path);
  const run = /^#?(\d+)/.exec(text)?.[1];
  const elsewhere = /^\S.*#(\d+)\s*$/.exec(text)?.[1];
  return useMemo(() => {
    const link = (kind: Entry['kind'], name: string, href: string): Entry => ({ kind, name, run: () => go(href) });
    const isRun = run !== undefined && here !== undefined && Number(run) < 2 ** 32 - 1;
    return [
      ...(isRun
        ? [
            link('Run', `${run} of this study`, hrefOf(['jobs', jobId(here, Number(run))])),
            link('Inspect', `Inspect ${run} of this study`, hrefOf(['inspect', 'job', jobId(here, Number(run))])),
          ]
        : []),
      ...(elsewhere === undefined || Number(elsewhere) >= 2 ** 32 - 1
        ? []
        : (studies ?? []).toReversed().flatMap((it) => {
            const id = jobId(it.id, Number(elsewhere));
            const name = `${it.name} #${elsewhere}`;
            return [
              link('Inspect', `Inspect ${name}`, hrefOf(['inspect', 'job', id])),
              link('Run', name, hrefOf(['jobs', id])),
            ];
          })),
      ...(here === undefined
        ? []
        : TABS.map((tab) => link('Page', `This study: ${tab}`, hrefOf(['batches', here, tab])))),
      ...PAGES.map(([name, href]) => link('Page', name, href)),
      ...(studies ?? [])
        .toReversed()
        .flatMap((it) => [
          link('Study', `${it.name} (${it.id.slice(0, 13)})`, hrefOf(['batches', it.id])),
          link('Inspect', `Inspect ${it.name} (${it.id.slice(0, 13)})`, hrefOf(['inspect', 'batch', it.id])),
        ]),
      ...(pool?.runners ?? []).flatMap((it) => {
        const name = it.name === it.id ? it.id : `${it.name} (${it.id})`;
        return [
          link('Runner', name, hrefOf(['runners', it.id])),
          link('Inspect', `Inspect ${name}`, hrefOf(['inspect', 'runner', it.id])),
        ];
      }),
      { kind: 'Action', name: 'Light colours', run: () => choose('light') },
      { kind: 'Action', name: 'Dark colours', run: () => choose('dark') },
      { kind: 'Action', name: 'Colours of the system', run: () => choose('system') },
    ];
  }, [studies, pool, here, run, elsewhere]);
}

/** The study of an address: of its page, of a run's page, or of the inspector. */
function studyOf([page, first = '', second = '']: readonly string[]): string | undefined {
  const run = page === 'jobs' ? first : page === 'inspect' && first === 'job' ? second : '';
  if (run !== '') return `${run.slice(0, 28)}00000000`;
  if (page === 'batches' && first !== '') return first;
  return page === 'inspect' && first === 'batch' && second !== '' ? second : undefined;
}

const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['Ctrl K', 'search over studies, runs, runners and pages'],
  ['f', 'go to the filter or search of the page'],
  ['j, k', 'next and previous row of a table'],
  ['Enter', 'open the row'],
  ['[, ]', 'the run before and after; the tab before and after'],
  ['?', 'this list'],
];

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="pairs">
        {KEYS.map(([key, meaning]) => (
          <div key={key} className="pair">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

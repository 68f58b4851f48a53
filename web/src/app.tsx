/** The shell around every page, and the mapping of addresses to pages. */
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { feed, useFeedState, useIsConnected } from './data/live.ts';
import { BASE_PATH } from './data/place.ts';
import { enterWith, leave, token, useIsTokenAsked } from './data/token.ts';
import { Ask, Command, Empty, Waiting } from './parts/common.tsx';
import { hrefOf, useRoute, type Route } from './router.ts';
import { Keys } from './keys/palette.tsx';
import { setTitle } from './title.ts';
import { choose, useChoice, type Choice } from './theme.ts';
import { BatchesPage } from './pages/batches.tsx';
import { StudyPage } from './study/page.tsx';
import { RunPage } from './pages/run.tsx';
import { RunnersPage } from './pool/page.tsx';
import { RunnerPage } from './pool/runner.tsx';

const SubmitPage = lazy(() => import('./pages/submit.tsx'));
const InspectorPage = lazy(() => import('./inspector/page.tsx'));
const MachinesPage = lazy(() => import('./pages/machines.tsx'));

const PAGES = [
  { path: 'batches', title: 'Studies' },
  { path: 'runners', title: 'Pool' },
  { path: 'inspect', title: 'Inspector' },
  { path: 'submit', title: 'Submit' },
] as const;

const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text));

function pageOf({ path, query }: Route): ReactNode {
  const [page, id, tab] = path;
  if (page === 'batches' && id === undefined) return <BatchesPage query={query} />;
  if (page === 'batches' && id !== undefined)
    return <StudyPage key={id} batchId={id} tab={tab ?? 'overview'} query={query} />;
  if (page === 'jobs' && id !== undefined) return <RunPage key={id} jobId={id} />;
  if (page === 'runners' && id !== undefined) return <RunnerPage key={id} runnerId={id} />;
  if (page === 'runners') return <RunnersPage query={query} />;
  if (page === 'inspect')
    return <InspectorPage kind={id ?? 'supervisor'} id={tab} attempt={numberOf(query.get('attempt'))} />;
  if (page === 'machines') return <MachinesPage kind={id ?? 'job'} study={query.get('study') ?? undefined} />;
  if (page === 'submit') return <SubmitPage />;
  return (
    <section className="panel">
      <Empty title="There is no such page.">
        <a href={hrefOf(['batches'])}>Go to the studies</a>
      </Empty>
    </section>
  );
}

export function App() {
  const route = useRoute();
  const page = { jobs: 'batches', machines: 'inspect' }[route.path[0] ?? ''] ?? route.path[0];
  const main = useRef<HTMLElement>(null);
  const isConnected = useIsConnected();
  useEffect(() => {
    // A study and a run set their own.
    if (route.path[1] === undefined || (page !== 'batches' && page !== 'jobs' && page !== 'inspect'))
      setTitle(PAGES.find((it) => it.path === page)?.title ?? 'simbatch');
  }, [page, route]);
  return (
    <>
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header className="bar">
        <a className="brand" href={hrefOf(['batches'])}>
          <img src={`${BASE_PATH}/icon.svg`} alt="" />
          simbatch
        </a>
        <nav aria-label="Pages">
          {PAGES.map((it) => (
            <a key={it.path} href={hrefOf([it.path])} aria-current={page === it.path ? 'page' : undefined}>
              {it.title}
            </a>
          ))}
          <a href={`${BASE_PATH}/docs/`}>API</a>
        </nav>
        <Keys />
        <FeedSign />
        <TokenSign />
        <ThemeChoice />
      </header>
      <main id="main" ref={main} tabIndex={-1} data-stale={isConnected ? undefined : 'true'}>
        {!isConnected && <Lost />}
        <Suspense fallback={<Waiting />}>{pageOf(route)}</Suspense>
      </main>
    </>
  );
}

/** The banner of a lost connection. */
function Lost() {
  const [since] = useState(Date.now());
  return (
    <div className="notice warn lost" role="alert">
      <strong>No connection to the coordinator since {LOST_AT.format(since)}.</strong>
      <span>This is the last known state; actions are off. The page tries again every few seconds.</span>
    </div>
  );
}

const LOST_AT = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const FEED_WORDS = {
  connecting: 'Connecting',
  open: 'Live',
  lost: 'Not connected: trying again',
  refused: 'Not connected: a token is needed',
} as const;

function FeedSign() {
  useEffect(() => feed.open(), []);
  const state = useFeedState();
  return (
    <span className="feed" data-state={state} role="status">
      <i aria-hidden="true" />
      {FEED_WORDS[state]}
    </span>
  );
}

/** Asks for a token where one is needed; shows a stored token and removes it on request. */
function TokenSign() {
  const isAsked = useIsTokenAsked();
  const [isOpen, setOpen] = useState(true);
  const kept = token() !== '';
  if (!isAsked) {
    return kept ? (
      <button type="button" className="quiet small" onClick={leave}>
        Forget token
      </button>
    ) : null;
  }
  return (
    <>
      <button type="button" className="primary" onClick={() => setOpen(true)}>
        Enter token
      </button>
      {isOpen && (
        <Ask
          title={kept ? 'This coordinator refused the token' : 'This coordinator requires a token'}
          reason="Token (kept until this tab is closed)"
          secret
          action="Use it"
          refusal="Not now"
          onAnswer={(value) => value !== undefined && enterWith(value)}
          onClose={() => setOpen(false)}
        >
          <p>
            To look, the scope read is enough; to submit and cancel, submit is needed; to drain, operate. The operator
            makes one on the coordinator's machine:
          </p>
          <Command text="simbatch token create --scope read,submit,operate --data-dir ./data" />
        </Ask>
      )}
    </>
  );
}

function ThemeChoice() {
  const choice = useChoice();
  return (
    <label>
      <span className="visually-hidden">Colours</span>
      <select value={choice} onChange={(event) => choose(event.target.value as Choice)}>
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

/** The telemetry of an ended run: plots from its file, which is read or opened here, with the band of the study on demand. */
import { useEffect, useMemo, useState } from 'react';
import { LIMITS } from '../../../src/contract/limits.ts';
import type { BatchSubmission, Job, JobResult, RunFiles, TelemetryBand } from '../../../src/contract/types.ts';
import { accepted, type Loaded } from '../data/api.ts';
import { readAddress } from '../data/run-files.ts';
import { answerTo } from '../data/use-answer.ts';
import { Failure, Panel, Waiting } from '../parts/common.tsx';
import { sizeText } from '../parts/size.ts';
import { brief, count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import type { Telemetry } from '../data/telemetry-file.ts';
import { marksOf } from './marks.ts';
import { fewAfter, VariablePlot } from './plot.tsx';

/** A band that is longer than the run by this factor is cut at the end of the run, unless it is wanted. */
const MUCH_LONGER = 1.1;
/** A first sample before this share of the axis is shortly after the zero. */
const NEAR_ZERO = 0.05;
/** A larger file is read on demand alone. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;

interface Props {
  job: Job;
  result: JobResult;
  submission: BatchSubmission | undefined;
}

type Read = () => Promise<ArrayBuffer>;

/** `files`: the list of the files of the run. */
export function TelemetryPanel({ files, ...run }: Props & { files: Loaded<RunFiles> }) {
  const { job, result } = run;
  const [opened, setOpened] = useState<Read>();
  const [failed, setFailed] = useState<Read>();
  const location = result.telemetry_data ?? '';
  const file = files.data?.files.find((it) => it.kind === 'telemetry' && location.endsWith(`/${it.path}`));
  const bytes = file?.bytes ?? Infinity;
  const isStored = file?.place === 'object-store';
  const isTooLarge = isStored && file.bytes !== undefined && file.bytes > LIMITS.relayedFileBytes;
  const isSent = files.data?.is_readable === true && file !== undefined && !isTooLarge;
  const sent = useMemo((): Read | undefined => {
    if (!isSent) return undefined;
    return async () => (await accepted(readAddress(job.id, file))).arrayBuffer();
  }, [isSent, job.id, file?.path, file?.place]);
  const read = opened ?? (bytes <= AT_ONCE_BYTES ? sent : undefined);
  const isAsking = files.data === undefined && files.error === undefined;
  return (
    <Panel title="Telemetry">
      <div className="stack">
        {isAsking && <Waiting what="Looking for the telemetry" />}
        {sent !== undefined && read === undefined && (
          <p>
            <button type="button" onClick={() => setOpened(() => sent)}>
              Read and plot {file?.bytes === undefined ? 'the file' : sizeText(file.bytes)}
            </button>
          </p>
        )}
        {!isAsking && (sent === undefined || (read !== undefined && read === failed)) && (
          <label className="field">
            <span className="soft">
              {sent === undefined && `${isTooLarge ? tooLarge(bytes) : isStored ? NOT_SERVED : onRunner(job)} `}
              To plot it, open it here, if this machine can read it: it is read by this page and goes nowhere.
            </span>
            <code className="path">{location}</code>
            <input
              type="file"
              accept=".parquet"
              onChange={(event) => {
                const chosen = event.target.files?.[0];
                if (chosen !== undefined) setOpened(() => () => chosen.arrayBuffer());
              }}
            />
          </label>
        )}
        {read !== undefined && <Plots read={read} onFailure={setFailed} {...run} />}
      </div>
    </Panel>
  );
}

const tooLarge = (bytes: number): string =>
  `The file is in an object store and has ${sizeText(bytes)}, more than the ${sizeText(LIMITS.relayedFileBytes)} that the coordinator reads for a page: download it below.`;
const NOT_SERVED = 'The file is in an object store that this coordinator does not read.';
const onRunner = (job: Job): string =>
  `The file is on the machine of ${job.assigned_runner ?? 'its runner'}, which does not send it now.`;

interface PlotsProps extends Props {
  read: Read;
  /** Called with the reading that failed. */
  onFailure: (set: () => Read) => void;
}

function Plots({ read, onFailure, job, result, submission }: PlotsProps) {
  const [telemetry, setTelemetry] = useState<Telemetry>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    let isLeft = false;
    setTelemetry(undefined);
    setFailure(undefined);
    Promise.all([read(), import('../data/telemetry-file.ts')])
      .then(([bytes, { telemetryIn }]) => telemetryIn(bytes))
      .then(
        (it) => (isLeft ? undefined : setTelemetry(it)),
        (error: Error) => {
          if (isLeft) return;
          setFailure(error.message);
          onFailure(() => read);
        },
      );
    return () => {
      isLeft = true;
    };
  }, [read, onFailure]);
  if (failure !== undefined) return <Failure what="The telemetry could not be read." detail={failure} />;
  if (telemetry === undefined) return <Waiting what="Reading the telemetry" />;
  return <Lines telemetry={telemetry} job={job} result={result} submission={submission} />;
}

function Lines({ telemetry, job, result, submission }: Props & { telemetry: Telemetry }) {
  const [band, setBand] = useState<TelemetryBand>();
  const [isWhole, setWhole] = useState(false);
  const { zeroSecs, span, lines } = telemetry;
  const end = band?.seconds.at(-1) ?? span[1];
  const to = isWhole ? Math.max(end, span[1]) : span[1];
  // A first sample shortly after the zero: the axis begins at 0.
  const from = span[0] > 0 && span[0] < to * NEAR_ZERO ? 0 : span[0];
  const shownSpan = useMemo(() => [from, to] as const, [from, to]);
  const marks = useMemo(
    () => new Map(lines.map(({ name }) => [name, marksOf(name, submission, result, zeroSecs)])),
    [lines, submission, result, zeroSecs],
  );
  const shown = lines.filter((it) => it.secs.length > 0);
  const thinned = shown.some((it) => it.samples > it.secs.length);
  return (
    <>
      <BandChoice batchId={job.batch_id} run={job.run_config.run_id} band={band} onBand={setBand} />
      {band !== undefined && end > span[1] * MUCH_LONGER && (
        <label className="small">
          <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.target.checked)} />
          Up to the end of the longest run, {brief(end)} s; this run ends at {brief(span[1])} s
        </label>
      )}
      <div className="telemetry-plots">
        {band !== undefined && band.read > 0 && <RunsLeft band={band} span={shownSpan} />}
        {shown.map((line) => (
          <VariablePlot
            key={line.name}
            line={line}
            span={shownSpan}
            marks={marks.get(line.name)!}
            band={band?.read === 0 ? undefined : band}
          />
        ))}
      </div>
      {shown.length < lines.length && (
        <p className="soft small">
          Without a value: {lines.flatMap((it) => (it.secs.length === 0 ? [it.name] : [])).join(', ')}
        </p>
      )}
      {thinned && (
        <p className="soft small">Of many samples the first, last, least and greatest of each part are drawn.</p>
      )}
    </>
  );
}

/** How many runs of the band are left at each time. */
function RunsLeft({
  band: { seconds, present, read },
  span: [from, to],
}: {
  band: TelemetryBand;
  span: readonly [number, number];
}) {
  const shown = useMemo(() => {
    const at = seconds.flatMap((it, index) => (it >= from && it <= to ? [index] : []));
    return { times: at.map((it) => seconds[it]!), runs: at.map((it) => present[it]!) };
  }, [seconds, present, from, to]);
  return (
    <TimeSeries
      label={`Runs of the band whose telemetry has not ended, over the time of the run, in seconds: ${count(read)} in all, ${count(shown.runs.at(-1) ?? 0)} at the end of the plot`}
      times={shown.times}
      across="seconds"
      height={140}
      most={read}
      series={[{ name: 'runs of the band that have not ended', colour: 'soft', values: shown.runs, fill: true }]}
    />
  );
}

/** The band is asked for on demand: it reads up to 64 files. */
function BandChoice({
  batchId,
  run,
  band,
  onBand,
}: {
  batchId: string;
  run: number;
  band: TelemetryBand | undefined;
  onBand: (band: TelemetryBand) => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (!isAsked) return undefined;
    const abort = new AbortController();
    answerTo<TelemetryBand>(`/batches/${batchId}/telemetry-band?without=${run}`, abort.signal).then(
      (it) => {
        onBand(it);
        setAsked(false);
      },
      (error: Error) => {
        if (abort.signal.aborted) return;
        setFailure(error.message);
        setAsked(false);
      },
    );
    return () => abort.abort();
  }, [isAsked, batchId, run, onBand]);
  const again = band !== undefined && band.unread.length > 0;
  return (
    <>
      <Failure what="The band could not be read." detail={failure} />
      {band !== undefined && <BandText band={band} />}
      {isAsked && <Waiting what="Reading the telemetry of up to 64 runs" />}
      {!isAsked && (band === undefined || again) && (
        <p>
          <button
            type="button"
            onClick={() => {
              setFailure(undefined);
              setAsked(true);
            }}
          >
            {again ? 'Read those again' : 'Compare with the other runs'}
          </button>
        </p>
      )}
    </>
  );
}

const REASONS = 3;

/** How many runs the band is made of, how they were drawn, and why others are missing. */
function BandText({
  band: { sentence, sampled, drawn_from: drawnFrom, of, prefix, unread, warnings, read, present, seconds },
}: {
  band: TelemetryBand;
}) {
  const isOpen = warnings.some(({ code }) => code === 'unfinished');
  const rest = unread.length - REASONS;
  return (
    <div className="small">
      <p>
        <strong>{`${sentence[0]!.toUpperCase()}${sentence.slice(1)}.`}</strong>{' '}
        <span className="soft">
          {sampled < drawnFrom ? `${count(sampled)} were drawn of the` : 'Of the'} {count(drawnFrom)} other runs that
          ended by themselves
          {isOpen ? `, among the first ${count(prefix.length)} of ${count(of)}, before the first open run` : ''}.
          Median, and P5 to P95, at each time over the runs that are left then
          {fewAfter({ runs: read, present }, seconds)}: a run that ends early is missing from there on.
        </span>
      </p>
      {unread.slice(0, REASONS).map((it) => (
        <p key={it.run_id} className="soft">
          Run {it.run_id}: {it.reason}
        </p>
      ))}
      {rest > 0 && <p className="soft">… and {count(rest)} more.</p>}
    </div>
  );
}

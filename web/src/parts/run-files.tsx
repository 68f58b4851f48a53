/** The files of a run: their list, with downloads and previews of text, tables and pictures. */
import { useEffect, useState, type ReactNode } from 'react';
import { LIMITS } from '../../../src/contract/limits.ts';
import type { RunFile, RunFiles as Listed, Uuid } from '../../../src/contract/types.ts';
import { accepted, type Loaded } from '../data/api.ts';
import { addressOf, readAddress } from '../data/run-files.ts';
import { Command, Failure, Panel, Waiting } from './common.tsx';
import { sizeText } from './size.ts';
import { ACTIONS, Table } from './table.tsx';

/** The beginning of a text that is shown. */
const TEXT_BYTES = 64 * 1024;
const ROWS = 20;

type Kind = 'text' | 'table' | 'picture' | 'parquet';

/** How a file is shown; undefined: not at all. Larger pictures and Parquet files are for download only. */
function kindOf({ path, bytes = 0 }: RunFile): Kind | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (extension === 'csv' || extension === 'tsv') return 'table';
  if (extension === 'png' && bytes <= LIMITS.relayedFileBytes) return 'picture';
  if (extension === 'parquet' && bytes <= LIMITS.relayedFileBytes) return 'parquet';
  return ['log', 'txt', 'json', 'md', 'yaml', 'yml', 'out'].includes(extension) ? 'text' : undefined;
}

export function RunFiles({ jobId, files: { data, error } }: { jobId: Uuid; files: Loaded<Listed> }) {
  const [shown, setShown] = useState<RunFile>();
  const [failure, setFailure] = useState<string>();
  const save = (file: RunFile): void => {
    saveFile(jobId, file).then(
      () => setFailure(undefined),
      (fault: Error) => setFailure(fault.message),
    );
  };
  if (error !== undefined) return <Failure what="The files could not be listed." detail={error.message} />;
  if (data === undefined) return <Waiting what="Listing the files" />;
  return (
    <Panel title="Files" flush>
      {data.files.length > 0 && (
        <Table label="Files" columns={['Path', { name: 'Kind', late: true }, { name: 'Size', right: true }, ACTIONS]}>
          {data.files.map((file) => (
            <tr key={file.path}>
              <td className="mono" title={file.address}>
                {file.path}
              </td>
              <td className="narrow-hide">{file.kind}</td>
              <td className="right nowrap">{file.bytes === undefined ? '–' : sizeText(file.bytes)}</td>
              <td>
                {data.is_readable && (
                  <span className="row">
                    {kindOf(file) !== undefined && (
                      <button type="button" aria-label={`Show ${file.path}`} onClick={() => setShown(file)}>
                        Show
                      </button>
                    )}
                    <button type="button" aria-label={`Download ${file.path}`} onClick={() => save(file)}>
                      Download
                    </button>
                  </span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div className="body stack">
        {!data.is_readable && data.files[0] !== undefined && <Command text={folderOf(data.files[0])} label="Folder" />}
        {data.notes.map((it) => (
          <p className="soft small" key={it}>
            {it}
          </p>
        ))}
      </div>
      <Failure what="The file could not be downloaded." detail={failure} />
      {shown !== undefined && <Preview key={shown.path} jobId={jobId} file={shown} />}
    </Panel>
  );
}

/** The output directory of the attempt, on its runner. */
const folderOf = ({ address, path }: RunFile): string => address.slice(0, -path.length);

function Preview({ jobId, file }: { jobId: Uuid; file: RunFile }) {
  const [content, setContent] = useState<ReactNode>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const abort = new AbortController();
    previewOf(jobId, file, abort.signal).then(setContent, (error: Error) => {
      if (!abort.signal.aborted) setFailure(error.message);
    });
    return () => abort.abort();
  }, [jobId, file]);
  if (failure !== undefined) return <Failure what={`${file.path} could not be shown.`} detail={failure} />;
  return (
    <section aria-label={file.path}>
      <h3 className="section mono">{file.path}</h3>
      {content ?? <Waiting what="Reading the file" />}
    </section>
  );
}

async function previewOf(jobId: Uuid, file: RunFile, signal: AbortSignal): Promise<ReactNode> {
  const kind = kindOf(file);
  if (kind === 'text' || kind === 'table') {
    // Without a size the beginning is asked for, which may be the whole file.
    const isLong = (file.bytes ?? Infinity) > TEXT_BYTES;
    // A log is read from its end, where the reason of a failure is.
    const fromEnd = kind === 'text' && file.path.endsWith('.log');
    const range = fromEnd ? `bytes=-${TEXT_BYTES}` : `bytes=0-${TEXT_BYTES - 1}`;
    const headers: Record<string, string> = isLong ? { range } : {};
    const response = await accepted(readAddress(jobId, file), { headers, signal });
    const text = await response.text();
    const size = Number(/\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0);
    const isCut = size > TEXT_BYTES;
    const note = isCut ? <p className="soft small">{fromEnd ? 'Its last' : 'Its first'} 64 KiB.</p> : undefined;
    return (
      <>
        {note}
        {kind === 'table' ? (
          <Cells text={text} separator={file.path.endsWith('.tsv') ? '\t' : ','} />
        ) : (
          <pre>{text}</pre>
        )}
      </>
    );
  }
  const blob = await (await accepted(readAddress(jobId, file), { signal })).blob();
  if (kind === 'picture') return <img src={await dataAddress(blob)} alt={file.path} />;
  const { parquetHead } = await import('../data/telemetry-file.ts');
  const rows = await parquetHead(await blob.arrayBuffer(), ROWS);
  const names = Object.keys(rows[0] ?? {});
  return <Rows names={names} rows={rows.map((row) => names.map((name) => String(row[name])))} />;
}

/** The first rows of a text with one separator; quoted fields may have it, and line breaks. */
function Cells({ text, separator }: { text: string; separator: string }) {
  const [names = [], ...rows] = fieldsOf(text, separator, ROWS + 1);
  return <Rows names={names} rows={rows} />;
}

function Rows({ names, rows }: { names: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <>
      <Table label="First rows" columns={[...names]}>
        {rows.map((row, at) => (
          <tr key={at}>
            {names.map((_, column) => (
              <td className="mono" key={column}>
                {row[column]}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {rows.length === ROWS && <p className="soft small">Its first {ROWS} rows.</p>}
    </>
  );
}

function fieldsOf(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const char = text[at]!;
    if (isQuoted && char === '"' && text[at + 1] === '"') field += text[++at]!;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (char === separator || char === '\n')) {
      row.push(field.replace(/\r$/, ''));
      field = '';
      if (char === '\n') {
        rows.push(row);
        row = [];
      }
    } else field += char;
  }
  if (rows.length < most && (field !== '' || row.length > 0)) rows.push([...row, field]);
  return rows;
}

function dataAddress(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error('The picture could not be read.')));
    // The server sends no picture type that a page would execute.
    reader.readAsDataURL(new Blob([blob], { type: 'image/png' }));
  });
}

/** Lets the browser save a file: a link could not carry the token. One in an object store has an address of its own. */
async function saveFile(jobId: Uuid, file: RunFile): Promise<void> {
  const link = document.createElement('a');
  if (file.place === 'object-store') {
    const response = await accepted(`${addressOf(jobId, file.path)}?redirect=false`);
    link.href = ((await response.json()) as { url: string }).url;
    link.rel = 'noreferrer';
    link.click();
    return;
  }
  const address = URL.createObjectURL(await (await accepted(addressOf(jobId, file.path))).blob());
  link.href = address;
  link.download = file.path.slice(file.path.lastIndexOf('/') + 1);
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

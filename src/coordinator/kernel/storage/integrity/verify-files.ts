/** Verifies the files of a data directory against their checksums, the group chain and the high-water mark. Read-only. */
import { inspectFiles, type Inspection } from '../leveldb/inspection.ts';
import { ChainCheck } from './group-chain.ts';
import { MARK_FILE, readMark, type Mark } from './high-water-mark.ts';

export interface VerifiedFiles extends Inspection {
  /** The high-water mark; undefined without a file. */
  mark: Mark | undefined;
}

export async function verifyFiles(
  directory: string,
  onProgress?: (done: number, total: number) => void,
): Promise<VerifiedFiles> {
  const chain = new ChainCheck();
  const inspection = await inspectFiles(directory, {
    onBatch: (batch) => chain.add(batch),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const mark = readMark(directory);
  if (mark === 'damaged') {
    inspection.faults.push({ file: MARK_FILE, problem: 'it is damaged' });
    return { ...inspection, mark: undefined };
  }
  // Where a file is missing or damaged, the end of the log is not known.
  if (mark !== undefined && inspection.faults.length === 0) compare(inspection, chain, mark);
  return { ...inspection, mark };
}

function compare(inspection: Inspection, chain: ChainCheck, mark: Mark): void {
  const { isEmpty, lastSequence, lastLog = 'the write-ahead log', faults, torn } = inspection;
  if (isEmpty) {
    faults.push({
      file: 'CURRENT',
      problem: `the file and all tables and logs are missing, and ${MARK_FILE} is there`,
    });
    return;
  }
  const lastNumber = chain.last?.number ?? mark.number;
  const end = torn === undefined ? 'its end is missing' : `it is damaged from byte ${torn.offset} to its end`;
  if (lastSequence < mark.sequence || lastNumber < mark.number) {
    const changes = mark.sequence - lastSequence;
    faults.push({
      file: lastLog,
      problem: `${end}: group ${mark.number} was written${changes > 0 ? `, and ${changes} changes are missing` : ''}`,
    });
    return;
  }
  const hash = chain.hashes.get(mark.number);
  if (hash !== undefined && hash !== mark.hash) {
    faults.push({
      file: lastLog,
      problem: `its group ${mark.number} has the hash ${hash}, and ${MARK_FILE} has ${mark.hash}`,
    });
  }
}

/**
 * The files of `--tls-cert` and `--tls-key`: read at the start and again while the server runs, so that a renewed certificate
 * is used without a restart. The server decides whether a certificate is valid.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CertificatePair } from '../../../../http/security/certificate.ts';
import type { Clock } from '../../../../base/clock.ts';

/**
 * Interval of reading the files. Their content is compared, not their times: renewals replace files, links to them, or links
 * to their folders, which no file watcher reports reliably. Reading two small files per minute costs nothing.
 */
const LOOK_MS = 60_000;

export interface CertificateLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface Renewal {
  /** Uses a pair for new connections, or throws and keeps the previous one. */
  take: (pair: CertificatePair) => void;
  world: Pick<Clock, 'after'>;
  log: CertificateLog;
}

export class CertificateFiles {
  readonly #paths: CertificatePair;
  #inUse: CertificatePair;
  #renewal: Renewal | undefined;
  #stopWatching = (): void => {};
  /** Reason why the files were rejected at the last read. Logged once, not every minute. */
  #trouble: string | undefined;

  /** Reads both files; throws the file system's errors. */
  constructor(paths: CertificatePair) {
    this.#paths = paths;
    this.#inUse = this.#read();
  }

  /** The pair in use. */
  get inUse(): CertificatePair {
    return this.#inUse;
  }

  /** Starts to watch the files; the returned function ends that. */
  keepFresh(renewal: Renewal): () => void {
    this.#renewal = renewal;
    this.#lookLater(renewal);
    return () => {
      this.#stopWatching();
      this.#renewal = undefined;
    };
  }

  /** Reads the files now, on the operator's request. Does nothing before `keepFresh`. */
  lookNow(): void {
    this.#trouble = undefined;
    if (this.#renewal !== undefined && !this.#look(this.#renewal)) {
      this.#renewal.log.info({ file: this.#paths.cert }, 'the certificate has not changed');
    }
  }

  #lookLater(renewal: Renewal): void {
    this.#stopWatching = renewal.world.after(LOOK_MS, () => {
      this.#look(renewal);
      this.#lookLater(renewal);
    });
  }

  /** Returns false when the files have not changed. */
  #look({ take, log }: Renewal): boolean {
    try {
      const found = this.#read();
      if (found.cert === this.#inUse.cert && found.key === this.#inUse.key) {
        this.#trouble = undefined;
        return false;
      }
      take(found);
      this.#inUse = found;
      this.#trouble = undefined;
      const { validTo } = new X509Certificate(found.cert);
      log.info({ file: this.#paths.cert, valid_to: validTo }, 'a renewed certificate is in use');
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#trouble) {
        log.error({ file: this.#paths.cert, reason: message }, 'the previous certificate stays in use');
      }
      this.#trouble = message;
    }
    return true;
  }

  #read(): CertificatePair {
    return { cert: readFileSync(this.#paths.cert, 'utf8'), key: readFileSync(this.#paths.key, 'utf8') };
  }
}

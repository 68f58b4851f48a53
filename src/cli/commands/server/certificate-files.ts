/**
 * The files behind `--tls-cert` and `--tls-key`: read at the start, and looked at again while the server runs, so that a
 * renewed certificate is taken up without a restart. Whether a certificate can be used is the server's to say.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CertificatePair } from '../../../http/security/certificate.ts';
import type { Clock } from '../../../base/clock.ts';

/**
 * How often the files are looked at. Their content is read, not their times: renewals replace files, links to them, or links
 * to their folders, for which no watching is reliable. Two small files a minute cost nothing.
 */
const LOOK_MS = 60_000;

export interface CertificateLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface Renewal {
  /** Takes up a pair for new connections, or throws and goes on with the one before. */
  take: (pair: CertificatePair) => void;
  world: Pick<Clock, 'after'>;
  log: CertificateLog;
}

export class CertificateFiles {
  readonly #paths: CertificatePair;
  #inUse: CertificatePair;
  #renewal: Renewal | undefined;
  #callOff = (): void => {};
  /** Why the files were not taken when they were last looked at. Told once, not every minute. */
  #trouble: string | undefined;

  /** Reads both; throws what the file system throws. */
  constructor(paths: CertificatePair) {
    this.#paths = paths;
    this.#inUse = this.#read();
  }

  /** What the server goes by: what was read at the start, or taken since. */
  get inUse(): CertificatePair {
    return this.#inUse;
  }

  /** Looks at the files from now on, until the function returned is called. */
  keepFresh(renewal: Renewal): () => void {
    this.#renewal = renewal;
    this.#lookLater(renewal);
    return () => {
      this.#callOff();
      this.#renewal = undefined;
    };
  }

  /** Looks now, for somebody who wants to know what comes of it. Does nothing before `keepFresh`. */
  lookNow(): void {
    this.#trouble = undefined;
    if (this.#renewal !== undefined && !this.#look(this.#renewal)) {
      this.#renewal.log.info({ file: this.#paths.cert }, 'the certificate has not changed');
    }
  }

  #lookLater(renewal: Renewal): void {
    this.#callOff = renewal.world.after(LOOK_MS, () => {
      this.#look(renewal);
      this.#lookLater(renewal);
    });
  }

  /** False when there was nothing new. */
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
        log.error({ file: this.#paths.cert, reason: message }, 'the certificate as it was goes on to be used');
      }
      this.#trouble = message;
    }
    return true;
  }

  #read(): CertificatePair {
    return { cert: readFileSync(this.#paths.cert, 'utf8'), key: readFileSync(this.#paths.key, 'utf8') };
  }
}

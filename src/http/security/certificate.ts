/** Checks a certificate and its key, at the start and at each renewal. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { SimbatchError } from '../../domain/errors.ts';

/** Both in PEM; the certificate is followed by its chain, if it has one. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/**
 * Calls `use` with a pair whose parts match. An error of `use` counts as a fault of the pair.
 * @throws SimbatchError `invalid-configuration` with the reason
 */
export function withUsable<T>(pair: CertificatePair, use: (pair: CertificatePair) => T): T {
  try {
    // Checked here, or the first client would be the one to notice an empty or foreign key.
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
      throw new Error('the key is not the key of the certificate');
    }
    return use(pair);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SimbatchError('invalid-configuration', `The certificate and its key cannot be used: ${why}.`, { cause });
  }
}

/** A certificate and its key: whether they can be used, before a server is made with them and whenever they are renewed. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { SimbatchError } from '../../domain/errors.ts';

/** Both in PEM; after the certificate its chain, if it has one. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/**
 * Calls `use` with a pair that fits together. What `use` throws is taken for a fault of the pair.
 * @throws SimbatchError `invalid-configuration` with one sentence that says why it cannot be used
 */
export function withUsable<T>(pair: CertificatePair, use: (pair: CertificatePair) => T): T {
  try {
    // An empty or foreign key would be noticed only by the first client.
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
      throw new Error('the key is not the key of the certificate');
    }
    return use(pair);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SimbatchError('invalid-configuration', `The certificate and its key cannot be used: ${why}.`, { cause });
  }
}

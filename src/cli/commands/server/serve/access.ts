/** Access to the coordinator: its tokens, a proxy that names users, and the audit log of what they did. */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../../../../base/clock.ts';
import { readTokens, Tokens } from '../../../../coordinator/kernel/storage/tokens.ts';
import type { Metrics } from '../../../../http/metrics.ts';
import { AllocationTokens } from '../../../../http/security/allocation-tokens.ts';
import { Audit } from '../../../../http/security/audit/audit.ts';
import { AuditLog } from '../../../../http/security/audit/audit-log.ts';
import { Access } from '../../../../http/security/auth.ts';
import { isLoopbackAddress } from '../../../../http/security/origin.ts';
import { trustedProxy, type TrustedProxy } from '../../../../http/security/proxy-user.ts';
import type { HttpOptions } from '../../../../http/server.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';

export interface AccessFlags {
  host: string;
  dataDir: string;
  trustUserHeader?: string;
  trustedProxy?: string[];
  allowUnauthenticated?: boolean;
  tlsCert?: string;
}

const isLoopback = ({ host }: AccessFlags): boolean => host === 'localhost' || isLoopbackAddress(host);

/** Without tokens every client that reaches the address may submit, cancel and read everything. */
export function refuseOpenDoor(flags: AccessFlags): void {
  if (isLoopback(flags) || flags.allowUnauthenticated === true) return;
  if (readTokens(resolve(flags.dataDir)) !== undefined) return;
  throw new Failure(
    EXIT.usage,
    `--host ${flags.host} can be reached by other machines without credentials: create a token first ` +
      '(simbatch token create), or add --allow-unauthenticated if open access is intended',
  );
}

/** @throws SimbatchError `invalid-configuration` for tokens, or an audit log, that are not as they were written */
export async function accessFor(
  flags: AccessFlags,
  log: Logger,
  metrics: Metrics,
): Promise<Required<Pick<HttpOptions, 'access' | 'allocationTokens' | 'audit'>>> {
  const now = (): number => systemClock.now();
  const tokens = new Tokens(resolve(flags.dataDir), now, (error) =>
    log.error({ reason: error.message }, 'the file of tokens cannot be used'),
  );
  if (tokens.areRequired && !isLoopback(flags) && flags.tlsCert === undefined) {
    log.warn('tokens and results travel unencrypted; use --tls-cert and --tls-key, or a proxy that encrypts');
  }
  const proxy = proxyOf(flags, tokens);
  const access = new Access({
    tokens,
    ...(proxy === undefined ? {} : { proxy }),
    isOpenWithoutTokens: isLoopback(flags) || flags.allowUnauthenticated === true,
    now,
    refused: (address, why) => {
      metrics.refusedCredentials();
      log.warn({ address, why }, 'refused credentials');
    },
  });
  const directory = resolve(flags.dataDir);
  const lines = new AuditLog({ directory, now, log });
  // Without tokens no client has a name. Where the first one comes later, the first action opens the log.
  if (tokens.areRequired) await lines.open();
  const audit = new Audit({ lines, clock: systemClock, log, isOn: () => tokens.areRequired });
  return { access, allocationTokens: new AllocationTokens(directory, tokens, systemClock), audit };
}

function proxyOf(
  { trustUserHeader: header, trustedProxy: ranges }: AccessFlags,
  tokens: Tokens,
): TrustedProxy | undefined {
  if (header === undefined && ranges === undefined) return undefined;
  if (header === undefined || ranges === undefined)
    throw new Failure(EXIT.usage, '--trust-user-header and --trusted-proxy belong together; one of them is missing');
  if (!tokens.areRequired)
    throw new Failure(
      EXIT.usage,
      '--trust-user-header needs tokens, since that of the proxy has the scopes of its users; create one (simbatch token create)',
    );
  return trustedProxy(header, ranges);
}

/** Revokes the tokens of allocations that have ended. */
import { ApiError } from '../../client/transport.ts';
import { isLive } from '../decision/usage.ts';
import type { Allocations } from '../state/allocations.ts';
import { runnerNameOf } from './observe.ts';
import type { CoordinatorPort, LauncherLog } from './ports.ts';

export interface RevokeParts {
  coordinator: Pick<CoordinatorPort, 'revokeTokens'>;
  allocations: Allocations;
  log: LauncherLog;
}

/**
 * Revokes all in one request, or each by itself when one of them belongs to another launch token: it is given up, and expires with the lifetime
 * of its allocation. Without an answer the next round tries again.
 */
export async function revokeEnded({ coordinator, allocations, log }: RevokeParts): Promise<void> {
  const ended = [...allocations.all()]
    .filter((it) => it.hasToken && !isLive(it))
    .map(({ context }) => ({ id: context.id, name: runnerNameOf(context) }));
  if (ended.length === 0) return;
  const revoke = async (these: readonly { id: string; name: string }[]): Promise<void> => {
    await coordinator.revokeTokens(these.map((it) => it.name));
    for (const { id } of these) allocations.noteToken(id, false);
  };
  try {
    await revoke(ended).catch(async (error: unknown) => {
      if (!isForbidden(error)) throw error;
      for (const one of ended) {
        await revoke([one]).catch((refusal: unknown) => {
          if (!isForbidden(refusal)) throw refusal;
          allocations.noteToken(one.id, false);
          log('warn', `the token of ${one.name} is not revoked and expires by itself: ${refusal.message}`);
        });
      }
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log('warn', `tokens cannot be revoked: ${why}; the next round tries again`);
  }
}

const isForbidden = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 403;

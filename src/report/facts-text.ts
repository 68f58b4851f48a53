/** Texts of facts in reports. Pure. */
import type { CodeVersion } from '../contract/types.ts';

/** `2026-03-01 12:00:00 UTC` of an ISO 8601 time. */
export const time = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** The commit of a code, and whether its files differ from it. */
export function commitText({ git }: CodeVersion): string {
  if (git === undefined) return '-';
  const state = git.dirty === null ? ', changes not known' : git.dirty ? ', with changes' : '';
  return `${git.describe ?? git.commit.slice(0, 12)}${state}`;
}

/** The verdict on a requirement as people read it. */
import type { Verdict } from '../contract/types.ts';

/** `not-shown`: more runs could show the requirement. `null`: nothing was judged. */
export const verdictWord = (verdict: Verdict | null): string =>
  verdict === 'not-shown' ? 'not enough runs' : (verdict ?? 'no verdict');

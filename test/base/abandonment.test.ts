import { expect } from 'chai';
import { Abandonment, type Abandoned } from '../../src/base/abandonment.ts';

/** A signal, and the function that aborts it. */
type Pair = [Abandoned, (reason: unknown) => void];

const KINDS: Record<string, () => Pair> = {
  Abandonment: () => {
    const it = new Abandonment();
    return [it, (reason) => it.abort(reason)];
  },
  AbortSignal: () => {
    const controller = new AbortController();
    return [controller.signal, (reason) => controller.abort(reason)];
  },
};

for (const [name, make] of Object.entries(KINDS)) {
  describe(`base/abandonment: ${name}`, () => {
    it('calls each listener once, and keeps the first reason', () => {
      const [signal, abort] = make();
      const calls: string[] = [];
      const first = (): unknown => calls.push('first');
      signal.addEventListener('abort', first, { once: true });
      signal.addEventListener('abort', first, { once: true });
      signal.addEventListener('abort', () => calls.push(`second, ${signal.aborted}`), { once: true });
      expect(signal.aborted).to.equal(false);
      abort('gone');
      abort('gone again');
      expect(calls).to.deep.equal(['first', 'second, true']);
      expect(signal.reason).to.equal('gone');
    });

    it('calls no listener that was removed, or added after the abort', () => {
      const [signal, abort] = make();
      const calls: string[] = [];
      const removed = (): unknown => calls.push('removed');
      signal.addEventListener('abort', removed);
      signal.addEventListener('abort', () => calls.push('kept'));
      signal.removeEventListener('abort', removed);
      const unknown = (): void => {};
      signal.removeEventListener('abort', unknown);
      abort('gone');
      signal.addEventListener('abort', () => calls.push('late'));
      expect(calls).to.deep.equal(['kept']);
    });

    it('does not call a listener that another listener has removed', () => {
      const [signal, abort] = make();
      const calls: string[] = [];
      const second = (): unknown => calls.push('second');
      signal.addEventListener('abort', function first() {
        calls.push('first');
        signal.removeEventListener('abort', first);
        signal.removeEventListener('abort', second);
      });
      signal.addEventListener('abort', second);
      signal.addEventListener('abort', () => calls.push('third'));
      abort('gone');
      expect(calls).to.deep.equal(['first', 'third']);
    });
  });
}

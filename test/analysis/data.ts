/** Reads the reference data of the analysis tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';

/** The parsed content of a file in `test/analysis/data/`. */
export function referenceData(file: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot, 'test/analysis/data', file), 'utf8'));
}

/** Asserts |found - expected| <= tolerance * |expected| (absolute where `scale` says so); null agrees with null only. */
export function expectClose(
  found: number | null,
  expected: number | null,
  tolerance: number,
  label: string,
  scale?: number,
): void {
  if (expected === null || found === null) {
    expect(found, label).to.equal(expected);
    return;
  }
  const allowed = tolerance * (scale ?? Math.abs(expected));
  if (!(Math.abs(found - expected) <= allowed)) expect(found, label).to.equal(expected);
}

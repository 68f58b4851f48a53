/** The API description in the hands of a linter. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/base/package.ts';
import { apiDescription } from '../../../src/http/openapi.ts';

const run = promisify(execFile);

describe('http/openapi: the linter', () => {
  it('passes the linter without a warning', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'simbatch-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(apiDescription()));
      // The linter takes the members of a tagged union for unevaluated; the test above validates the examples.
      // A round is a number, so that the paths below rounds/by-key are others.
      const rules = 'rules:\n  no-invalid-media-type-examples: off\n  no-ambiguous-paths: off\n';
      await writeFile(join(folder, 'redocly.yaml'), `extends: [recommended]\n${rules}`);
      const linter = join(packageRoot, 'node_modules/@redocly/cli/bin/cli.js');
      const { stdout, stderr } = await run(
        process.execPath,
        [linter, 'lint', file, '--config', join(folder, 'redocly.yaml'), '--format=json'],
        {
          cwd: folder,
          env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
        },
      ).catch((error: { stdout: string; stderr: string }) => error);
      const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { problems: { message: string }[] };
      expect(
        report.problems.map(({ message }) => message),
        stderr,
      ).to.deep.equal([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

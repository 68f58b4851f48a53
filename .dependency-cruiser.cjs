// The layers of ARCHITECTURE.md. Imports point down only. test/conventions/layers.test.ts runs this and asserts that the
// modules were really read: without the swc parser the check passes silently on nothing.
const nothingAbove = (name, from, above) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: above },
});
// The files of the contract that load no package: constants for the domain, the machines and the web pages.
const PLAIN_CONTRACT = '^src/contract/(enums|limits|patterns|live/close-codes|members/members)[.]ts$';
module.exports = {
  forbidden: [
    nothingAbove('base-is-the-bottom', '^src/base', '^(machines|bin|src/(?!base))'),
    nothingAbove('contract-knows-base-only', '^src/contract', '^(machines|bin|src/(?!base|contract))'),
    {
      name: 'contract-uses-typebox-only',
      severity: 'error',
      from: { path: '^src/contract', pathNot: '^src/contract/validation/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '^node_modules/typebox/',
      },
    },
    {
      name: 'contract-validation-uses-ajv-only',
      severity: 'error',
      from: { path: '^src/contract/validation/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '^node_modules/(typebox|ajv|ajv-formats)/',
      },
    },
    {
      name: 'contract-constants-have-no-packages',
      severity: 'error',
      from: { path: PLAIN_CONTRACT },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    nothingAbove('domain-knows-the-contract-and-base', '^src/domain', '^(machines|bin|src/(?!base|domain|contract))'),
    {
      name: 'domain-loads-no-schema',
      severity: 'error',
      from: { path: '^(src/domain|machines)' },
      to: { path: '^src/contract', pathNot: `${PLAIN_CONTRACT}|^src/contract/types` },
    },
    {
      name: 'domain-has-no-packages',
      severity: 'error',
      from: { path: '^src/domain' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'domain-does-no-io',
      severity: 'error',
      from: { path: '^src/domain' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      // The types of a question follow from its schemas.
      name: 'analysis-has-no-packages',
      severity: 'error',
      from: { path: '^src/analysis' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: '^node_modules/typebox/' },
    },
    {
      name: 'analysis-uses-typebox-in-questions-only',
      severity: 'error',
      from: { path: '^src/analysis', pathNot: '^src/analysis/questions?([.]ts$|/)' },
      to: { path: '^node_modules/typebox/' },
    },
    {
      name: 'analysis-does-no-io',
      severity: 'error',
      from: { path: '^src/analysis' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    nothingAbove(
      'analysis-knows-the-domain-only',
      '^src/analysis',
      '^(machines|bin|src/(?!base|contract|domain|analysis))',
    ),
    nothingAbove('machines-know-the-domain-only', '^machines', '^(bin|src/(?!base|contract|domain))'),
    // The list of questions is known by its types alone.
    nothingAbove(
      'client-knows-the-domain-only',
      '^src/client',
      '^(machines|bin|src/(?!base|contract|domain|client|analysis/questions[.]ts))',
    ),
    nothingAbove(
      'coordinator-is-below-http',
      '^src/coordinator',
      '^(bin|src/(http|runner|launcher|replay|cli|client))',
    ),
    nothingAbove('replay-needs-no-process', '^src/replay', '^(bin|src/(http|runner|cli|client))'),
    {
      // Koa's own types let an answer have any object as its body.
      name: 'koa-is-imported-by-the-application-only',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/http/application[.]ts$' },
      to: { path: '^node_modules/(@types/)?koa/' },
    },
    nothingAbove('http-is-below-cli', '^src/http', '^(bin|src/(runner|launcher|cli|client))'),
    // The runner is a program of its own. Of the machines it runs the attempt on its side and those of warm engines; the
    // others are the coordinator's state, which a runner learns from answers and never computes.
    nothingAbove(
      'runner-is-a-program-of-its-own',
      '^src/runner',
      '^(machines/(?!(?:attempt|warm/(?:engine|server))\\.ts)|bin|src/(coordinator|http|launcher|cli)/)',
    ),
    // The launcher is a client of the public API. Its own records are kept in a store like the coordinator's.
    nothingAbove(
      'launcher-is-a-program-of-its-own',
      '^src/launcher',
      '^(machines/(?!allocation)|bin|src/(coordinator/(?!kernel/storage/)|http|runner|replay|cli)/)',
    ),
    nothingAbove(
      'report-knows-answers-only',
      '^src/report',
      '^(machines|bin|src/(?!base|contract|domain|analysis|report))',
    ),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

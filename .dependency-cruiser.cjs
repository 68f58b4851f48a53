// The layers of ARCHITECTURE.md. Imports point down only. test/house/layers.test.ts runs this and asserts that the modules
// were really read: without the swc parser the check passes silently on nothing.
const nothingAbove = (name, from, above) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: above },
});
module.exports = {
  forbidden: [
    nothingAbove('domain-is-the-bottom', '^src/domain', '^(machines|bin|src/(?!domain))'),
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
    nothingAbove('machines-know-the-domain-only', '^machines', '^(bin|src/(?!domain))'),
    nothingAbove(
      'client-knows-the-domain-only',
      '^src/client',
      '^(machines|bin|src/(?!domain|client|package|exact-json))',
    ),
    nothingAbove('system-is-below-http', '^src/system', '^(bin|src/(http|runner|cli|client))'),
    nothingAbove('http-is-below-cli', '^src/http', '^(bin|src/(runner|cli|client))'),
    nothingAbove('runner-is-a-program-of-its-own', '^src/runner', '^(machines|bin|src/(system|http|cli)/)'),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-to-dev-dep',
      severity: 'error',
      from: { path: '^(src|machines|bin)' },
      to: { dependencyTypes: ['npm-dev'] },
    },
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

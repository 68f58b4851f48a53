/**
 * The two names of each environment variable: `SIMBATCH_NAME` for people, and `SVC_NAME`, that of the run contract, which the code reads.
 * The clients of simulations have the same rule: `clients/python/simbatch/_variables.py`, `clients/node/parameters.js`.
 */

/** The prefix of the run contract and of all settings. */
export const CONTRACT_PREFIX = 'SVC_';
export const PREFIX = 'SIMBATCH_';

/** Variables with no other name: the program that Python finds, the Node of a runner kit, and those of the tests and the development server. */
const ALONE: ReadonlySet<string> = new Set(
  ['HOME', 'NODE', 'DEV_PORT', 'REQUIRE_ALL', 'K8S_MINI', 'TEST_TALLIES', 'PROGRAM'].map((it) => `${PREFIX}${it}`),
);

/** True for a name that belongs to simbatch: no study sets it, and no simulation inherits it. */
export const isOwnVariable = (name: string): boolean => name.startsWith(CONTRACT_PREFIX) || isOtherName(name);

const isOtherName = (name: string): boolean => name.startsWith(PREFIX) && !ALONE.has(name);

/** The variables that a runner sets for each run: people are shown the names under which their simulation finds them. */
const OF_RUNS =
  /^(RUN_CONFIG|OUTPUT_DIR|ATTEMPT|CHECKPOINT_DIR|FUNCTION|TELEMETRY_URL|TELEMETRY_TOKEN|PARENT_DIR|PARENT_RESULT)$/;

/** The text with `SIMBATCH_PORT` for `SVC_PORT`, and so each setting. */
export const shownNames = (text: string): string =>
  text.replaceAll(/\bSVC_(\w+)/g, (whole, name: string) => (OF_RUNS.test(name) ? whole : `${PREFIX}${name}`));

/** A message about the value of a setting, with both of its names: the value may be that of either. */
export const bothNames = (text: string): string => text.replaceAll(/\bSVC_(\w+)/g, `${PREFIX}$1 or SVC_$1`);

/**
 * Gives each `SIMBATCH_NAME` in `env` the name `SVC_NAME`, under which it is read, also by processes that get this environment. An empty value
 * counts as unset.
 * @returns why the environment cannot be used: two names with different values; undefined when it can. Values may be secrets and are not in it
 */
export function useContractNames(env: Record<string, string | undefined>): string | undefined {
  const faults: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!isOtherName(name)) continue;
    const contract = `${CONTRACT_PREFIX}${name.slice(PREFIX.length)}`;
    const other = env[contract];
    if (value !== undefined && value !== '') {
      if (other !== undefined && other !== '' && other !== value) faults.push(`${name} and ${contract}`);
      else env[contract] = value;
    }
    delete env[name];
  }
  if (faults.length === 0) return undefined;
  return `the environment is ambiguous: ${faults.join(', ')} are two names of one setting and have different values; unset one of them`;
}

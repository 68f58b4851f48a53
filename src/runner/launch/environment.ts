/**
 * The environment of a simulation: an allow list of the runner's own variables, and an allow list of those that a study may
 * set. Variables such as PATH, LD_PRELOAD or PYTHONSTARTUP decide which code runs, so neither list is open by default.
 */
import { ALLOWED, matchesAny } from '../../domain/runner-settings.ts';
import { CONTRACT_PREFIX, isOwnVariable, PREFIX } from '../../base/text/variables.ts';

/** Variables of the runner that every simulation gets: paths, locale, and the libraries and devices of the machine. */
export const INHERITED: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'PYTHONPATH',
  'PYTHONHOME',
  'PYTHONUNBUFFERED',
  'PYTHONDONTWRITEBYTECODE',
  'VIRTUAL_ENV',
  'CONDA_*',
  'PYENV_*',
  'NODE_PATH',
  'OMP_*',
  'MKL_*',
  'OPENBLAS_*',
  'NUMEXPR_*',
  'NUMBA_*',
  'CUDA_*',
  'NVIDIA_*',
  'ROCR_*',
  'HIP_*',
];

/** The variables of the runner that simulations get: `INHERITED` and `further`, never one of simbatch. */
export function inheritedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  further: readonly string[] = [],
): Record<string, string> {
  const patterns = [...INHERITED, ...further];
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isOwnVariable(name) && matchesAny(name, patterns)) kept[name] = value;
  }
  return kept;
}

/**
 * Why `container.environment` cannot be applied, as a message with the name and the remedy; undefined when it can.
 * @param further what the operator allows besides `ALLOWED`.
 */
export function environmentFault(
  environment: Readonly<Record<string, string>> | null,
  further: readonly string[],
): string | undefined {
  const allowed = [...ALLOWED, ...further];
  for (const [name, value] of Object.entries(environment ?? {})) {
    const sets = `container.environment sets ${JSON.stringify(name)}`;
    if (isOwnVariable(name)) {
      const prefix = name.startsWith(PREFIX) ? PREFIX : CONTRACT_PREFIX;
      return `${sets}: names with ${prefix} are reserved for the runner; rename it`;
    }
    if (name === '' || /[=\0]/.test(name)) return `${sets}: no environment can hold this name; rename it`;
    if (value.includes('\0')) return `${sets}: its value has a zero byte; remove it`;
    if (!matchesAny(name, allowed)) {
      return `${sets}: this runner does not allow the name; use a name that begins with SIM_, or have the operator of the runner add it to environment_allowed`;
    }
  }
  return undefined;
}

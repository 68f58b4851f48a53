/** The distributions that the levels of scenarios give to the parameters of a study. Pure. */
import type { BatchConfig, DispersionConfig, DistributionType, Override } from '../../contract/types.ts';
import { axesOf, levelsOf } from './cells.ts';
import { scenariosOf } from './epistemic.ts';

type Design = Pick<BatchConfig, 'dispersions' | 'scenarios' | 'epistemic'>;

/** The distribution that an override is. */
export const distributionOf = (override: Override): DistributionType =>
  typeof override === 'number' ? { type: 'fixed', value: override } : override;

/** Every distribution that a parameter of the study has in a cell. */
export function allDistributions(config: Design): DistributionType[] {
  const { dispersions } = config;
  const scenarios = scenariosOf(config) ?? {};
  const declared = Object.values(dispersions).map((it) => it.distribution);
  const replaced = axesOf(scenarios).flatMap(({ name }) =>
    Object.values(levelsOf(scenarios, name)).flatMap((it) => Object.values(it).map(distributionOf)),
  );
  return [...declared, ...replaced];
}

/** The dispersions of all cells together: those of the study, and those that levels add, each as the first level has it. */
export function declaredDispersions(config: Design): Record<string, DispersionConfig> {
  const { dispersions } = config;
  const scenarios = scenariosOf(config);
  if (scenarios === undefined) return dispersions;
  const all = new Map(Object.entries(dispersions));
  for (const { name } of axesOf(scenarios))
    for (const overrides of Object.values(levelsOf(scenarios, name)))
      for (const [parameter, override] of Object.entries(overrides))
        if (!all.has(parameter)) all.set(parameter, { distribution: distributionOf(override), units: '' });
  return Object.fromEntries(all);
}

/** The distributions that levels give to a parameter, with the level as `site=andoya`. */
export function replacementsOf(
  config: Pick<BatchConfig, 'scenarios' | 'epistemic'>,
  parameter: string,
): { where: string; distribution: DistributionType }[] {
  const scenarios = scenariosOf(config) ?? {};
  return axesOf(scenarios).flatMap(({ name, levels }) =>
    levels.flatMap((level) => {
      const overrides = levelsOf(scenarios, name)[level]!;
      if (!Object.hasOwn(overrides, parameter)) return [];
      return [{ where: `${name}=${level}`, distribution: distributionOf(overrides[parameter]!) }];
    }),
  );
}

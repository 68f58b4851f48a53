/** Histograms of the parameters that vary and of the numeric outputs. */
import { given } from '../../base/given.ts';
import { StudyDistributions } from '../../contract/answers/outputs.ts';
import { integerQuery } from '../../contract/queries.ts';
import { distributions as histograms } from '../outputs/distributions.ts';
import { question } from '../question.ts';
import { inDeclaredOrder } from '../table/answered-study.ts';

type Declared = Record<string, { units?: string | null | undefined }>;
const unitsOf = (kind: string, declared: Declared): [string, string][] =>
  Object.entries(declared).flatMap(([name, { units }]) => (units ? [[`${kind}.${name}`, units]] : []));

export const distributions = question({
  name: 'distributions',
  operationId: 'getDistributions',
  summary: 'Read the histograms of a batch',
  description: 'Of each parameter that varies, with the failed runs in each bin, and of each numeric output.',
  query: {
    bins: integerQuery(
      1,
      200,
      'Bins of each histogram; without it twice the cube root of the number of values, at most 40.',
    ),
  },
  response: StudyDistributions,
  answer(study, { bins }) {
    const { config, outputs } = study.submission;
    const units = new Map([
      ...unitsOf('parameters', config?.dispersions ?? {}),
      ...unitsOf('outputs', { execution_secs: { units: 's' }, ...outputs }),
    ]);
    return histograms(inDeclaredOrder(study), { ...given({ bins }), units });
  },
});

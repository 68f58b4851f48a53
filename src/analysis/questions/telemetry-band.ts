/** Quantiles of the telemetry over the time of the run, from the files of a drawn sample of runs. */
import { TelemetryBand } from '../../contract/answers/band.ts';
import { INT32_MAX } from '../../contract/limits.ts';
import { integerQuery } from '../../contract/queries.ts';
import { telemetryBandOf } from '../band/telemetry.ts';
import { question } from '../question.ts';
import { drawnTelemetry } from '../table/answered-study.ts';

export const telemetryBand = question({
  name: 'telemetry-band',
  operationId: 'getTelemetryBand',
  summary: 'Read the band of the telemetry of a batch',
  description:
    'Median, P5 and P95 of each variable over the time of the run, from the telemetry files of up to 64 runs that can be read.',
  query: {
    without: integerQuery(0, INT32_MAX, 'The run that is to be compared with the band: it is left out of the sample.'),
  },
  response: TelemetryBand,
  isPooled: false,
  readsFiles: true,
  answer: async (study, { without }) => telemetryBandOf(study.table, await drawnTelemetry(study, { without })),
});

/** The band of one history over all runs of a study, or of a telemetry variable over a drawn sample of them. */
import { HistoryBand } from '../../contract/answers/band.ts';
import { CONFIDENCE, WHERE } from '../../contract/answers/queries.ts';
import { numbersQuery, shareQuery, textValue } from '../../contract/queries.ts';
import { BAND_DEFAULTS, historyBand } from '../band/history-band.ts';
import { question } from '../question.ts';

/** Each is up to three numbers a point. */
const MOST_QUANTILES = 20;

export const band = question({
  name: 'band',
  operationId: 'getBand',
  summary: 'Read the band of a history of a batch',
  description:
    'Quantiles with intervals, mean and extremes at each point over all runs, the tolerance band of whole curves, the runs that are farthest outside, and the limits on the variable.',
  query: {
    history: textValue('The name of a history of the study, or a telemetry variable.'),
    quantiles: numbersQuery(
      0,
      1,
      `The quantiles, from 0 to 1, at most ${MOST_QUANTILES}; ${BAND_DEFAULTS.quantiles.join(', ')} without it.`,
    ),
    ...CONFIDENCE,
    coverage: shareQuery('Share of future runs inside the tolerance band, between 0 and 1.', BAND_DEFAULTS.coverage),
    ...WHERE,
  },
  response: HistoryBand,
  readsFiles: true,
  check({ quantiles = [] }) {
    if (quantiles.length > MOST_QUANTILES)
      throw new RangeError(
        `the query parameter \`quantiles\` has ${quantiles.length} values: give at most ${MOST_QUANTILES}`,
      );
  },
  answer: historyBand,
});

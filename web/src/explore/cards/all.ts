/** The kinds of cards, in the order of the gallery. */
import { box } from './box.tsx';
import { convergence } from './convergence.tsx';
import { ecdf } from './ecdf.tsx';
import { footprint } from './footprint.tsx';
import type { CardKind } from './kind.ts';
import { matrix } from './matrix.tsx';
import { parallel } from './parallel.tsx';
import { response } from './response.tsx';
import { histories, statistics } from './tables.tsx';
import { tornado } from './tornado.tsx';

export const KINDS: readonly CardKind[] = [
  tornado,
  footprint,
  response,
  ecdf,
  matrix,
  convergence,
  box,
  parallel,
  histories,
  statistics,
];

/** Cards of a page at once. */
export const MOST_CARDS = 6;

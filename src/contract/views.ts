/** Named views of a study's plots, which the dashboard keeps with the study. */
import type { Static } from 'typebox';
import { answered, listOf, named, ref, submitted, text } from './build.ts';
import { LIMITS } from './limits.ts';
import { textQuery } from './queries.ts';
import { timestamp } from './scalars.ts';

const VIEW = {
  name: text('Its name, unique in the study.', { minLength: 1, maxLength: LIMITS.nameLength }),
  query: text(
    'Selection, variables, axes and colours, as the query of the address of the page; empty for the page as it opens.',
    {
      maxLength: LIMITS.viewQueryLength,
    },
  ),
};

export const ViewRequest = named('ViewRequest', 'A view to keep.', submitted(VIEW));
export type ViewRequest = Static<typeof ViewRequest>;

export const StudyView = named(
  'StudyView',
  'A named view of a study.',
  answered({ ...VIEW, kept_at: timestamp('When it was kept.') }),
);
export type StudyView = Static<typeof StudyView>;

export const ViewList = named(
  'ViewList',
  'The views of a study.',
  answered({ views: listOf(ref(StudyView), 'In order of their names.') }),
);
export type ViewList = Static<typeof ViewList>;

/** The record of the views of a study. */
export interface ViewsRecord {
  views: StudyView[];
}

export const VIEW_QUERY = {
  name: textQuery('The view to remove.'),
};

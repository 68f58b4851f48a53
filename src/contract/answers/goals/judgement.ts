/** The judgement of a study: its requirements, outputs and labels, as amended; and the request that amends it. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, mapOf, named, ref, submitted, text } from '../../build.ts';
import { STOP_RULES } from '../../enums.ts';
import { LIMITS } from '../../limits.ts';
import { LABEL_KEY_PATTERN } from '../../patterns.ts';
import { count, int32, timestamp, uuid } from '../../scalars.ts';
import { OutputDeclaration, Requirement, StatedAt, outputs, requirements } from './requirements.ts';

/** Free text by key. */
export const labels = mapOf(text('The value.', { maxLength: LIMITS.labelValueLength }), {
  description: 'Texts by key, by which batches are found: `GET /batches?label=campaign=2026-q4`.',
  maxProperties: LIMITS.labels,
  propertyNames: { type: 'string', pattern: LABEL_KEY_PATTERN },
});

export const JudgementRequest = named(
  'JudgementRequest',
  'An amendment. Each member replaces the whole of it; absent ones stay.',
  submitted({
    requirements: Type.Optional(requirements),
    outputs: Type.Optional(outputs),
    labels: Type.Optional(labels),
    revision: Type.Optional(
      int32('The revision that is amended: `judgement-changed` when another one is current. Absent: whichever is.'),
    ),
    stop_when: Type.Optional(
      enumOf(STOP_RULES, 'Always refused: the rule by which a study stops is fixed before its first run.'),
    ),
  }),
);
export type JudgementRequest = Static<typeof JudgementRequest>;

export const StatedRequirement = named(
  'StatedRequirement',
  'A requirement, and when it was stated.',
  answered({ ...Requirement.properties, stated_at: ref(StatedAt) }),
);
export type StatedRequirement = Static<typeof StatedRequirement>;

export const Judgement = named(
  'Judgement',
  'How the runs of a study are judged, named and found.',
  answered({
    batch_id: uuid('The batch.'),
    revision: count('0 as submitted; each amendment adds 1.'),
    requirements: listOf(ref(StatedRequirement), 'What the study is to show.'),
    outputs: mapOf(ref(OutputDeclaration), { description: 'Output name -> units and meaning.' }),
    labels: mapOf(text('The value.'), { description: 'Texts by key.' }),
    amended_at: Type.Optional(timestamp('When it was amended last; absent: never.')),
  }),
);
export type Judgement = Static<typeof Judgement>;

/** Of an amendment: the members that it changed. */
export const JudgementMembers = answered({
  requirements: Type.Optional(listOf(ref(Requirement), 'The requirements.')),
  outputs: Type.Optional(mapOf(ref(OutputDeclaration), { description: 'The outputs.' })),
  labels: Type.Optional(mapOf(text('The value.'), { description: 'The labels.' })),
});
export type JudgementMembers = Static<typeof JudgementMembers>;

/** Dispersions: the distribution each parameter of a run is drawn from. The members are those of the table in `base/distributions`. */
import { Type, type Static, type TSchema } from 'typebox';
import type { Distribution } from '../base/distributions/entry.ts';
import type { Member, MemberKinds } from '../base/distributions/members.ts';
import { DISTRIBUTIONS, type DistributionValue } from '../base/distributions/table.ts';
import { listOf, literal, mapOf, named, nullable, ref, submitted, tagged, text } from './build.ts';
import { LIMITS } from './limits.ts';
import { double, freeText, name } from './scalars.ts';

const WeightedValue = named(
  'WeightedValue',
  'One value of a discrete distribution.',
  submitted({ value: double('The value.'), weight: double('Its weight, > 0, in proportion to the others.') }),
);

/** The schema of each kind of member; ranges that depend on more than the member are checked by `domain/study/submission.ts`. */
const KINDS: Record<keyof MemberKinds, (member: Member) => TSchema> = {
  number: ({ description }) => double(description),
  numbers: ({ description, items }) => listOf(double('A number.'), description, items?.max),
  weighted: ({ description, items }) => listOf(ref(WeightedValue), description, items?.max),
};

function memberSchema(member: Member): TSchema {
  const schema = KINDS[member.kind](member);
  return member.optional ? Type.Optional(nullable(schema)) : schema;
}

const variants = Object.entries<Distribution>(DISTRIBUTIONS).map(([type, { summary, members }]) => {
  const properties = Object.entries(members).map(([member, described]) => [member, memberSchema(described)] as const);
  return named(
    `${type.charAt(0).toUpperCase()}${type.slice(1)}Distribution`,
    summary,
    submitted({ type: literal(type), ...Object.fromEntries(properties) }),
  );
});

export const DistributionType = named(
  'DistributionType',
  'A distribution; `type` says which, and with it which other members there are.',
  Type.Unsafe<DistributionValue>(tagged('type', ...variants)),
);
export type DistributionType = Static<typeof DistributionType>;

export const DispersionConfig = named(
  'DispersionConfig',
  'How one parameter varies between runs.',
  submitted({
    distribution: ref(DistributionType),
    units: freeText('The units of the parameter, for people; may be empty.'),
    source: Type.Optional(
      text(
        'Where the distribution comes from, for the evidence about the study: a measurement, a data sheet, a judgement.',
        {
          maxLength: LIMITS.sourceLength,
        },
      ),
    ),
  }),
);
export type DispersionConfig = Static<typeof DispersionConfig>;

export const dispersions = mapOf(ref(DispersionConfig), {
  description: 'Parameter name -> how it varies.',
  maxProperties: LIMITS.dispersions,
  propertyNames: { type: 'string', minLength: 1, maxLength: LIMITS.nameLength },
});

export const Correlation = named(
  'Correlation',
  'The rank correlation of two dispersions.',
  submitted({
    parameters: Type.Unsafe<[string, string]>(
      Type.Array(name('The name of a dispersion.'), {
        minItems: 2,
        maxItems: 2,
        description: 'Two different dispersions that use random numbers (not `fixed`, not `table`).',
      }),
    ),
    rank: double('The Spearman rank correlation, above -1 and below 1.'),
  }),
);
export type Correlation = Static<typeof Correlation>;

export const correlations = listOf(
  ref(Correlation),
  'Rank correlations between dispersions, each pair once. Joined by a Gaussian copula, so each distribution stays as it is.',
  LIMITS.correlations,
);

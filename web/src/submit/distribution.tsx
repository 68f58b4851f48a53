/** The fields of a distribution: its kind, and the members that the kind has. */
import type { Member } from '../../../src/base/distributions/members.ts';
import { DISTRIBUTIONS, DISTRIBUTION_KINDS } from '../../../src/base/distributions/table.ts';
import type { DistributionType } from '../../../src/contract/types.ts';
import { ListField, NUMBER_LIST, NumberField, WEIGHTED_LIST, useForm } from './fields.tsx';
import { memberAt, newDistribution, withMember } from './study.ts';

/** Only an adaptive study has parameters that its rows choose. */
export const DRAWN_KINDS = DISTRIBUTION_KINDS.filter((it) => it !== 'chosen');

interface Props {
  /** Of the distribution. */
  pointer: string;
  label: string;
  kinds: readonly DistributionType['type'][];
  /** A choice before the kinds: a number in place of a distribution. */
  number?: string;
}

export function DistributionFields({ pointer, label, kinds, number }: Props) {
  const { study, change, faults } = useForm();
  const value = memberAt(study, pointer);
  const isNumber = number !== undefined && (typeof value !== 'object' || value === null);
  const type = (value as DistributionType | undefined)?.type ?? 'normal';
  const members = Object.hasOwn(DISTRIBUTIONS, type) ? Object.entries<Member>(DISTRIBUTIONS[type].members) : [];
  const choose = (kind: string): unknown => (kind === number ? 0 : newDistribution(kind as DistributionType['type']));
  const own = [`${pointer}/type`, ...(isNumber ? [] : [pointer])];
  return (
    <>
      <label className="field">
        <span>{label}</span>
        <select
          value={isNumber ? number : type}
          onChange={(event) => change(withMember(study, pointer, choose(event.target.value)))}
        >
          {number !== undefined && <option>{number}</option>}
          {(type === 'chosen' ? DISTRIBUTION_KINDS : kinds).map((it) => (
            <option key={it}>{it}</option>
          ))}
        </select>
        {faults
          .filter((it) => own.includes(it.pointer))
          .map(({ detail }) => (
            <span key={detail} className="fault">
              {detail}
            </span>
          ))}
      </label>
      {isNumber ? (
        <NumberField pointer={pointer} label="value" />
      ) : (
        members.map(([it, member]) => (
          <MemberField key={`${type}${it}`} pointer={`${pointer}/${it}`} name={it} member={member} />
        ))
      )}
    </>
  );
}

/** The field of one member of a distribution, as its kind needs it. */
function MemberField({ pointer, name, member }: { pointer: string; name: string; member: Member }) {
  const label = name.replaceAll('_', ' ');
  switch (member.kind) {
    case 'number':
      return member.optional ? (
        <NumberField pointer={pointer} label={label} placeholder="none" empty={null} />
      ) : (
        <NumberField pointer={pointer} label={label} />
      );
    case 'numbers':
      return <ListField pointer={pointer} label={label} notation={NUMBER_LIST} />;
    case 'weighted':
      return <ListField pointer={pointer} label={label} notation={WEIGHTED_LIST} />;
  }
}

/** In which cells of scenarios a requirement holds, and the weights of their levels. */
import { CELL_RULES } from '../../../../src/contract/enums.ts';
import type { BatchSubmission } from '../../../../src/contract/types.ts';
import { ChoiceField, NumberField, useForm } from '../fields.tsx';
import { escaped, withMember } from '../study.ts';
import { axesIn } from './axes.ts';

/** Nothing for a study without scenarios whose requirement names no cells. */
export function RequiredIn({ at }: { at: number }) {
  const { study } = useForm();
  const rule = study.requirements?.[at]?.in;
  const axes = axesIn(study);
  if (axes.length === 0 && study.config.epistemic === undefined && rule === undefined) return null;
  const pointer = `/requirements/${at}`;
  const adjust = (next: BatchSubmission): BatchSubmission =>
    next.requirements?.[at]?.in === 'pooled' ? next : withMember(next, `${pointer}/weights`, undefined);
  return (
    <>
      <ChoiceField
        pointer={`${pointer}/in`}
        label="in cells"
        options={CELL_RULES}
        absent="each (default)"
        adjust={adjust}
      />
      {rule === 'pooled' &&
        axes.map(([name, levels]) => (
          <Weights key={name} pointer={`${pointer}/weights`} axis={name} levels={levels.map(([level]) => level)} />
        ))}
    </>
  );
}

/** `pointer`: of the weights of the requirement. */
function Weights({ pointer, axis, levels }: { pointer: string; axis: string; levels: readonly string[] }) {
  const { study, change, faults } = useForm();
  const at = Number(pointer.split('/')[2]);
  const weights = study.requirements?.[at]?.weights ?? {};
  const own = `${pointer}/${escaped(axis)}`;
  const isWeighted = Object.hasOwn(weights, axis);
  const toggle = (): void => {
    const { [axis]: _, ...others } = weights;
    const next = isWeighted ? others : { ...weights, [axis]: Object.fromEntries(levels.map((it) => [it, 1])) };
    change(withMember(study, pointer, Object.keys(next).length === 0 ? undefined : next));
  };
  const fault = faults.find((it) => it.pointer === own);
  return (
    <fieldset className="field weights">
      <legend>{axis}</legend>
      <label className="row">
        <input type="checkbox" checked={isWeighted} onChange={toggle} />
        with weights
      </label>
      {isWeighted &&
        levels.map((it) => <NumberField key={it} pointer={`${own}/${escaped(it)}`} label={it} empty={undefined} />)}
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
    </fieldset>
  );
}

/** The correlations of a study: pairs of parameters with the rank correlation wanted. */
import { Panel } from '../parts/common.tsx';
import { ChoiceField, NumberField, useForm } from './fields.tsx';
import { withMember } from './study.ts';

const POINTER = '/config/correlations';

export function Correlations() {
  const { study, change, faults } = useForm();
  const names = Object.keys(study.config.dispersions);
  const correlations = study.config.correlations ?? [];
  const set = (next: unknown[]): void => change(withMember(study, POINTER, next.length === 0 ? undefined : next));
  if (names.length < 2 && correlations.length === 0) return null;
  const fault = faults.find((it) => it.pointer === POINTER);
  return (
    <Panel
      title="Correlations"
      aside={
        <button
          type="button"
          onClick={() => set([...correlations, { parameters: [names[0] ?? '', names[1] ?? ''], rank: 0.5 }])}
        >
          Add a correlation
        </button>
      }
    >
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
      {correlations.length === 0 && <p className="soft">The parameters vary independently of each other.</p>}
      <div className="dispersions">
        {correlations.map((_, at) => (
          <fieldset key={at} className="dispersion">
            <legend className="visually-hidden">Correlation {at + 1}</legend>
            <ChoiceField pointer={`${POINTER}/${at}/parameters/0`} label="Parameter" options={names} verbatim />
            <ChoiceField pointer={`${POINTER}/${at}/parameters/1`} label="with" options={names} verbatim />
            <NumberField pointer={`${POINTER}/${at}/rank`} label="rank correlation" hint="-1 to 1" />
            <button
              type="button"
              className="quiet remove"
              aria-label={`Remove correlation ${at + 1}`}
              onClick={() => set(correlations.filter((__, index) => index !== at))}
            >
              ✕
            </button>
          </fieldset>
        ))}
      </div>
    </Panel>
  );
}

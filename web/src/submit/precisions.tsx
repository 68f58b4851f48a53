/** The precisions at which a study stops, as fields; they are there while it stops when it is precise. */
import { ListField, NUMBER_LIST, NumberField, TextField, useForm } from './fields.tsx';
import { Row } from './row.tsx';
import { withMember } from './study.ts';

const BOUNDS = { ...NUMBER_LIST, hint: 'least, greatest' };

export function Precisions() {
  const { study, change, faults } = useForm();
  const { stop_when: rule, precision = [] } = study.policy ?? {};
  const set = (next: unknown[]): void =>
    change(withMember(study, '/policy/precision', next.length === 0 ? undefined : next));
  if (rule !== 'precise' && precision.length === 0) return null;
  const fault = faults.find((it) => it.pointer === '/policy/precision');
  return (
    <div className="body">
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
      <div className="dispersions">
        {precision.map((__, at) => (
          <Row
            key={at}
            legend={`Precision ${at + 1}`}
            onRemove={() => set(precision.filter((___, index) => index !== at))}
          >
            <TextField pointer={`/policy/precision/${at}/output`} label="Output" hint="of metadata.json" />
            <TextField
              pointer={`/policy/precision/${at}/quantity`}
              label="quantity"
              hint="mean, probability, or as p95"
            />
            {(precision[at]?.quantity === 'probability' || precision[at]?.condition !== undefined) && (
              <TextField
                pointer={`/policy/precision/${at}/condition`}
                label="condition"
                hint="e.g. > 50"
                empty={undefined}
              />
            )}
            {(precision[at]?.quantity === 'mean' || precision[at]?.bounds !== undefined) && (
              <ListField
                pointer={`/policy/precision/${at}/bounds`}
                label="bounds"
                notation={BOUNDS}
                empty={undefined}
              />
            )}
            <NumberField
              pointer={`/policy/precision/${at}/half_width`}
              label="half-width"
              hint="in units; or relative"
              empty={undefined}
            />
            <NumberField
              pointer={`/policy/precision/${at}/relative`}
              label="relative"
              hint="0.01 for 1 %"
              empty={undefined}
            />
            <NumberField
              pointer={`/policy/precision/${at}/confidence`}
              label="confidence"
              hint="empty: 0.95"
              empty={undefined}
            />
          </Row>
        ))}
      </div>
      {precision.some((it) => it.quantity === 'mean' && it.bounds === undefined) && (
        <p className="small soft">
          The interval of a mean without bounds is approximate: it holds in the limit of many runs. Bounds are the least
          and the greatest value that the output can have.
        </p>
      )}
      <button type="button" onClick={() => set([...precision, { output: '', quantity: 'mean', half_width: 1 }])}>
        Add a precision
      </button>
    </div>
  );
}

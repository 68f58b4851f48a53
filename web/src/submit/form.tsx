/** The form of a study. Every field edits one member of the submission, which the file view shows too. */
import { DISTRIBUTION_KINDS } from '../../../src/base/distributions/table.ts';
import { COMPRESSIONS, SAMPLING_METHODS } from '../../../src/contract/enums.ts';
import { Panel } from '../parts/common.tsx';
import { CheckField, ChoiceField, NameField, NumberField, TextField, useForm } from './fields.tsx';
import { Correlations } from './correlations.tsx';
import { DistributionFields, DRAWN_KINDS } from './distribution.tsx';
import { EpistemicInputs, Labels, Outputs, Policy, Requirements } from './goals.tsx';
import { ScenarioFields } from './scenarios/panel.tsx';
import { escaped, isAdaptive, newDistribution, takesReplicates, withMember, withMethod } from './study.ts';

export function StudyForm() {
  const { study } = useForm();
  const takesRounds = isAdaptive(study);
  return (
    <>
      <Panel title="Study">
        <div className="fields">
          <TextField pointer="/name" label="Name of the study" placeholder="e.g. reentry, wind model B" />
          <TextField
            pointer="/config/simulation/name"
            label="Simulation"
            hint="runners that support it take the runs"
          />
          <TextField pointer="/config/simulation/version" label="Version" />
          <NumberField
            pointer="/config/simulation/duration_minutes"
            label="Duration"
            hint="minutes of simulated time"
          />
          <NumberField
            pointer="/config/monte_carlo/runs"
            label="Runs"
            {...(takesRounds
              ? { hint: 'the most that it may have' }
              : study.config.scenarios === undefined && study.config.epistemic === undefined
                ? {}
                : { hint: 'in each cell' })}
          />
          <ChoiceField
            pointer="/config/monte_carlo/sampling_method"
            label="Sampling"
            {...(takesRounds ? { hint: 'runs are appended in rounds' } : {})}
            options={SAMPLING_METHODS}
            adjust={withMethod}
          />
          <NumberField pointer="/config/monte_carlo/seed" label="Seed" hint="empty: one is drawn" empty={null} />
          {!takesRounds && (
            <>
              <TextField
                pointer="/config/monte_carlo/run_ids"
                label="Selected runs"
                hint="empty: all"
                placeholder="e.g. 0-99,150,200-299:2"
                empty={null}
              />
              <NumberField
                pointer="/config/monte_carlo/replicate"
                label="Replicate"
                hint="another randomisation; empty: 0"
                empty={null}
              />
              {takesReplicates(study) && (
                <NumberField
                  pointer="/config/monte_carlo/replicates"
                  label="Replicates"
                  hint="that the runs are; empty: one design"
                  empty={undefined}
                />
              )}
            </>
          )}
        </div>
      </Panel>
      <Dispersions />
      <Correlations />
      <ScenarioFields />
      <EpistemicInputs />
      <Requirements />
      <Outputs />
      <Panel title="Execution">
        <div className="fields">
          <NumberField pointer="/config/compute/max_parallel_jobs" label="At once" hint="0: no cap" />
          <NumberField pointer="/config/compute/job_timeout_seconds" label="Time limit" hint="seconds; 0: none" />
          <NumberField
            pointer="/config/compute/max_retries"
            label="Retries"
            hint="empty: as the server has it"
            empty={null}
          />
          <TextField pointer="/config/compute/container/cpu_request" label="CPU of a run" hint="e.g. 500m" />
          <TextField pointer="/config/compute/container/memory_request" label="Memory of a run" hint="e.g. 512Mi" />
          <TextField pointer="/config/compute/container/image" label="Container image" />
        </div>
      </Panel>
      <EarlyTermination />
      <details className="panel more">
        <summary>Telemetry</summary>
        <div className="fields body">
          <NumberField pointer="/config/telemetry/sampling_rate_hz" label="Kept samples" hint="per second" />
          <ChoiceField pointer="/config/telemetry/storage/compression" label="Compression" options={COMPRESSIONS} />
          <NumberField pointer="/config/telemetry/buffer_flush_interval_seconds" label="Written every" hint="seconds" />
        </div>
        <div className="body">
          <CheckField
            pointer="/config/telemetry/live"
            label="Show it live while a run is running (runners with --serve-files)"
            off={undefined}
          />
        </div>
      </details>
      <Policy />
      <Labels />
    </>
  );
}

function Dispersions() {
  const { study, change, faults } = useForm();
  const { dispersions } = study.config;
  const names = Object.keys(dispersions);
  const set = (next: [string, unknown][]): void =>
    change(withMember(study, '/config/dispersions', Object.fromEntries(next)));
  const add = (): void => {
    let number = names.length + 1;
    while (Object.hasOwn(dispersions, `parameter_${number}`)) number += 1;
    set([
      ...Object.entries(dispersions),
      [`parameter_${number}`, { distribution: newDistribution('normal'), units: '' }],
    ]);
  };
  const fault = faults.find((it) => it.pointer === '/config/dispersions');
  return (
    <Panel
      title="Dispersions"
      aside={
        <button type="button" onClick={add}>
          Add a parameter
        </button>
      }
    >
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
      {names.length === 0 && <p className="soft">No parameter is dispersed: every run would be the same.</p>}
      <div className="dispersions">
        {names.map((name, at) => (
          <Dispersion
            key={at}
            name={name}
            onRename={(to) => set(Object.entries(dispersions).map(([it, value]) => [it === name ? to : it, value]))}
            onRemove={() => set(Object.entries(dispersions).filter(([it]) => it !== name))}
          />
        ))}
      </div>
    </Panel>
  );
}

function Dispersion({
  name,
  onRename,
  onRemove,
}: {
  name: string;
  onRename: (to: string) => void;
  onRemove: () => void;
}) {
  const { study } = useForm();
  const pointer = `/config/dispersions/${escaped(name)}`;
  return (
    <fieldset className="dispersion">
      <legend className="visually-hidden">{name}</legend>
      <NameField label="Parameter" name={name} names={Object.keys(study.config.dispersions)} onRename={onRename} />
      <DistributionFields
        pointer={`${pointer}/distribution`}
        label="Distribution"
        kinds={isAdaptive(study) ? DISTRIBUTION_KINDS : DRAWN_KINDS}
      />
      <TextField pointer={`${pointer}/units`} label="units" />
      <TextField pointer={`${pointer}/source`} label="source" hint="of these numbers" empty={undefined} />
      <button type="button" className="quiet remove" onClick={onRemove} aria-label={`Remove ${name}`}>
        ✕
      </button>
    </fieldset>
  );
}

function EarlyTermination() {
  const { study, change } = useForm();
  const { enabled, conditions } = study.config.early_termination;
  const pointer = '/config/early_termination';
  return (
    <details className="panel more" open={enabled}>
      <summary>Early termination</summary>
      <div className="body stack">
        <CheckField
          pointer={`${pointer}/enabled`}
          label="Kill a run when its telemetry meets a condition"
          off={false}
        />
        <div className="fields">
          <NumberField pointer={`${pointer}/check_frequency_hz`} label="Checks per second" />
        </div>
        {conditions.map((_, at) => (
          <fieldset key={at} className="dispersion">
            <legend className="visually-hidden">Condition {at + 1}</legend>
            <TextField pointer={`${pointer}/conditions/${at}/variable`} label="Variable" />
            <TextField pointer={`${pointer}/conditions/${at}/condition`} label="Condition" hint="e.g. < 0" />
            <TextField pointer={`${pointer}/conditions/${at}/description`} label="Description" />
            <button
              type="button"
              className="quiet remove"
              aria-label={`Remove condition ${at + 1}`}
              onClick={() =>
                change(
                  withMember(
                    study,
                    `${pointer}/conditions`,
                    conditions.filter((__, index) => index !== at),
                  ),
                )
              }
            >
              ✕
            </button>
          </fieldset>
        ))}
        <div>
          <button
            type="button"
            onClick={() =>
              change(
                withMember(study, `${pointer}/conditions`, [
                  ...conditions,
                  { variable: '', condition: '< 0', description: '' },
                ]),
              )
            }
          >
            Add a condition
          </button>
        </div>
      </div>
    </details>
  );
}

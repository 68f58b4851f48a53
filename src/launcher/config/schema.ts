/** The schema of launcher.yaml. Each engine adds the section of its name to the queues. */
import { Type, type Static, type TSchema } from 'typebox';
import { LIMITS } from '../../contract/limits.ts';
import { resourceCounts } from '../../contract/scalars.ts';
import { ENGINES } from '../engines/table.ts';

/** Names of launchers and queues become parts of the engines' names, such as a Kubernetes label. */
const label = (description: string) => Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$', description });
/** Text or a number of seconds; `domain/durations.ts` reads it. */
const duration = (description: string) =>
  Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'number'], maxLength: 30, description }));
const integer = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description });
const strict = { additionalProperties: false };
const words = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), { maxItems: 200, description });

const MAX_ALLOCATIONS = 100_000;

const Size = Type.Object(
  {
    cores: integer('Cores of an allocation.', 1, 100_000),
    memory: Type.Optional(
      Type.String({ description: 'Memory as a quantity, e.g. `8Gi`; absent: the default of the engine.' }),
    ),
    gpu: Type.Optional(integer('GPUs of an allocation. Only runs that ask for `gpu` are executed in it.', 0, 1_000)),
    resources: Type.Optional(
      resourceCounts('Other counted resources of an allocation by their names, e.g. `{ comsol: 1 }`.', 1),
    ),
  },
  { ...strict, description: 'The resources of one allocation.' },
);

const Backoff = Type.Object(
  {
    first: duration('Delay after the first failure; it doubles with each failure in a row.'),
    max: duration('The longest delay.'),
    pause_after: Type.Optional(integer('So many failures in a row pause the queue.', 1, 1_000)),
  },
  { ...strict, description: 'How long no allocation is submitted after failures.' },
);

const Runner = Type.Object(
  {
    program: Type.Optional(
      words(
        'The command that starts a runner where the allocation runs, e.g. `[/opt/node, /opt/simbatch.js, runner]`.',
      ),
    ),
    args: Type.Optional(words('Arguments of `simbatch runner`, e.g. `[--entrypoint, /home/ann/sim.py]`.')),
    environment: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String({ maxLength: LIMITS.textLength }), {
        maxProperties: LIMITS.mapEntries,
        description: 'Variables of the environment of the runner.',
      }),
    ),
    slots: Type.Optional(integer('Runs at once; absent: one for each core.', 1, 100_000)),
  },
  { ...strict, description: 'The runner of each allocation.' },
);

const QUEUE = {
  engine: Type.Unsafe<string>({ type: 'string', enum: ENGINES.map((it) => it.name), description: 'The engine.' }),
  serves: Type.Optional(words('Names of the simulations that its runners execute; absent: all.')),
  size: Size,
  lifetime: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    maxLength: 30,
    description: 'The wall time of an allocation, e.g. `4h`.',
  }),
  lifetime_margin: duration('The runner has left so long before the end of the lifetime.'),
  min: Type.Optional(integer('Allocations that are kept without demand.', 0, MAX_ALLOCATIONS)),
  max: integer('The most allocations at once.', 0, MAX_ALLOCATIONS),
  max_queued: Type.Optional(integer('The most allocations that wait in the engine at once.', 1, MAX_ALLOCATIONS)),
  idle_timeout: duration('A runner without a run leaves after this time.'),
  start_timeout: duration('From the start of an allocation until its runner has registered.'),
  queue_timeout: duration('An allocation that waits longer in the engine is stopped; absent: never.'),
  drain_timeout: duration(
    'A drained runner that holds runs for longer is stopped; absent: 10 min after the longest time limit of these runs.',
  ),
  scale_up_after: duration('Runs must have waited so long before an allocation is submitted for them.'),
  backoff: Type.Optional(Backoff),
  runner: Type.Optional(Runner),
};

const Queue = Type.Object(
  { ...QUEUE, ...Object.fromEntries(ENGINES.map(({ name, section }) => [name, Type.Optional(section)])) },
  strict,
) as TSchema as QueueSchema;
type QueueSchema = ReturnType<typeof Type.Object<typeof QUEUE>>;

const hours = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));

const Limits = Type.Object(
  {
    max_allocations: Type.Optional(integer('Allocations of all queues at once.', 0, MAX_ALLOCATIONS)),
    max_core_hours: hours('Core hours of all allocations, of those that live with their whole lifetime.'),
    max_core_hours_per_day: hours('The same over the last 24 hours.'),
  },
  { ...strict, description: 'Limits of all queues together.' },
);

export const LauncherFile = Type.Object(
  {
    launcher: Type.Optional(label('The label of its allocations in the engines; differs between launchers.')),
    endpoint: Type.Optional(Type.String({ maxLength: 2_000, description: 'Address of the coordinator.' })),
    runner_endpoint: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'The address under which the runners reach the coordinator.' }),
    ),
    poll_seconds: Type.Optional(integer('Seconds between two rounds.', 1, 3_600)),
    limits: Type.Optional(Limits),
    queues: Type.Unsafe<Record<string, Static<QueueSchema>>>({
      type: 'object',
      additionalProperties: Queue,
      propertyNames: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$' },
      minProperties: 1,
      maxProperties: 100,
      description: 'The queues by name.',
    }),
  },
  strict,
);
export type LauncherFile = Static<typeof LauncherFile>;
export type QueueFile = Static<QueueSchema>;

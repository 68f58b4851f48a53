/** Colours of the terminal by meaning: whether a stream gets them, and the text that switches them on and off. */
import { inspect } from 'node:util';
import { destination } from './destination.ts';

export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/** The meaning of a text, which decides its colour. */
export type Tone = 'good' | 'bad' | 'warning' | 'active' | 'faint' | 'strong';

const STYLES = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  active: 'cyan',
  faint: 'dim',
  strong: 'bold',
} as const satisfies Record<Tone, string>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * True when a stream gets colours: `--color` decides, then NO_COLOR (https://no-color.org), then FORCE_COLOR (`0` and `false`
 * switch them off), then whether the stream is a terminal that has them.
 */
export function hasColour(choice: ColourChoice, isTerminal: boolean, env: Environment): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { NO_COLOR: no = '', FORCE_COLOR: forced } = env;
  if (no !== '') return false;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

let chosen: ColourChoice = 'auto';

/** Sets the choice of `--color` for this process. */
export function chooseColour(choice: ColourChoice): void {
  chosen = choice;
}

type Stream = { readonly isTTY?: boolean };

/** The text in the colour of its meaning, where the stream gets colours; without a meaning it is unchanged. */
export function paint(text: string, tone: Tone | undefined, stream: Stream = destination()): string {
  if (tone === undefined || text === '' || !hasColour(chosen, stream.isTTY === true, process.env)) return text;
  const [begin, end] = inspect.colors[STYLES[tone]] ?? [0, 0];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
}

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  Pending: 'faint',
  Claimed: 'active',
  Running: 'active',
  Completed: 'good',
  Failed: 'bad',
  Timeout: 'bad',
  Cancelled: 'warning',
  Idle: 'good',
  Busy: 'active',
  Offline: 'bad',
  Maintenance: 'warning',
  met: 'good',
  violated: 'bad',
  'not-shown': 'warning',
  'not enough': 'warning',
  'not shown': 'warning',
  Drained: 'warning',
  open: 'active',
};

/** The tone of a state of a study, a run or a runner, or of a verdict. */
export const statusTone = (text: string): Tone | undefined =>
  STATUS_TONES[/^[A-Za-z]+([- ](shown|enough))?/.exec(text)?.[0] ?? ''];

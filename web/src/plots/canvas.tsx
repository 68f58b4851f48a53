/** A canvas that follows its size and the theme, and the scales and colours that plots on it share. */
import { useEffect, useRef, type HTMLAttributes } from 'react';
import { colour, useShownTheme } from '../theme.ts';
import { limitsOf } from './bins.ts';
import type { Variable } from './variables.ts';

interface Props extends Omit<HTMLAttributes<HTMLCanvasElement>, 'onDraw'> {
  label: string;
  height: number;
  /** A new function draws again. Sizes in CSS pixels. */
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => Drawing;
}

/** A drawing yields now and then: it continues in the next frame when the time of this one is used up. */
export type Drawing = Generator<undefined, void, undefined>;

/** Drawings of one frame take at most about this long. */
const FRAME_MS = 12;
/** Drawings that wait or are unfinished, by their canvas. */
const waiting = new Map<object, Drawing>();
let frame: number | undefined;

function drawSoon(canvas: object, drawing: Drawing): void {
  waiting.set(canvas, drawing);
  frame ??= requestAnimationFrame(drawWaiting);
}

function drawWaiting(): void {
  frame = undefined;
  const endMs = performance.now() + FRAME_MS;
  for (const [canvas, drawing] of waiting) {
    while (performance.now() < endMs) {
      if (drawing.next().done !== true) continue;
      waiting.delete(canvas);
      break;
    }
    if (performance.now() >= endMs) break;
  }
  if (waiting.size > 0) frame = requestAnimationFrame(drawWaiting);
}

export function Canvas({ label, height, draw, ...rest }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useShownTheme();
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const redraw = function* (): Drawing {
      const { clientWidth: width } = element;
      const scale = window.devicePixelRatio;
      element.width = Math.round(width * scale);
      element.height = Math.round(height * scale);
      const context = element.getContext('2d');
      if (context === null || width === 0) return;
      context.scale(scale, scale);
      yield* draw(context, width, height);
    };
    const soon = (): void => drawSoon(element, redraw());
    soon();
    const observer = new ResizeObserver(soon);
    observer.observe(element);
    return () => {
      waiting.delete(element);
      observer.disconnect();
    };
  }, [draw, height, theme]);
  return (
    <canvas ref={canvas} role="img" aria-label={label} style={{ height, width: '100%', display: 'block' }} {...rest} />
  );
}

/** Maps the values of a variable to 0..1 over their bulk; values beyond it are at the edges. */
export interface Scale {
  from: number;
  to: number;
  isLog: boolean;
  place: (value: number) => number;
  /** The value at a place. */
  value: (place: number) => number;
}

export function scaleOf({ values, categories }: Variable, isLog: boolean): Scale {
  const isCounted = categories !== undefined;
  const [from, to] = isCounted ? [-0.5, categories.length - 0.5] : (limitsOf(values, isLog) ?? [0, 1]);
  const span = to > from ? to - from : 1;
  return {
    from,
    to: from + span,
    isLog,
    place: (value) => Math.min(1, Math.max(0, ((isLog ? Math.log10(value) : value) - from) / span)),
    value: (place) => (isLog ? 10 ** (from + place * span) : from + place * span),
  };
}

/** Viridis at five places: perceptually even, readable without red and green. */
const RAMP = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;
/** Colours of Okabe and Ito, for texts and booleans. */
const WORDS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#999999'];

/** Colour of a run by the value of a variable. */
export function colourBy(variable: Variable, scale: Scale): (run: number) => string {
  if (variable.categories !== undefined) return (run) => WORDS[variable.values[run]! % WORDS.length] ?? '#999999';
  const ramp = Array.from({ length: 64 }, (_, at) => rampAt(at / 63));
  return (run) => {
    const value = variable.values[run]!;
    return Number.isFinite(value) ? ramp[Math.round(scale.place(value) * 63)]! : '#999999';
  };
}

export function rampAt(share: number): string {
  const at = Math.min(RAMP.length - 2, Math.floor(share * (RAMP.length - 1)));
  const rest = share * (RAMP.length - 1) - at;
  const part = (index: 0 | 1 | 2): number =>
    Math.round(RAMP[at]![index] + rest * (RAMP[at + 1]![index] - RAMP[at]![index]));
  return `rgb(${part(0)} ${part(1)} ${part(2)})`;
}

export const wordColour = (code: number): string => WORDS[code % WORDS.length]!;

/** Colours of the kinds of a run: background, selected, failed. */
export const kindColours = (): readonly string[] => [colour('pending'), colour('running'), colour('failed')];

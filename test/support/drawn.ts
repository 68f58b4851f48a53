/** Reads a plot from its canvas: the labels of its axes and its line. */
import type { Page } from 'playwright-core';

/** A label of an axis and its position on the canvas. */
interface Mark {
  text: string;
  at: number;
}

export interface Drawn {
  /** From the bottom up. */
  vertical: Mark[];
  /** From left to right. */
  horizontal: Mark[];
  /** Per column of pixels: the middle of what is painted in the colour of the line; null where nothing is. */
  line: (number | null)[];
}

/** To be called before the page is opened: canvases then remember the texts written on them since they were cleared. */
export async function rememberTexts(page: Page): Promise<void> {
  await page.addInitScript(`(() => {
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
      this.canvas.texts = [];
      return clearRect.apply(this, area);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const { x: left, y: top } = this.getTransform().transformPoint({ x, y });
      (this.canvas.texts ??= []).push({ text, left, top, isVertical: this.textAlign === 'right' });
      return fillText.call(this, text, x, y);
    };
  })()`);
}

/** The plot with this label. `colour` is the name of the theme's colour for the line. */
export async function drawnPlot(page: Page, label: string, colour: string): Promise<Drawn> {
  const canvas = page.getByRole('img', { name: label, exact: true }).locator('canvas');
  await canvas.waitFor();
  // A plot is drawn in the frame after it was made.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  return canvas.evaluate(readCanvas as (element: unknown, colour: string) => Drawn, colour);
}

interface Context {
  fillStyle: string;
  fillRect(left: number, top: number, width: number, height: number): void;
  getImageData(left: number, top: number, width: number, height: number): { data: Uint8ClampedArray };
}

interface Canvas {
  width: number;
  height: number;
  texts?: { text: string; left: number; top: number; isVertical: boolean }[];
  getContext(kind: '2d'): Context;
}

/** The browser interfaces that these tests use; they are compiled without the types of a browser. */
interface Browser {
  document: { documentElement: unknown; createElement(name: 'canvas'): Canvas };
  getComputedStyle(element: unknown): { getPropertyValue(name: string): string };
}

/** Runs in the page: it cannot call other functions of this file. */
function readCanvas(canvas: Canvas, colour: string): Drawn {
  const window = globalThis as unknown as Browser;
  const probe = window.document.createElement('canvas').getContext('2d');
  probe.fillStyle = window.getComputedStyle(window.document.documentElement).getPropertyValue(`--${colour}`).trim();
  probe.fillRect(0, 0, 1, 1);
  const wanted = probe.getImageData(0, 0, 1, 1).data;
  const { width, height, texts = [] } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const isLine = (at: number): boolean =>
    data[at + 3]! > 120 && [0, 1, 2].every((it) => Math.abs(data[at + it]! - wanted[it]!) < 12);
  const line = Array.from({ length: width }, (_, x) => {
    const rows = Array.from({ length: height }, (__, y) => y).filter((y) => isLine((y * width + x) * 4));
    return rows.length === 0 ? null : rows.reduce((sum, y) => sum + y + 0.5, 0) / rows.length;
  });
  const vertical = texts.filter((it) => it.isVertical).map((it) => ({ text: it.text, at: it.top }));
  const horizontal = texts.filter((it) => !it.isVertical).map((it) => ({ text: it.text, at: it.left }));
  return { vertical: vertical.sort((a, b) => b.at - a.at), horizontal: horizontal.sort((a, b) => a.at - b.at), line };
}

/** The value of a place beside an axis that has two marks at least, whose texts are numbers. */
export function valueAt(marks: readonly Mark[], place: number): number {
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined || first === last) throw new Error('the axis has no two marks');
  const share = (place - first.at) / (last.at - first.at);
  return Number(first.text) + share * (Number(last.text) - Number(first.text));
}

/** Where the line is at this place of the horizontal axis, in the units of the vertical one; null where there is no line. */
export function readLine({ vertical, horizontal, line }: Drawn, across: number): number | null {
  const column = line.findIndex((_, x) => valueAt(horizontal, x + 0.5) >= across);
  const y = line[column] ?? null;
  return y === null ? null : valueAt(vertical, y);
}

export const textsOf = (marks: readonly Mark[]): string[] => marks.map((it) => it.text);

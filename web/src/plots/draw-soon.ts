/** A queue of drawings: each frame draws until its time is used up, so that many plots at once do not hold the page. */

/** Drawings of one frame take at most about this long. */
const FRAME_MS = 12;
/** The latest drawing of each place. */
const waiting = new Map<object, () => void>();
let frame: number | undefined;

/** Draws in one of the next frames; a later drawing of the same place replaces it. */
export function drawSoon(place: object, draw: () => void): void {
  waiting.set(place, draw);
  frame ??= requestAnimationFrame(drawWaiting);
}

function drawWaiting(): void {
  const endMs = performance.now() + FRAME_MS;
  try {
    for (const [place, draw] of waiting) {
      waiting.delete(place);
      draw();
      if (performance.now() >= endMs) break;
    }
  } finally {
    // A drawing that throws does not keep the others from being drawn.
    frame = waiting.size > 0 ? requestAnimationFrame(drawWaiting) : undefined;
  }
}

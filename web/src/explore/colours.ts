/** The colours of the points of a study: by outcome, or by the value of a variable. Pure. */

/** Viridis at five places: perceptually even, readable without red and green. */
export const RAMP = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] as const;
/** Colours of Okabe and Ito, for texts and booleans. */
export const WORDS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#999999'] as const;

export const wordColour = (code: number): string => WORDS[code % WORDS.length]!;
/** By kind of a run: background, selected, failed. */
export const KINDS = ['var(--pending)', 'var(--running)', 'var(--failed)'] as const;

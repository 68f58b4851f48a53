/** The answer about a study of rare events in words: its verdict and its sentence, of all studies that were submitted together. Pure. */
import type { Verdict } from '../../contract/enums.ts';
import type { StudyEvidence } from './evidence.ts';

interface Rare {
  evidence: StudyEvidence;
}

/** True for a study of rare events that has an answer. */
export const isRare = ({ rare }: StudyEvidence): boolean => typeof rare?.phase === 'string';

export const rareVerdict = ({ rare }: StudyEvidence): Verdict | undefined => rare?.verdict?.verdict ?? undefined;

/** True while the study, or a study that was submitted with it, takes rounds. */
export const isRareOpen = (it: StudyEvidence): boolean => isRare(it) && it.rare!.phase !== 'ended';

const WORDS: Readonly<Record<Verdict, string>> = {
  met: 'is met',
  violated: 'is violated',
  'not-shown': 'is not shown',
  open: 'is open',
};

export function sayRare({ evidence: { rare } }: Rare): string[] {
  const { requirement, verdict, sentence } = rare!;
  const given = verdict?.given === 'regions-found' ? ', as far as regions were found' : '';
  const why = verdict?.reason === 'one-study' ? ' by one study alone' : '';
  return [
    `the requirement ${requirement} ${WORDS[verdict?.verdict ?? 'not-shown']}${given}${why} (experimental)`,
    sentence,
  ];
}

/** The study itself has ended, and a study that was submitted with it has not. */
export const sayRareOpen = ({ evidence: { rare } }: Rare): string[] => [
  'its runs have ended, and a study that was submitted with it has not',
  rare!.sentence,
];

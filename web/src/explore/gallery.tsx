/** The cards of the page, and the gallery from which they are chosen; the address holds their names. */
import { Chooser } from '../parts/chooser.tsx';
import { changeQuery } from '../router.ts';
import { KINDS, MOST_CARDS } from './cards/all.ts';
import type { CardKind } from './cards/kind.ts';
import { listOf, type Bench } from './state.ts';

/** The cards of the address; else the first that fit the study. */
function cardsOf(bench: Bench): CardKind[] {
  const fitting = KINDS.filter((it) => it.fits(bench));
  const asked = bench.query.get('cards');
  if (asked === null) return fitting.slice(0, MOST_CARDS);
  return listOf(asked).flatMap((name) => fitting.find((it) => it.name === name) ?? []);
}

const keep = (names: readonly string[]): void => changeQuery({ cards: names.length === 0 ? 'none' : names.join(',') });

export function Cards({ bench }: { bench: Bench }) {
  const cards = cardsOf(bench);
  const names = cards.map((it) => it.name);
  return (
    <div className="cards-of-plots">
      {cards.map(({ name, View }) => (
        <View key={name} bench={bench} onRemove={() => keep(names.filter((it) => it !== name))} />
      ))}
    </div>
  );
}

export function Gallery({ bench }: { bench: Bench }) {
  return (
    <Chooser
      label="Plots"
      choices={KINDS.filter((it) => it.fits(bench))}
      shown={cardsOf(bench).map(({ name }) => name)}
      most={MOST_CARDS}
      onChange={keep}
    />
  );
}

/** The cards of the page, and the gallery from which they are chosen; the address holds their names. */
import { Menu } from '../parts/menu.tsx';
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

const keep = (cards: readonly CardKind[]): void =>
  changeQuery({ cards: cards.length === 0 ? 'none' : cards.map(({ name }) => name).join(',') });

export function Cards({ bench }: { bench: Bench }) {
  const cards = cardsOf(bench);
  return (
    <div className="cards-of-plots">
      {cards.map(({ name, View }) => (
        <View key={name} bench={bench} onRemove={() => keep(cards.filter((it) => it.name !== name))} />
      ))}
    </div>
  );
}

export function Gallery({ bench }: { bench: Bench }) {
  const cards = cardsOf(bench);
  return (
    <Menu label={`Plots (${cards.length})`} stays>
      <div className="chooser">
        {KINDS.filter((it) => it.fits(bench)).map((it) => {
          const isShown = cards.includes(it);
          return (
            <label key={it.name} className="row">
              <input
                type="checkbox"
                checked={isShown}
                disabled={!isShown && cards.length >= MOST_CARDS}
                onChange={() => keep(isShown ? cards.filter((other) => other !== it) : [...cards, it])}
              />
              <span>{it.title}</span>
            </label>
          );
        })}
      </div>
    </Menu>
  );
}

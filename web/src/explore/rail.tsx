/** The variables of a study, by their relevance to the target: a small histogram, the unit, and a bar with the noise floor. */
import { useMemo } from 'react';
import { unitsIn, type Variable } from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import { OneDistribution } from './distributions.tsx';
import { focused, type Bench } from './state.ts';
import { noiseFloor, type Target } from './target.ts';

const TITLES = { parameter: 'Inputs', output: 'Outputs' } as const;

export function Rail({ bench, targets }: { bench: Bench; targets: readonly Target[] }) {
  const focus = focused(bench);
  return (
    <aside className="panel rail" aria-label="Variables by relevance">
      <label className="row small rail-target">
        Target
        <select
          className="grow"
          value={bench.target?.key ?? ''}
          onChange={(event) => changeQuery({ target: event.target.value })}
        >
          {targets.map((it) => (
            <option key={it.key} value={it.key}>
              {it.label}
            </option>
          ))}
        </select>
      </label>
      <div className="rail-list">
        {(['parameter', 'output'] as const).map((kind) => (
          <section key={kind} aria-label={TITLES[kind]}>
            <h2 className="small soft">{TITLES[kind]}</h2>
            <ol>
              {bench.variables
                .filter((it) => it.kind === kind)
                .map((it) => (
                  <Row key={it.key} bench={bench} variable={it} isFocused={it === focus} />
                ))}
            </ol>
          </section>
        ))}
      </div>
    </aside>
  );
}

function Row({ bench, variable, isFocused }: { bench: Bench; variable: Variable; isFocused: boolean }) {
  const { name, label, key } = variable;
  const unit = unitsIn(variable);
  return (
    <li className={isFocused ? 'focused' : undefined}>
      <button
        type="button"
        className="quiet rail-row"
        aria-expanded={isFocused}
        title={label}
        onClick={() => changeQuery({ x: key })}
      >
        <span className="clip">
          {name}
          {unit !== undefined && <span className="soft"> {unit}</span>}
        </span>
        <Sketch bench={bench} variable={variable} />
        <Bar bench={bench} variable={variable} />
      </button>
      {isFocused && <OneDistribution bench={bench} variable={variable} />}
    </li>
  );
}

const WIDTH = 56;
const HEIGHT = 16;

/** The distribution in a few pixels. */
function Sketch({ bench: { drawn }, variable }: { bench: Bench; variable: Variable }) {
  const { categories } = variable;
  const path = useMemo(() => {
    const counts = variable.categories === undefined ? drawn.histogram(variable)?.all : undefined;
    if (counts === undefined) return '';
    const top = Math.max(1, ...counts);
    const wide = WIDTH / counts.length;
    return Array.from(counts, (it, at) =>
      it === 0
        ? ''
        : `M${(at * wide).toFixed(1)},${HEIGHT}v${((-it / top) * HEIGHT).toFixed(1)}h${wide.toFixed(1)}V${HEIGHT}z`,
    ).join('');
  }, [drawn, variable]);
  if (categories !== undefined)
    return <span className="small soft nowrap">{categories.filter((it) => it !== '').length} values</span>;
  return (
    <svg className="sketch" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path className="h-selected" d={path} />
    </svg>
  );
}

/** The relevance as a bar; the mark is the size that an unrelated variable reaches in one of 20 cases. */
function Bar({ bench, variable }: { bench: Bench; variable: Variable }) {
  const found = bench.relevance.get(variable.key);
  const floor = noiseFloor(bench.sample.length);
  if (found === undefined) return <span className="rail-bar" aria-hidden="true" />;
  const text = `relevance ${found.value.toFixed(2)}${found.isApart ? '' : ', not told apart from none'}`;
  return (
    <span className="rail-bar" title={`${text}; the mark: noise floor ${floor.toFixed(2)}`}>
      <i
        className={found.isApart ? undefined : 'pale'}
        style={{ width: `${100 * Math.min(1, Math.abs(found.value))}%` }}
      />
      <b style={{ left: `${100 * Math.min(1, floor)}%` }} />
      <span className="visually-hidden">{text}</span>
    </span>
  );
}

/** The proposal of a study of rare events as a table: the heaviest components, with the parameters that they point along. */
import type { RareEventAnswer } from '../../../src/contract/types.ts';
import { Table } from '../parts/table.tsx';
import { count, share } from '../parts/time.tsx';

const SHOWN = 5;
/** Parameters that are named of a direction, and the least of their squared parts. */
const NAMED = 3;
const LEAST_PART = 0.04;

type Component = RareEventAnswer['proposal'][number];

const KINDS: Record<Component['kind'], string> = { half_space: 'half-space', shift: 'shifted', cone: 'cone' };

export function ProposalTable({ answer: { proposal, names } }: { answer: RareEventAnswer }) {
  if (proposal.length === 0) return null;
  const heaviest = [...proposal].sort((a, b) => b.weight - a.weight).slice(0, SHOWN);
  return (
    <details className="rare-details">
      <summary>
        Proposal: {count(proposal.length)} component{proposal.length === 1 ? '' : 's'}, a tenth of the draws nominal
      </summary>
      <Table
        label="Proposal"
        columns={['Component', { name: 'Weight', right: true }, { name: 'From', right: true }, 'Along']}
      >
        {heaviest.map((it, at) => (
          <tr key={at}>
            <td>{isShell(it) ? 'shell' : KINDS[it.kind]}</td>
            <td className="right nowrap">{share(it.weight)}</td>
            <td className="right nowrap">{(it.b ?? it.r ?? 0).toFixed(2)} σ</td>
            <td>{isShell(it) ? 'all directions' : directionOf(it, names)}</td>
          </tr>
        ))}
      </Table>
      {proposal.length > SHOWN && (
        <p className="small soft">
          The {SHOWN} heaviest of {count(proposal.length)}; simbatch rare -f json has all.
        </p>
      )}
    </details>
  );
}

/** A cone without concentration has no direction. */
const isShell = ({ kind, kappa }: Component): boolean => kind === 'cone' && kappa === 0;

const directionOf = ({ direction }: Component, names: readonly string[]): string =>
  direction
    .map((part, at) => ({ part, name: names[at] ?? '' }))
    .filter(({ part }) => part * part >= LEAST_PART)
    .sort((a, b) => Math.abs(b.part) - Math.abs(a.part))
    .slice(0, NAMED)
    .map(({ part, name }) => `${part < 0 ? '−' : '+'}${Math.abs(part).toFixed(2)} ${name}`)
    .join('  ');

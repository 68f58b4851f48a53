/** How often bounds of this method held on problems that were new to it: the worst first. */
import type { RareEventAnswer } from '../../../src/contract/types.ts';
import { rareNumber } from '../../../src/analysis/rare/answer/sentence.ts';
import { Table } from '../parts/table.tsx';
import { share } from '../parts/time.tsx';

export function Measured({ of }: { of: RareEventAnswer['measured'] }) {
  if (of.length === 0) return null;
  const right = (name: string) => ({ name, right: true });
  return (
    <details className="rare-details">
      <summary>How often such 95 % bounds held on problems that were new to the method</summary>
      <Table
        label="How often such bounds held"
        columns={['Problem', right('Probability'), right('One study'), right('Two together')]}
      >
        {of.map((it) => (
          <tr key={it.problem}>
            <td>{it.problem}</td>
            <td className="right nowrap">{rareNumber(it.probability)}</td>
            <td className="right nowrap">{share(it.held_by_one)}</td>
            <td className="right nowrap">{share(it.held_by_two)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** Writes the design of a study as Parquet: `run_id` as INT32, axes of scenarios as texts, one DOUBLE column a parameter (NaN where a cell has it not), row group by row group. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import { designColumns } from '../../domain/sampling/design-table.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import type { Sampler } from '../../domain/sampling/run-values.ts';

/** Values in a row group, all columns together: 8 MB. */
const VALUES_PER_GROUP = 1_000_000;

/** Calls `sink` with the bytes of the file in order, in constant memory. */
export async function writeDesignParquet(
  sampler: Sampler,
  selection: RunSelection,
  sink: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  // A parameter named run_id would collide with the column of that name.
  const names = sampler.names.map((name) => (name === 'run_id' ? 'parameters.run_id' : name));
  const { axes = [] } = sampler;
  const schema: SchemaElement[] = [
    { name: 'root', num_children: axes.length + names.length + 1 },
    { name: 'run_id', type: 'INT32', repetition_type: 'REQUIRED' },
    ...axes.map((name): SchemaElement => ({
      name,
      type: 'BYTE_ARRAY',
      converted_type: 'UTF8',
      repetition_type: 'REQUIRED',
    })),
    ...names.map((name): SchemaElement => ({ name, type: 'DOUBLE', repetition_type: 'REQUIRED' })),
  ];
  const buffer = new ByteWriter();
  const parquet = new ParquetWriter({ writer: buffer, schema, codec: 'SNAPPY', createdBy: 'simbatch' });
  const rowsPerGroup = Math.max(1, Math.floor(VALUES_PER_GROUP / (names.length + 1)));
  const flush = async (): Promise<void> => {
    await sink(buffer.getBytes().slice());
    // `offset` counts the bytes of the file, for the footer; `index` is the position in this buffer.
    buffer.index = 0;
  };
  for (let rest = selection; rest.count > 0; rest = rest.drop(rowsPerGroup)) {
    const group = rest.take(rowsPerGroup);
    const { run_id, columns } = designColumns(sampler, group);
    const data = columns.map((column, at) => ({ name: names[at] as string, data: column, encoding: 'PLAIN' as const }));
    const levels = axes.map((name) => ({
      name,
      data: Array.from(run_id, (run) => sampler.scenarioOf!(run).scenario[name]!),
    }));
    await parquet.write({
      columnData: [{ name: 'run_id', data: run_id }, ...levels, ...data],
      rowGroupSize: group.count,
    });
    await flush();
  }
  await parquet.finish();
  await flush();
}

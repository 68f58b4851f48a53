/** A Parquet file as a table, one row group at a time. */
import type { RowBatch, RowsFile } from './rows.ts';

/** @throws Error when the file is not a table of flat columns. */
export async function openParquet(path: string): Promise<RowsFile> {
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetRead }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const [, ...elements] = metadata.schema;
  const nested = elements.find((it) => it.num_children !== undefined);
  if (nested !== undefined) throw new Error(`the column ${JSON.stringify(nested.name)} is nested`);
  const names = elements.map((it) => it.name);

  async function* batches(columns: readonly string[] = names): AsyncGenerator<RowBatch> {
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const count = Number(group.num_rows);
      const found = new Map<string, ArrayLike<unknown>>();
      const rowEnd = rowStart + count;
      await parquetRead({
        file,
        metadata,
        columns: [...columns],
        compressors,
        rowStart,
        rowEnd,
        onChunk: ({ columnName, columnData }) => {
          found.set(columnName, columnData as ArrayLike<unknown>);
        },
      });
      for (const [name, values] of found)
        if (values.length !== count) throw new Error(`the column ${JSON.stringify(name)} is not whole`);
      yield { count, columns: found };
      rowStart = rowEnd;
    }
  }
  const described = (key: string): string | undefined =>
    metadata.key_value_metadata?.find((it) => it.key === key)?.value;
  return { names, described, batches };
}

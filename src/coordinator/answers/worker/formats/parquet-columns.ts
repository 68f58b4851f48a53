/**
 * Column chunks of Parquet files, from the typed cells of a table: the same bytes as the library writes, without an object for each
 * value. The library itself writes booleans, texts beyond ASCII and texts of several pages.
 */
import type { ColumnChunk, Encoding, PageType, SchemaElement, Statistics } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeDictionaryPage } from 'hyparquet-writer/src/dictionary.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import type { Cells, NumberCells } from '../../../../analysis/export/chunk.ts';
import { textOf } from '../../../../domain/outputs.ts';
import { type Page, PAGE_BYTES, PageMaker } from './parquet-pages.ts';

type ColumnEncoder = Parameters<typeof writeColumn>[0]['column'];
/** A column chunk, with the places of its pages where it has several. */
type Written = ReturnType<typeof writeColumn>;

/** Writes the column chunks of one file, one after the other. */
export class ColumnWriter {
  readonly #writer: ByteWriter;
  readonly #root: SchemaElement;
  readonly #pages = new PageMaker();

  constructor(writer: ByteWriter, root: SchemaElement) {
    this.#writer = writer;
    this.#root = root;
  }

  /** Writes the first `rows` cells of a column, at least one. */
  write(element: SchemaElement, cells: Cells, rows: number): Written {
    switch (cells.type) {
      case 'boolean':
        return this.#byLibrary(element, booleansOf(cells, rows));
      case 'text':
        return this.#texts(element, firstOf(cells.values, rows));
      case 'mixed':
        return this.#texts(element, firstOf(cells.values, rows).map(textOf));
      case 'integer':
      case 'number':
      case 'time':
        return this.#chunk(element, this.#pages.numbers({ ...cells, type: cells.type }, rows));
    }
  }

  #texts(element: SchemaElement, texts: readonly (string | null)[]): Written {
    const page = this.#pages.texts(texts, isRequired(element));
    return page === undefined ? this.#byLibrary(element, texts) : this.#chunk(element, page);
  }

  #chunk(element: SchemaElement, page: Page): Written {
    const writer = this.#writer;
    const { encoding, dictionary } = page;
    const start = writer.offset;
    const dictionarySize =
      dictionary === undefined ? 0 : writeDictionaryPage(writer, this.#encoder(element), dictionary);
    const pageStart = writer.offset;
    const size = dictionarySize + this.#dataPage(element, page);
    const onePage = (type: PageType, of: Encoding) => ({ page_type: type, encoding: of, count: 1 });
    const data = onePage('DATA_PAGE_V2', encoding);
    const chunk: ColumnChunk = {
      meta_data: {
        type: element.type!,
        encodings: dictionary === undefined ? [encoding] : ['PLAIN', encoding],
        path_in_schema: [element.name],
        codec: 'SNAPPY',
        num_values: BigInt(page.rows),
        total_compressed_size: BigInt(writer.offset - start),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(pageStart),
        ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
        statistics: statisticsOf(element, page),
        encoding_stats: dictionary === undefined ? [data] : [onePage('DICTIONARY_PAGE', 'PLAIN'), data],
      },
      file_offset: BigInt(start),
    };
    return { chunk };
  }

  /** Returns the size of the page without compression. */
  #dataPage(element: SchemaElement, { rows, present, encoding, bytes }: Page): number {
    const writer = this.#writer;
    const levels = isRequired(element) ? new Uint8Array() : this.#pages.levels(rows);
    const compressed = snappyCompress(bytes);
    const start = writer.offset;
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levels.length + bytes.length,
      compressed_page_size: levels.length + compressed.length,
      data_page_header_v2: {
        num_values: rows,
        num_nulls: rows - present,
        num_rows: rows,
        encoding,
        definition_levels_byte_length: levels.length,
        repetition_levels_byte_length: 0,
        is_compressed: true,
      },
    });
    const header = writer.offset - start;
    writer.appendBytes(levels);
    writer.appendBytes(compressed);
    return header + levels.length + bytes.length;
  }

  #encoder(element: SchemaElement): ColumnEncoder {
    return {
      columnName: element.name,
      element,
      schemaPath: [this.#root, element],
      codec: 'SNAPPY',
      compressors: { SNAPPY: snappyCompress },
      stats: true,
      pageSize: PAGE_BYTES,
      columnIndex: false,
      offsetIndex: true,
    };
  }

  #byLibrary(element: SchemaElement, values: readonly unknown[]): Written {
    const pageData = {
      values: values as unknown[],
      definitionLevels: isRequired(element) ? [] : values.map((value) => (value === null ? 0 : 1)),
      repetitionLevels: [],
      maxDefinitionLevel: isRequired(element) ? 0 : 1,
    };
    return writeColumn({ writer: this.#writer, column: this.#encoder(element), pageData });
  }
}

const isRequired = (element: SchemaElement): boolean => element.repetition_type === 'REQUIRED';

function statisticsOf({ type }: SchemaElement, { rows, present, range: { least, greatest } }: Page): Statistics {
  return {
    ...(least === undefined ? {} : { min_value: least }),
    ...(greatest === undefined ? {} : { max_value: greatest }),
    null_count: BigInt(rows - present),
    // A missing number is a null.
    ...(type === 'DOUBLE' ? { nan_count: 0n } : {}),
  };
}

const firstOf = <T>(values: readonly T[], rows: number): readonly T[] =>
  values.length === rows ? values : values.slice(0, rows);

const booleansOf = ({ values }: NumberCells, rows: number): (boolean | null)[] =>
  Array.from(values.subarray(0, rows), (value) => (Number.isNaN(value) ? null : value === 1));

"""Reads tables with pyarrow and DuckDB, and writes what they found as JSON: python3 read-files.py CSV PARQUET ARROW"""

import json
import sys

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet


def shown(table):
    """Types, units and rows of a table; times as ISO 8601 in UTC."""
    columns = []
    for field in table.schema:
        metadata = {k.decode(): v.decode() for k, v in (field.metadata or {}).items() if not k.startswith(b"PARQUET:")}
        columns.append([field.name, str(field.type), field.nullable, metadata])
    values = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            values.append([None if it is None else it.strftime("%Y-%m-%dT%H:%M:%S.") + f"{it.microsecond // 1000:03d}Z" for it in column.to_pylist()])
        else:
            values.append(column.to_pylist())
    return {"columns": columns, "rows": [list(row) for row in zip(*values)]}


def duck(source):
    """Types and rows as DuckDB reads a file; times as milliseconds since the epoch."""
    relation = duckdb.sql(source)
    types = [str(it) for it in relation.types]
    times = {at for at, it in enumerate(types) if it.startswith("TIMESTAMP")}
    quoted = ['"' + name.replace('"', '""') + '"' for name in relation.columns]
    columns = [f"epoch_ms({name})" if at in times else name for at, name in enumerate(quoted)]
    rows = duckdb.sql(f"select {', '.join(columns)} from ({source})").fetchall()
    return {"names": relation.columns, "types": types, "rows": rows}


# RFC 4180: a line feed in a quoted text would otherwise be taken for the end of a record.
CSV_OPTIONS = r"""header = true, delim = ',', quote = '"', escape = '"', new_line = '\r\n', sample_size = -1,
    nullstr = '', allow_quoted_nulls = false"""

csv_file, parquet_file, arrow_file = sys.argv[1:]
with open(arrow_file, "rb") as file:
    arrow_table = pa_ipc.open_stream(file).read_all()
    arrow_table.validate(full=True)
parquet_table = pa_parquet.read_table(parquet_file)
parquet_table.validate(full=True)
options = pa_csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
parse = pa_csv.ParseOptions(newlines_in_values=True)
duckdb.sql("set timezone = 'UTC'")
json.dump(
    {
        "arrow": shown(arrow_table),
        "parquet": shown(parquet_table),
        "csv": shown(pa_csv.read_csv(csv_file, parse_options=parse, convert_options=options)),
        "duckdb_parquet": duck(f"select * from read_parquet('{parquet_file}')"),
        "duckdb_csv": duck(f"select * from read_csv('{csv_file}', {CSV_OPTIONS})"),
        "duckdb_arrow": duck("select * from arrow_table"),
    },
    sys.stdout,
)

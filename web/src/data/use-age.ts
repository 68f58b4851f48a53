/** How often plots of a running study are drawn again. */
import { useEffect, useState } from 'react';
import type { RunTable } from './run-table.ts';
import { useTableVersion } from './use-batch.ts';

/** Changes of the table (0.4 s apart) between two drawings; more of a large study, whose plots change slowly. */
const CHANGES_PER_DRAWING = 5;
const CHANGES_PER_LARGE_DRAWING = 15;
const LARGE = 50_000;
/** After this time without a change the last ones are drawn, however few they are. */
const QUIET_MS = 1_000;

/** The version of the table that is drawn. */
export function useAge(table: RunTable): number {
  const version = useTableVersion(table);
  const [age, setAge] = useState(version);
  useEffect(() => {
    const perDrawing = table.size > LARGE ? CHANGES_PER_LARGE_DRAWING : CHANGES_PER_DRAWING;
    const timer = window.setTimeout(() => setAge(version), version - age >= perDrawing ? 0 : QUIET_MS);
    return () => window.clearTimeout(timer);
  }, [table, version, age]);
  return age;
}

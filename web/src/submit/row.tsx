/** A row of fields with a button that removes it. */
import type { ReactNode } from 'react';

export function Row({ legend, onRemove, children }: { legend: string; onRemove: () => void; children: ReactNode }) {
  return (
    <fieldset className="dispersion">
      <legend className="visually-hidden">{legend}</legend>
      {children}
      <button type="button" className="quiet remove" onClick={onRemove} aria-label={`Remove ${legend}`}>
        ✕
      </button>
    </fieldset>
  );
}

/** A button that copies a text; where the browser has no clipboard, the text is shown. */
import { useState } from 'react';

interface Props {
  label: string;
  text: () => string;
  quiet?: boolean;
}

export function CopyButton({ label, text, quiet = false }: Props) {
  const [state, setState] = useState<'' | 'done' | 'shown'>('');
  const [shown, setShown] = useState('');
  const copy = (): void => {
    const value = text();
    setShown(value);
    // Over plain HTTP from another machine a browser has no clipboard: the text is shown instead.
    if (navigator.clipboard === undefined) setState('shown');
    else
      navigator.clipboard.writeText(value).then(
        () => {
          setState('done');
          window.setTimeout(() => setState(''), 1_500);
        },
        () => setState('shown'),
      );
  };
  return (
    <>
      <button type="button" className={quiet ? 'quiet' : undefined} onClick={copy}>
        {state === 'done' ? 'Copied' : label}
      </button>
      {state === 'shown' && (
        <textarea
          className="copied"
          readOnly
          aria-label={`${label}: the text`}
          rows={Math.min(6, shown.split('\n').length)}
          value={shown}
          onFocus={(event) => event.target.select()}
        />
      )}
    </>
  );
}

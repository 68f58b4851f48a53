/** Small parts of every page: commands to copy, failures, confirmation dialogs. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { meaningOf } from '../../../src/base/text/lexicon.ts';
import { useIsConnected } from '../data/live.ts';

/** A command or path to copy into a terminal. */
export function Command({ text, label = 'Command' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const said = (): void => {
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1_500);
  };
  const copy = (): void => {
    // Over plain HTTP from another machine a browser offers no clipboard; the text can still be selected.
    void navigator.clipboard?.writeText(text).then(said, () => {});
  };
  return (
    <div className="command">
      <code tabIndex={0} role="textbox" aria-readonly="true" aria-label={label}>
        {text}
      </code>
      <button type="button" onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** A button that changes something on the coordinator: off while the connection is lost. */
export function Act({
  children,
  onClick,
  className,
  disabled = false,
  describedBy,
}: {
  children: ReactNode;
  onClick: () => void;
  className?: string | undefined;
  disabled?: boolean;
  describedBy?: string | undefined;
}) {
  const isConnected = useIsConnected();
  return (
    <button
      type="button"
      className={className}
      disabled={disabled || !isConnected}
      title={isConnected ? undefined : 'Not connected to the coordinator'}
      aria-describedby={describedBy}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

/** A text with its first letter in upper case. */
export const sentenceOf = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Failure({ what, detail }: { what: string; detail: string | undefined }) {
  if (detail === undefined) return null;
  return (
    <div className="notice" role="alert">
      <strong>{what}</strong>
      <span>{detail}</span>
    </div>
  );
}

export function Waiting({ what = 'Loading' }: { what?: string }) {
  return (
    <p className="skeleton" role="status">
      {what} …
    </p>
  );
}

export function Panel({
  title,
  aside,
  children,
  flush = false,
}: {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}) {
  return (
    <section className="panel">
      <header>
        <h2 className="grow" title={typeof title === 'string' ? meaningOf(title) : undefined}>
          {title}
        </h2>
        {aside}
      </header>
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

/** A modal dialog, or a drawer at the right, with a heading and a button that closes it, as Escape does. */
export function Dialog({
  title,
  children,
  onClose,
  shape,
}: {
  title: string;
  children: ReactNode;
  onClose: () => void;
  shape?: 'wide' | 'drawer';
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={shape} onClose={onClose} aria-labelledby={id}>
      <div className="dialog-body">
        <div className="row">
          <h2 id={id} className="grow">
            {title}
          </h2>
          <button type="button" className="quiet" onClick={onClose}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

interface AskProps {
  title: string;
  children?: ReactNode;
  /** With a label the dialog also asks for a reason. */
  reason?: string;
  /** The text that the input begins with. */
  initial?: string;
  /** Hides the input like a password. */
  secret?: boolean;
  /** Label of the button that cancels. */
  refusal?: string;
  action: string;
  danger?: boolean;
  onAnswer: (reason: string | undefined) => void;
  onClose: () => void;
}

/** A modal dialog; Escape cancels. */
export function Ask({
  title,
  children,
  reason,
  initial = '',
  secret = false,
  refusal = 'Keep as it is',
  action,
  danger = false,
  onAnswer,
  onClose,
}: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(initial);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="ask-title">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer(text.trim() === '' ? undefined : text.trim());
          onClose();
        }}
      >
        <h2 id="ask-title">{title}</h2>
        {children}
        {reason !== undefined && (
          <label className="field">
            <span>{reason}</span>
            <input
              type={secret ? 'password' : 'text'}
              autoComplete="off"
              value={text}
              maxLength={1000}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        )}
        <footer>
          <button type="button" onClick={onClose}>
            {refusal}
          </button>
          <button type="submit" className={danger ? 'danger' : 'primary'}>
            {action}
          </button>
        </footer>
      </form>
    </dialog>
  );
}

/** A button that reads a text file of this machine; the reason why it could not be used is shown beside it. */
import { useState } from 'react';
import { Failure } from './common.tsx';

interface Props {
  label: string;
  /** The endings of names, as an input takes them. */
  accept: string;
  /** The sentence before the reason of a failure. */
  failing: string;
  /** @throws Error with the reason for a file that cannot be used */
  onOpen: (text: string, name: string) => void | Promise<void>;
}

export function OpenFile({ label, accept, failing, onOpen }: Props) {
  const [failure, setFailure] = useState<string>();
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      await onOpen(await file.text(), file.name);
      setFailure(undefined);
    } catch (error) {
      setFailure(`${file.name}: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <Failure what={failing} detail={failure} />
      <label className="button">
        {label}
        <input
          className="visually-hidden"
          type="file"
          accept={accept}
          onChange={(event) => void open(event.target.files?.[0])}
        />
      </label>
    </>
  );
}

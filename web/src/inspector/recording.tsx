/** A recording of one machine (`snapshots/`), opened from a file and inspected like a live actor. */
import { useState } from 'react';
import { Failure } from '../parts/common.tsx';
import { go, hrefOf } from '../router.ts';
import { readRecording, type Recording } from '../machines/replay.ts';
import { Inspector } from './frame.tsx';
import { stateBars } from './lanes.ts';
import { eventsOf } from './story.ts';

interface Opened extends Recording {
  name: string;
}

/** The last file that was opened; it is not kept over a reload. */
let opened: Opened | undefined;

export function OpenRecording() {
  const [failure, setFailure] = useState<string>();
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      opened = { ...readRecording(await file.text()), name: file.name };
      go(hrefOf(['inspect', 'recording', file.name]));
    } catch (error) {
      setFailure(`${file.name}: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <Failure what="The recording could not be opened." detail={failure} />
      <label className="button">
        Open a recording …
        <input
          className="visually-hidden"
          type="file"
          accept=".json"
          onChange={(event) => void open(event.target.files?.[0])}
        />
      </label>
    </>
  );
}

export function OfRecording({ name }: { name: string }) {
  if (opened?.name !== name) return <OpenRecording />;
  const { kind, steps } = opened;
  const lane = { kind, id: name };
  const events = eventsOf(lane, steps, undefined);
  return (
    <Inspector
      head={
        <>
          <h1 className="grow clip">{name}</h1>
          <OpenRecording />
        </>
      }
      rows={[{ name: 'subject', title: kind, note: 'recorded' }]}
      bars={stateBars('subject', lane, events)}
      events={events}
      actors={[{ lane, name: kind }]}
      since={undefined}
    />
  );
}

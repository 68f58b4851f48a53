/** A recording of one machine (`snapshots/`), opened from a file and inspected like a live actor. */
import { OpenFile } from '../parts/open-file.tsx';
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

export const OpenRecording = () => (
  <OpenFile
    label="Open a recording …"
    accept=".json"
    failing="The recording could not be opened."
    onOpen={(text, name) => {
      opened = { ...readRecording(text), name };
      go(hrefOf(['inspect', 'recording', name]));
    }}
  />
);

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

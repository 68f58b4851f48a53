/** Reads the requests of a viewer on the live feed from untrusted text. */
import { LiveRequest, Position } from '../../contract/live/messages.ts';
import { isValid, schemaFaults } from '../../contract/validation/validate.ts';

/** Returns the request in a message, or its fault. */
export function readRequest(text: string): LiveRequest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the message is not JSON';
  }
  if (isValid(LiveRequest, value)) return value;
  const [fault] = schemaFaults(LiveRequest, value, 1);
  return `the message is not a request: ${fault?.pointer ?? ''} ${fault?.detail ?? ''}`;
}

/** Returns the position, or undefined for any other value: a full message follows then. */
export const readPosition = (value: unknown): Position | undefined => (isValid(Position, value) ? value : undefined);

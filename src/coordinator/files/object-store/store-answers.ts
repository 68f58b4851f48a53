/** Answers of an object store: the elements of its XML, and the errors that follow from a refusal or from silence. */
import { failureOf } from '../../../base/async/deadline.ts';

/** An answer of the store with its body. */
export interface StoreAnswer {
  ok: boolean;
  status: number;
  headers: Headers;
  text: string;
}

/** The store refuses a call or does not answer. */
export class ObjectStoreError extends Error {}

/** The most bytes of an error document that are read. */
const MOST_FAULT_BYTES = 16_384;

/** The contents of the elements of this name; S3's answers nest no element in one of the same name. */
export const elementsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map((it) => it[1] ?? '');

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    return ENTITIES[name ?? ''] ?? whole;
  });

/** The reason that the answer of a store that refuses a request has, with its status. */
export async function refusalOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    text += decoder.decode(part, { stream: true });
    if (bytes > MOST_FAULT_BYTES) break;
  }
  return `${faultOf(text)} (${String(response.status)})`;
}

/** The message of an error document. */
export function faultOf(xml: string): string {
  const [code] = elementsOf(xml, 'Code');
  const [message] = elementsOf(xml, 'Message');
  const text = [code, message].filter((it) => it !== undefined).join(': ');
  return text === '' ? 'the object store refuses' : `the object store refuses: ${unescaped(text).slice(0, 300)}`;
}

export const refused = ({ text, status }: StoreAnswer): ObjectStoreError =>
  new ObjectStoreError(`${faultOf(text)} (${String(status)})`);

export function unreachable(error: unknown, limitMs: number): ObjectStoreError {
  const { cause, isLate } = failureOf(error);
  const why = isLate ? `no answer within ${String(limitMs / 1000)} s` : String(cause);
  return new ObjectStoreError(`the object store cannot be reached: ${why}`, { cause: error });
}

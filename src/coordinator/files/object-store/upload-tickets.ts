/**
 * The ids of uploads as runners get them: the id of the store and what was declared of the file, sealed. An upload is bound to its
 * place, size and digests without a record of it, also after a restart; with another key of the store it begins anew.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A file as its runner declares it before it is sent. */
export interface DeclaredFile {
  size: number;
  /** Digests in hexadecimal: of its content, and of each of its parts. */
  sha256: string;
  parts: readonly string[];
}

/** An upload that has begun. */
export interface BegunUpload {
  /** Of the store. */
  id: string;
  size: number;
  sha256: string;
  /** The digest of the digests of its parts. */
  partsDigest: string;
}

export class UploadTickets {
  readonly #key: Buffer;

  /** @param secret known to the coordinator alone; the key of the seals is derived from it. */
  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update('simbatch upload').digest();
  }

  /** @param place the bucket and key of the object */
  issue(place: string, id: string, { size, sha256, parts }: DeclaredFile): string {
    const content = Buffer.from(JSON.stringify([id, size, sha256, digestOfParts(parts)])).toString('base64url');
    return `${content}.${this.#seal(place, content).toString('base64url')}`;
  }

  /** The upload of a ticket; undefined for any that was not issued here for this place. */
  read(place: string, ticket: string): BegunUpload | undefined {
    const [content = '', seal = ''] = ticket.split('.');
    const given = Buffer.from(seal, 'base64url');
    const expected = this.#seal(place, content);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const [id, size, sha256, partsDigest] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [
      string,
      number,
      string,
      string,
    ];
    return { id, size, sha256, partsDigest };
  }

  #seal(place: string, content: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([place, content]))
      .digest();
  }
}

/** The digest of the digests of parts, in hexadecimal. */
export const digestOfParts = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join()).digest('hex');

/** Keys of requests that must not be carried out twice. */

/** A random key, so that a repeated request creates one study. `randomUUID` does not exist on pages without HTTPS. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((it) => it.toString(16).padStart(2, '0')).join('');

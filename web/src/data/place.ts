/** The place of this dashboard: a proxy may serve it below a path. All other addresses of the pages follow from it. */

/** The path before the addresses of the API, e.g. `/simbatch`; empty at the root. */
export const BASE_PATH = new URL('.', document.baseURI).pathname.replace(/\/$/, '');

/** The address of this coordinator as it is given to programs, e.g. `https://lab.example/simbatch`. */
export const ENDPOINT = `${window.location.origin}${BASE_PATH}`;

/** The codes with which the coordinator closes a WebSocket where it would answer a request with 401 or 403. */

// RFC 6455 leaves the codes from 4000 on to applications.
export const CLOSE_UNAUTHENTICATED = 4401;
export const CLOSE_FORBIDDEN = 4403;

import type { IncomingMessage, ServerResponse } from 'node:http'

/** A step that runs for every request before routing. A thrown error becomes the response. */
export type Middleware = (request: IncomingMessage, response: ServerResponse) => void

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Something that every request goes through before it is answered; what it throws is the answer. */
export type Step = (request: IncomingMessage, response: ServerResponse) => void

import type { ServerResponse } from 'node:http'

const callbacks = new WeakMap<ServerResponse, () => void>()

/** Runs `run` when the response with a media file starts. */
export function onFirstByte(response: ServerResponse, run: () => void): void {
  callbacks.set(response, run)
}

/** Marks the start of a response with a media file. */
export function markFirstByte(response: ServerResponse): void {
  callbacks.get(response)?.()
}

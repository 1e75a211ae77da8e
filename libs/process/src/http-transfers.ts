import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transfer } from './transfer-limiter.ts'

type Progress = Pick<Transfer, 'bytes' | 'isWaitingForClient'>

/**
 * Returns the progress of a request body that is forwarded as it arrives. It waits for the client when all
 * bytes that arrived have been forwarded.
 */
export function uploadProgress(request: IncomingMessage): Progress {
  const { socket } = request
  return {
    bytes: () => socket.bytesRead,
    isWaitingForClient: () => !request.complete && request.readableFlowing === true && request.readableLength === 0,
  }
}

/**
 * Returns the progress of a response body. It waits for the client while there are bytes that the connection does not
 * accept.
 */
export function downloadProgress({ socket }: ServerResponse): Progress {
  return {
    bytes: () => (socket === null ? 0 : socket.bytesWritten - socket.writableLength),
    isWaitingForClient: () => socket !== null && socket.writableLength > 0,
  }
}

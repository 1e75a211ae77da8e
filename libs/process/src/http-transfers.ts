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
 * accept. A response to a pipelined request has no connection before the responses in front of it have ended, so the
 * connection is that of the request. The bytes of these responses count, too.
 */
export function downloadProgress({ req: { socket } }: Pick<ServerResponse, 'req'>): Progress {
  return {
    bytes: () => socket.bytesWritten - socket.writableLength,
    isWaitingForClient: () => socket.writableLength > 0,
  }
}

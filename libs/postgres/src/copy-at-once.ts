import type { Connection, PoolClient, Submittable } from 'pg'

/**
 * Sends a `copy … from stdin` with all its lines behind it, and so has one way to the server and back. The server comes to the lines when the statement
 * runs; where it fails, or a statement in front of it, they are passed over.
 */
export function copyAtOnce(client: PoolClient, text: string, lines: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyAtOnce(text, framed(lines), (error) => (error ? reject(error) : resolve())))
  })
}

/** What `pg` asks of a statement that is not its own. */
class CopyAtOnce implements Submittable {
  readonly #text: string
  readonly #bytes: Buffer
  /** Replaced by `pg`, which looks at the time. */
  callback: (error: Error | null) => void

  constructor(text: string, bytes: Buffer, callback: (error: Error | null) => void) {
    this.#text = text
    this.#bytes = bytes
    this.callback = callback
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
    connection.stream.write(this.#bytes)
  }

  handleCopyInResponse(): void {}

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

const HEAD_BYTES = 5

/** One message of data and the one that ends it, each with its length behind its letter. */
function framed(lines: string): Buffer {
  const length = Buffer.byteLength(lines)
  const bytes = Buffer.allocUnsafe(length + 2 * HEAD_BYTES)
  bytes.write('d', 0, 'latin1')
  bytes.writeUInt32BE(length + 4, 1)
  bytes.write(lines, HEAD_BYTES)
  bytes.write('c', HEAD_BYTES + length, 'latin1')
  bytes.writeUInt32BE(4, HEAD_BYTES + length + 1)
  return bytes
}

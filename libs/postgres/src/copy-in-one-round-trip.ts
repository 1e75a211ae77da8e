import type { Connection, PoolClient, Submittable } from 'pg'

/**
 * Sends a `copy … from stdin` together with all its lines in one round trip. The server reads the
 * lines when the statement runs. If it fails, or a statement before it fails, the server discards
 * them.
 */
export function copyInOneRoundTrip(client: PoolClient, text: string, lines: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyStatement(text, toCopyMessages(lines), (error) => (error ? reject(error) : resolve())))
  })
}

/** A custom statement with the methods that `pg` calls. */
class CopyStatement implements Submittable {
  readonly #text: string
  readonly #bytes: Buffer
  /** `pg` replaces this to add its query timeout. */
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

/** A type byte and a length of four bytes. */
const HEADER_BYTES = 5

/**
 * Returns one CopyData message and one CopyDone message of the protocol. A length includes itself,
 * not the type byte.
 */
function toCopyMessages(lines: string): Buffer {
  const length = Buffer.byteLength(lines)
  const bytes = Buffer.allocUnsafe(length + 2 * HEADER_BYTES)
  bytes.write('d', 0, 'latin1')
  bytes.writeUInt32BE(length + 4, 1)
  bytes.write(lines, HEADER_BYTES)
  bytes.write('c', HEADER_BYTES + length, 'latin1')
  bytes.writeUInt32BE(4, HEADER_BYTES + length + 1)
  return bytes
}

/**
 * A response that is sent as a stream. An error after its first part closes the connection, so that
 * a client cannot mistake a partial response for a complete one.
 */
export class Streamed {
  readonly parts: AsyncIterable<Uint8Array>
  readonly headers: Readonly<Record<string, string>>

  constructor(parts: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>>) {
    this.parts = parts
    this.headers = headers
  }
}

/** A JSON text as the body of a reply. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A response that is not plain JSON, or that has its own status or headers. */
export class Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | object
  /** Time of the last change of the record. The ETag of the response contains it, for `If-Match` of a change. */
  readonly updateTime: Date | undefined

  constructor(
    body: string | object,
    options: { status?: number; headers?: Readonly<Record<string, string>>; updateTime?: Date | undefined } = {},
  ) {
    this.body = body
    this.updateTime = options.updateTime
    this.status = options.status ?? 200
    this.headers = options.headers ?? {}
  }
}

import { expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Call, serviceCall } from '@vitascope/grpc'
import { Caption, CaptionLine, type ReadCaptionResponse } from '@vitascope/proto/catalogue/v1/caption'
import type { Services } from '../services.ts'
import { readCaption, readStored } from './read-caption.ts'

const caption = Caption.create({ captionId: '7' })
const lines = [CaptionLine.create({ text: 'a' }), CaptionLine.create({ text: 'b' })]
const away = new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'away')

/** A catalogue that is away so many times. */
function contextOf(failures: number, more: Partial<Call> = {}, failure = away) {
  let left = failures
  async function* answer(_: unknown, { signal }: Call): AsyncGenerator<ReadCaptionResponse> {
    signal.throwIfAborted()
    if (left-- > 0) throw failure
    yield { caption, lines: lines.slice(0, 1) }
    yield { caption: undefined, lines: lines.slice(1) }
  }
  // No other service is asked.
  return { services: { captions: { readCaption: answer } } as unknown as Services, call: { ...serviceCall('test', 'r'), ...more } }
}

test('what was stored is read when the time of the write is over', async () => {
  expect(await readStored('7', contextOf(0, { deadline: new Date(Date.now() - 1_000) }))).toEqual({ caption, lines })
})

test('after a write, a service that is away for a moment is waited for; a plain read says so', async () => {
  expect(await readStored('7', contextOf(2))).toEqual({ caption, lines })
  await expect(readCaption('7', contextOf(1))).rejects.toBe(away)
})

test('other refusals, and callers that hang up, end it', async () => {
  const gone = new DomainError('not_found', 'CAPTION_NOT_FOUND', 'gone')
  await expect(readStored('7', contextOf(1, {}, gone))).rejects.toBe(gone)
  await expect(readStored('7', contextOf(99, { signal: AbortSignal.timeout(300) }))).rejects.toThrow()
})

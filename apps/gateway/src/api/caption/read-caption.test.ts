import { expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Call, serviceCall } from '@vitascope/grpc'
import { Caption, CaptionLine, type ReadCaptionResponse } from '@vitascope/proto/catalogue/v1/caption'
import type { Services } from '../../clients/services.ts'
import { readCaption, readStored } from './read-caption.ts'

const caption = Caption.create({ captionId: '7' })
const lines = [CaptionLine.create({ text: 'a' }), CaptionLine.create({ text: 'b' })]
const unavailable = new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'unavailable')

/** A catalogue that fails this many times before it responds. */
function buildContext(failures: number, more: Partial<Call> = {}, failure = unavailable) {
  let remainingFailures = failures
  async function* answer(_: unknown, { signal }: Call): AsyncGenerator<ReadCaptionResponse> {
    signal.throwIfAborted()
    if (remainingFailures-- > 0) throw failure
    yield { caption, lines: lines.slice(0, 1) }
    yield { caption: undefined, lines: lines.slice(1) }
  }
  // Only the captions service is called.
  return { services: { captions: { readCaption: answer } } as unknown as Services, call: { ...serviceCall('test', 'r'), ...more } }
}

test('readStored reads the caption after the deadline of the write has passed', async () => {
  expect(await readStored('7', buildContext(0, { deadline: new Date(Date.now() - 1_000) }))).toEqual({ caption, lines })
})

test('readStored retries while the catalogue is unavailable, and readCaption does not', async () => {
  expect(await readStored('7', buildContext(2))).toEqual({ caption, lines })
  await expect(readCaption('7', buildContext(1))).rejects.toBe(unavailable)
})

test('readStored stops on any other error and when the client disconnects', async () => {
  const notFound = new DomainError('not_found', 'CAPTION_NOT_FOUND', 'not found')
  await expect(readStored('7', buildContext(1, {}, notFound))).rejects.toBe(notFound)
  await expect(readStored('7', buildContext(99, { signal: AbortSignal.timeout(300) }))).rejects.toThrow()
})

// Faults: B16
import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DomainError, isDomainError } from '@vitascope/errors'
import { waitFor } from '@vitascope/testing'
import { type FormFields, receiveFileForm } from './file-form.ts'
import { createFormGate } from './form-gate.ts'

const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n'
const field = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

let server: Server
let url: string
let settings: { timeoutMs: number; onFields: (fields: FormFields) => void }
let gate = createFormGate()
/**
 * For each form, its content or the reason of its rejection, in the order in which the forms ended.
 */
let outcomes: string[]

beforeEach(async () => {
  settings = { timeoutMs: 60_000, onFields: () => {} }
  // A list per server, so that late reports of an earlier server are not counted.
  const ownOutcomes: string[] = []
  outcomes = ownOutcomes
  server = createServer(async (request, response) => {
    const onFile = async (fields: FormFields, file: NodeJS.ReadableStream) => `${fields.size} fields, ${(await text(file)).length} bytes`
    const client = String(request.headers['x-forwarded-for'])
    const { onFields, timeoutMs } = settings
    const outcome = await receiveFileForm(request, { gate, client, onFields, onFile, timeoutMs }).catch((error: unknown) => {
      return isDomainError(error) ? error.reason : 'aborted'
    })
    ownOutcomes.push(outcome)
    response.writeHead(200, { connection: 'close' }).end(outcome)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
})

/** Sends this start of a form, and leaves the request open. */
function send(beginning: string, from = 'a') {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 100_000_000, 'x-forwarded-for': from }
  const request = httpRequest(url, { method: 'POST', headers })
  request.on('error', () => {}).write(beginning)
  return request
}
const post = (body: string) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'multipart/form-data; boundary=b' } }).then((result) => result.text())

test('rejects a form whose file does not start in time', async () => {
  settings.timeoutMs = 100
  send(field('key', 'x'))
  const slowFile = send(`${field('key', 'x')}${FILE}some bytes`)
  await waitFor(() => outcomes.length === 1)
  expect(outcomes).toEqual(['REQUEST_TIMEOUT'])
  slowFile.destroy()
})

test('the fields before the file may have 64 KiB in all', async () => {
  const many = Array.from({ length: 40 }, (_, nth) => field(`x-ignore-${nth}`, 'x'.repeat(2_000))).join('')
  send(many)
  await waitFor(() => outcomes.length === 1)
  send('x'.repeat(70_000))
  await waitFor(() => outcomes.length === 2)
  expect(outcomes).toEqual(['PAYLOAD_TOO_LARGE', 'PAYLOAD_TOO_LARGE'])
  expect(await post(`${field('a', 'x'.repeat(60_000))}${FILE}${'y'.repeat(1_000_000)}\r\n--b--\r\n`)).toBe('1 fields, 1000000 bytes')
})

test('rejects a form by its fields before the file arrives', async () => {
  settings.onFields = (fields) => {
    if (fields.get('policy') === 'bad') throw new DomainError('forbidden', 'POLICY_REFUSED', 'no')
  }
  // A field ends where the next one starts.
  send(`${field('policy', 'bad')}${field('key', 'x').slice(0, 20)}`)
  await waitFor(() => outcomes.length === 1)
  expect(outcomes).toEqual(['POLICY_REFUSED'])
})

test('with too many pending forms, rejects the oldest one of the client with most of them', async () => {
  gate = createFormGate(3)
  send(field('key', '1'), 'b')
  for (let nth = 0; nth < 5; nth++) send(field('key', `${nth}`), 'a')
  await waitFor(() => outcomes.length === 3)
  expect(outcomes).toEqual(['OVERLOADED', 'OVERLOADED', 'OVERLOADED'])
  expect(await post(`${field('key', 'x')}${FILE}abc\r\n--b--\r\n`)).toBe('1 fields, 3 bytes')
  gate = createFormGate()
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

// Minimal server that accepts one event per request and stores it durably: plain `node:http`,
// JSON.parse, and one insert for all events that arrived during the previous insert. Run `node
// bare-intake.ts DATABASE_URL`; it prints its port.

const pool = new pg.Pool({ connectionString: process.argv[2], max: 2 })
pool.on('error', (error) => {
  console.error(error)
  process.exit(1)
})
const WRITERS = 2
const waiting: { line: string; done: () => void }[] = []
let writers = 0

async function write(): Promise<void> {
  writers++
  while (waiting.length > 0) {
    const batch = waiting.splice(0, 5_000)
    await pool.query('insert into bare_intake_event select * from json_populate_recordset(null::bare_intake_event, $1::json)', [
      `[${batch.map(({ line }) => line).join()}]`,
    ])
    for (const { done } of batch) done()
  }
  writers--
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const events = JSON.parse(Buffer.concat(chunks).toString()) as unknown[]
    waiting.push({
      line: events.map((event) => JSON.stringify(event)).join(),
      done: () => response.writeHead(202, { 'content-type': 'application/json' }).end(`{"accepted":${events.length},"rejected":[]}`),
    })
    if (writers < WRITERS) setImmediate(() => void write())
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
// The process exits with its parent.
process.stdin.resume().on('end', () => process.exit())

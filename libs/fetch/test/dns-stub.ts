import { createSocket } from 'node:dgram'

const typeA = 1
const typeCname = 5
const typeAaaa = 28

/** Addresses, or an alias with its addresses, that answer a DNS query. */
export interface DnsAnswer {
  a?: readonly string[]
  aaaa?: readonly Uint8Array[]
  cname?: string
}

/**
 * Starts a name server on 127.0.0.1:53 whose responses have a TTL of 0. `answer` is called once for
 * each A or AAAA query. If it returns undefined, the name does not exist. If it returns `silence`,
 * no response is sent.
 */
export async function startDnsStub(
  answer: (name: string, type: 'A' | 'AAAA') => DnsAnswer | 'silence' | undefined,
): Promise<{ stop(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = parseQuestion(query)
    const response = type === typeA ? answer(name, 'A') : type === typeAaaa ? answer(name, 'AAAA') : ({} as DnsAnswer)
    if (response === 'silence') return
    const records: Buffer[] = []
    if (response?.cname) records.push(record(name, typeCname, encodeName(response.cname)))
    const owner = response?.cname ?? name
    if (type === typeA)
      for (const address of response?.a ?? []) records.push(record(owner, typeA, Buffer.from(address.split('.').map(Number))))
    if (type === typeAaaa) for (const address of response?.aaaa ?? []) records.push(record(owner, typeAaaa, Buffer.from(address)))
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(response ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(53, '127.0.0.1', resolve)
  })
  return { stop: () => socket.close() }
}

function parseQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(owner), fixed, data])
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

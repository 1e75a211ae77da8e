/**
 * Builds an MMDB file (MaxMind DB format 2.0, IPv6, records of 24 bits) with the countries of networks such as
 * `203.0.113.0/24`. It is for tests: every network is inserted bit by bit.
 */
export function buildCountryDatabase(countries: Readonly<Record<string, string>>): Buffer {
  type Node = [Child, Child]
  type Child = Node | { country: string } | undefined
  const root: Node = [undefined, undefined]
  for (const [network, country] of Object.entries(countries)) {
    const bits = toBits(network)
    let node = root
    for (const bit of bits.slice(0, -1)) {
      const child = node[bit]
      const next: Node = Array.isArray(child) ? child : [undefined, undefined]
      node[bit] = next
      node = next
    }
    node[bits.at(-1) ?? 0] = { country }
  }
  const nodes: Node[] = []
  const visit = (node: Node) => {
    nodes.push(node)
    for (const child of node) if (Array.isArray(child)) visit(child)
  }
  visit(root)
  const numbers = new Map(nodes.map((node, index) => [node, index]))
  const data: Buffer[] = []
  let length = 0
  const append = (country: string) => {
    const position = length
    const record = encode({ country: { iso_code: country } })
    data.push(record)
    length += record.length
    return position
  }
  const toRecord = (child: Child): number => {
    if (child === undefined) return nodes.length
    return Array.isArray(child) ? (numbers.get(child) ?? 0) : nodes.length + 16 + append(child.country)
  }
  const tree = Buffer.alloc(nodes.length * 6)
  for (const [index, [left, right]] of nodes.entries()) {
    tree.writeUIntBE(toRecord(left), index * 6, 3)
    tree.writeUIntBE(toRecord(right), index * 6 + 3, 3)
  }
  const metadata = encode({
    ...{ binary_format_major_version: 2, binary_format_minor_version: 0, build_epoch: 1_700_000_000, database_type: 'Test-Country' },
    ...{ description: { en: 'Countries for tests' }, ip_version: 6, languages: [], node_count: nodes.length, record_size: 24 },
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata])
}

/** Returns the bits of the prefix of a network in the IPv6 tree, where IPv4 is below `::/96`. */
function toBits(network: string): (0 | 1)[] {
  const [address = '', prefix = ''] = network.split('/')
  const isIpv4 = !address.includes(':')
  const bytes = isIpv4 ? [...Array(12).fill(0), ...address.split('.').map(Number)] : toBytes(address)
  const count = Number(prefix) + (isIpv4 ? 96 : 0)
  return bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((shift): 0 | 1 => ((byte >> shift) & 1 ? 1 : 0))).slice(0, count)
}

function toBytes(address: string): number[] {
  const [head = '', tail = ''] = address.split('::')
  const toGroups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [toGroups(head), toGroups(tail)]
  return [...first, ...Array(8 - first.length - last.length).fill(0), ...last].flatMap((group: number) => [group >> 8, group & 255])
}

type Value = string | number | readonly Value[] | { readonly [key: string]: Value }

/** Encodes a value in the format of the data section: a byte with type and size, then the content. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([encodeControl(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([encodeControl(6, 4), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([encodeControl(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value)
  return Buffer.concat([encodeControl(7, entries.length), ...entries.flatMap(([key, item]) => [encode(key), encode(item)])])
}

/** Returns the bytes in front of a value. The first one has the type in 3 bits and the size in 5. Types above 7 have a second one. */
function encodeControl(type: number, size: number): Buffer {
  if (size >= 29) throw new Error('only short values are supported')
  return type > 7 ? Buffer.from([size, type - 7]) : Buffer.from([(type << 5) | size])
}

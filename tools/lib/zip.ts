import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inflateRawSync } from 'node:zlib'

/**
 * Writes members of a zip file into a folder, as executables with the given names. Throws if one is
 * missing.
 */
export function takeOutOfZip(file: string, members: Record<string, string>, folder: string): void {
  const zip = openSync(file, 'r')
  try {
    const entries = directoryOf(zip, statSync(file).size)
    for (const [member, name] of Object.entries(members)) {
      const entry = entries.find((candidate) => candidate.name === member)
      if (!entry) throw new Error(`${file} holds no ${member}`)
      const target = join(folder, name)
      mkdirSync(dirname(target), { recursive: true })
      // Written to a temporary file and renamed, because another run may look for it.
      writeFileSync(`${target}.${process.pid}`, contentOf(zip, entry), { mode: 0o755 })
      renameSync(`${target}.${process.pid}`, target)
    }
  } finally {
    closeSync(zip)
  }
}

interface Entry {
  name: string
  method: number
  packedBytes: number
  offset: number
}

const END = { signature: 0x06054b50, bytes: 22, maxCommentBytes: 65_535 }
const STORED = 0
const DEFLATED = 8

/**
 * Returns the entries of the central directory. The zip64 format of files beyond 4 GiB is not
 * supported.
 */
function directoryOf(zip: number, size: number): Entry[] {
  const tail = bytesAt(zip, Math.max(0, size - END.bytes - END.maxCommentBytes), Math.min(size, END.bytes + END.maxCommentBytes))
  let end = tail.length - END.bytes
  while (end >= 0 && tail.readUInt32LE(end) !== END.signature) end--
  if (end < 0) throw new Error('this is no zip file')
  const directory = bytesAt(zip, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12))
  const entries: Entry[] = []
  for (let at = 0; at < directory.length; ) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    })
    at += 46 + nameBytes + extraBytes + commentBytes
  }
  return entries
}

function contentOf(zip: number, { name, method, packedBytes, offset }: Entry): Buffer {
  const header = bytesAt(zip, offset, 30)
  const packed = bytesAt(zip, offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), packedBytes)
  if (method === DEFLATED) return inflateRawSync(packed)
  if (method === STORED) return packed
  throw new Error(`${name} is packed by method ${method}, which is not read here`)
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (readSync(file, bytes, 0, length, position) < length) throw new Error('the zip file is cut off')
  return bytes
}

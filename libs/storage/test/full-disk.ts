import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isDomainError } from '@vitascope/errors'
import { openFileStorage } from '@vitascope/storage'

// This program runs on a file system of 1 MiB, whose path is the argument. It prints as JSON the
// result of storing an object that is too large, and of a smaller one afterwards.
const root = process.argv[2] ?? ''
const storage = await openFileStorage({ root })
await storage.put('small', Buffer.alloc(1000))
const domainError = await storage.put('large/one', Buffer.alloc(2 << 20)).catch((error: unknown) => error)
const names: string[] = []
for await (const { name } of storage.list('')) names.push(name)
const incomingFiles = await readdir(join(root, '.incoming'))
const { bytes: bytesStoredLater } = await storage.put('fits', Buffer.alloc(1 << 19))
console.log(
  JSON.stringify({
    domainError: isDomainError(domainError) ? [domainError.kind, domainError.reason] : String(domainError),
    names,
    incomingFiles,
    bytesStoredLater,
  }),
)

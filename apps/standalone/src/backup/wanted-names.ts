import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { textLines } from './json-lines.ts'

/** Which objects the rows of a snapshot tell of. Asked for names in byte order, each once; holds one name at a time. */
export interface WantedNames {
  has(object: string): Promise<boolean>
  /** The rest is not there; answers what must be and was not asked for. */
  end(): Promise<string[]>
}

/** Below these every name has its row; what lies elsewhere is none of the rows' business, and always wanted. */
const TOLD = /^(media|slides|source|tus|uploads|work)\//
/** More are not listed. */
const MOST_MISSING = 1_000

interface Name {
  /** With a slash at its end: everything below. */
  name: string
  isNeeded: boolean
  isFound: boolean
}

/** `file` has lines of name and whether it must be there, sorted by the bytes of the name, as `copy` writes them. No name is below another one. */
export function readWantedNames(file: string): WantedNames {
  const lines = textLines(createReadStream(file).pipe(createGunzip()))
  const missing: string[] = []
  let current: Name | undefined
  let isBegun = false
  const next = async () => {
    if (current?.isNeeded && !current.isFound && missing.length < MOST_MISSING) missing.push(current.name)
    const { value, done } = await lines.next()
    const [name = '', needed] = done ? [] : value.split('\t')
    current = done ? undefined : { name, isNeeded: needed === 't', isFound: false }
  }
  return {
    async has(object) {
      if (!TOLD.test(object)) return true
      if (!isBegun) await next()
      isBegun = true
      // In the order of bytes, whatever a name covers follows it before anything else does.
      while (current && current.name < object && !covers(current.name, object)) await next()
      if (!current || !covers(current.name, object)) return false
      current.isFound = true
      return true
    },
    async end() {
      if (!isBegun) await next()
      while (current) await next()
      return missing
    },
  }
}

function covers(name: string, object: string): boolean {
  return name.endsWith('/') ? object.startsWith(name) : object === name
}

import { findArea } from '@vitascope/storage'
import { readTextLines } from './json-lines.ts'

/**
 * The objects that the rows of a snapshot refer to. Names must be queried in byte order, each once.
 * Only one name is in memory at a time.
 */
export interface ReferencedObjects {
  has(object: string): Promise<boolean>
  /** Ends the query. Returns the required names that were not queried. */
  end(): Promise<string[]>
}

/** Maximum number of names in the list. */
const MAX_MISSING = 1_000

interface Name {
  /** Name of an object. With a trailing slash, it covers all objects below it. */
  name: string
  isRequired: boolean
  isQueried: boolean
}

/**
 * Reads names from `file`. Its lines have a name and whether it is required, sorted by the bytes of
 * the name, as `copy` of PostgreSQL writes them. No name lies below another one.
 */
export function readReferencedObjects(file: string): ReferencedObjects {
  const lines = readTextLines(file)
  const missing: string[] = []
  let current: Name | undefined
  let hasStarted = false
  const moveNext = async () => {
    if (current?.isRequired && !current.isQueried && missing.length < MAX_MISSING) missing.push(current.name)
    const { value, done } = await lines.next()
    const [name = '', required] = done ? [] : value.split('\t')
    current = done ? undefined : { name, isRequired: required === 't', isQueried: false }
  }
  return {
    async has(object) {
      // Objects outside of the areas have no rows and are always included.
      if (findArea(object) === undefined) return true
      if (!hasStarted) await moveNext()
      hasStarted = true
      // In byte order, everything that a name covers directly follows it.
      while (current && current.name < object && !matchesReference(current.name, object)) await moveNext()
      if (!current || !matchesReference(current.name, object)) return false
      current.isQueried = true
      return true
    },
    async end() {
      if (!hasStarted) await moveNext()
      while (current) await moveNext()
      return missing
    },
  }
}

function matchesReference(name: string, object: string): boolean {
  return name.endsWith('/') ? object.startsWith(name) : object === name
}

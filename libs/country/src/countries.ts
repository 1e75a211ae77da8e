import { readFileSync, statSync } from 'node:fs'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { type CountryResponse, Reader } from 'mmdb-lib'

const DEFAULT_CHECK_MS = 60_000

export interface Countries {
  /** Returns the ISO 3166-1 code of the country of an IPv4 or IPv6 address, or undefined if it is unknown. */
  find(address: string): string | undefined
  close(): void
}

/** Without a database every country is unknown. */
export const NO_COUNTRIES: Countries = { find: () => undefined, close: () => {} }

export interface CountryTools {
  log: Logger
  metrics: Metrics
  /** Pause between two checks whether the file has changed. */
  checkMs?: number
}

/**
 * Opens an MMDB file with countries, such as GeoLite2 Country or DB-IP Country Lite. The file is read again after it
 * has changed. While it is missing or damaged, the last readable file applies, and countries are unknown if there was
 * none. A lookup takes a few microseconds. Reading a file of 10 MB blocks the process for a few milliseconds.
 */
export function openCountries(file: string, { log, metrics, checkMs = DEFAULT_CHECK_MS }: CountryTools): Countries {
  const loaded = metrics.gauge(
    'vitascope_country_database_loaded',
    'Whether the country database was readable at the last check: 1 if it was, otherwise 0',
  )
  const built = metrics.gauge(
    'vitascope_country_database_build_timestamp_seconds',
    'Time when the country database in use was built, in seconds since 1970',
  )
  let reader: Reader<CountryResponse> | undefined
  let version: string | undefined
  const load = (): void => {
    const current = readVersion(file)
    if (current === version) return
    const next = read(file)
    version = current
    loaded.set(next.error === undefined ? 1 : 0)
    if (!next.reader) {
      const use = reader ? 'the previous country database stays in use' : 'countries are unknown'
      log.error({ err: next.error, file }, `the country database cannot be read; ${use}`)
      return
    }
    reader = next.reader
    const { buildEpoch } = next.reader.metadata
    built.set(buildEpoch.getTime() / 1_000)
    log.info({ file, built: buildEpoch }, 'the country database was loaded')
  }
  load()
  const checks = setInterval(load, checkMs).unref()
  return { find: (address) => findCountry(reader, address), close: () => clearInterval(checks) }
}

/** Identifies the content of a file: an update replaces the file or writes it again. */
function readVersion(file: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch (error) {
    return `unreadable ${(error as NodeJS.ErrnoException).code}`
  }
}

function read(file: string): { reader: Reader<CountryResponse>; error?: never } | { error: unknown; reader?: never } {
  try {
    const reader = new Reader<CountryResponse>(readFileSync(file))
    // A damaged tree shows only in lookups.
    for (const address of ['1.1.1.1', '203.0.113.7', ...(reader.metadata.ipVersion === 6 ? ['2001:db8::1', '2a00::1'] : [])])
      reader.get(address)
    return { reader }
  } catch (error) {
    return { error }
  }
}

function findCountry(reader: Reader<CountryResponse> | undefined, address: string): string | undefined {
  if (!reader || (address.includes(':') && reader.metadata.ipVersion === 4)) return undefined
  try {
    return reader.get(address)?.country?.iso_code
  } catch {
    // A damaged record, or a text that is not an address. Each rule states what an unknown country means.
    return undefined
  }
}

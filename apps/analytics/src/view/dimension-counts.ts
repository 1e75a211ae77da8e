import { DIMENSIONS, type Dimension, OTHER, parseClient } from './dimension.ts'
import { addNumbers, type ClientDay, type CountName, type Counts, findOrCreateRow, zeroCounts } from './roll-up.ts'

export interface OrganisationDimension extends Counts<CountName> {
  organisationId: string
  dimension: Dimension
  day: string
  value: string
}

export interface VideoDimension extends OrganisationDimension {
  videoId: string
}

/** Counts by each dimension, or differences to them. The keys of the maps are the keys of the rows. */
export interface DimensionCounts {
  organisations: Map<string, OrganisationDimension>
  videos: Map<string, VideoDimension>
}

/** A referrer of a day, and the organisation whose rows contain it. */
export interface ReferrerDay {
  organisationId: string
  day: string
  referrer: string
}

/** Returns the counts by each dimension. Referrers whose keys are not in `counted` count as `other`. */
export function countDimensions(clientDays: Iterable<ClientDay>, counted: ReadonlySet<string>): DimensionCounts {
  const counts: DimensionCounts = { organisations: new Map(), videos: new Map() }
  for (const { organisationId, videoId, day, client, numbers } of clientDays) {
    const values = parseClient(client)
    for (const dimension of DIMENSIONS) {
      const known = values[dimension]
      const isUncounted =
        dimension === 'referrer' && isDomain(known) && !counted.has(toReferrerKey({ organisationId, day, referrer: known }))
      const value = isUncounted ? OTHER : known
      const organisation = findOrCreateRow(counts.organisations, `${organisationId}\n${dimension}\n${day}\n${value}`, () => ({
        ...{ organisationId, dimension, day, value },
        numbers: zeroCounts(),
        lists: {},
      }))
      addNumbers(organisation.numbers, numbers)
      const video = findOrCreateRow(counts.videos, `${videoId}\n${dimension}\n${day}\n${value}`, () => ({
        ...{ organisationId, videoId, dimension, day, value },
        numbers: zeroCounts(),
        lists: {},
      }))
      addNumbers(video.numbers, numbers)
    }
  }
  return counts
}

/** Returns the distinct referrers of the views that can have a row of their own, with the number of their views. */
export function listReferrers(clientDays: Iterable<ClientDay>): (ReferrerDay & { loads: number })[] {
  const referrers = new Map<string, ReferrerDay & { loads: number }>()
  for (const { organisationId, day, client, numbers } of clientDays) {
    const { referrer } = parseClient(client)
    if (!isDomain(referrer)) continue
    const row = findOrCreateRow(referrers, toReferrerKey({ organisationId, day, referrer }), () => ({
      ...{ organisationId, day, referrer },
      loads: 0,
    }))
    row.loads += numbers.loads
  }
  return [...referrers.values()]
}

export function toReferrerKey({ organisationId, day, referrer }: ReferrerDay): string {
  return `${organisationId}\n${day}\n${referrer}`
}

/** Returns whether a referrer is a domain, and not missing or `other`. */
function isDomain(referrer: string): boolean {
  return referrer !== '' && referrer !== OTHER
}

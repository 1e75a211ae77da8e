import { cellCount } from './cells.ts'
import { BUCKETS, type Contribution } from './contribution.ts'

/** The counts of one row of a roll-up, or differences to them. All are integers. */
export interface Counts<Name extends string, List extends string = never> {
  numbers: Record<Name, number>
  lists: Record<List, number[]>
}

export type CountName = 'loads' | 'plays' | 'completes' | 'bounces'

export interface OrganisationDay extends Counts<CountName> {
  organisationId: string
  day: string
  language: string
  subtitle: string
}
export interface VideoDay extends Counts<CountName | 'share_ppm' | 'viewing_ms', 'buckets' | 'furthest'> {
  organisationId: string
  videoId: string
  day: string
  language: string
}
export interface VideoHeat extends Counts<'views', 'watched' | 'rewatched'> {
  videoId: string
  day: string
  durationMs: number
}
export interface VideoQuality
  extends Counts<'views' | 'started' | 'startup_ms' | 'stalled' | 'stalls' | 'stalled_ms' | 'switches' | 'failed'> {
  videoId: string
  day: string
}

/** Counts of all views of a video by the same client. They become rows of each dimension when they are stored. */
export interface ClientDay extends Counts<CountName> {
  organisationId: string
  videoId: string
  day: string
  client: string
}

/** The roll-ups of views, or differences to them. The keys of the maps are the keys of the rows. */
export interface RollUps {
  organisationDays: Map<string, OrganisationDay>
  videoDays: Map<string, VideoDay>
  heats: Map<string, VideoHeat>
  qualities: Map<string, VideoQuality>
  clientDays: Map<string, ClientDay>
}

export function emptyRollUps(): RollUps {
  return { organisationDays: new Map(), videoDays: new Map(), heats: new Map(), qualities: new Map(), clientDays: new Map() }
}

/** Adds the contribution of a view in place, or subtracts it if `sign` is -1. */
export function addContribution(rollUps: RollUps, view: Contribution, sign: 1 | -1): void {
  const { organisationId, videoId, day, language, subtitle, client } = view
  const organisationDay = findOrCreateRow(rollUps.organisationDays, `${organisationId}\n${day}\n${language}\n${subtitle}`, () => ({
    ...{ organisationId, day, language, subtitle },
    numbers: zeroCounts(),
    lists: {},
  }))
  addCounts(organisationDay.numbers, view, sign)
  const videoDay = findOrCreateRow(rollUps.videoDays, `${videoId}\n${day}\n${language}`, () => ({
    ...{ organisationId, videoId, day, language },
    numbers: { ...zeroCounts(), share_ppm: 0, viewing_ms: 0 },
    lists: { buckets: zeros(BUCKETS), furthest: zeros(BUCKETS) },
  }))
  addCounts(videoDay.numbers, view, sign)
  videoDay.numbers.share_ppm += sign * view.sharePpm
  videoDay.numbers.viewing_ms += sign * view.viewingMs
  if (view.played) {
    for (let bucket = 0; bucket < BUCKETS; bucket++) if ((view.buckets >> bucket) & 1) addAt(videoDay.lists.buckets, bucket, sign)
    addAt(videoDay.lists.furthest, view.furthestBucket, sign)
  }
  if (view.heat) addHeat(rollUps, view, view.heat, sign)
  if (view.quality) addQuality(rollUps, view, view.quality, sign)
  if (client === '') return
  const clientDay = findOrCreateRow(rollUps.clientDays, `${videoId}\n${day}\n${client}`, () => ({
    ...{ organisationId, videoId, day, client },
    numbers: zeroCounts(),
    lists: {},
  }))
  addCounts(clientDay.numbers, view, sign)
}

function addHeat(rollUps: RollUps, { videoId, day }: Contribution, heat: NonNullable<Contribution['heat']>, sign: 1 | -1): void {
  const { durationMs } = heat
  const cells = cellCount(durationMs)
  const row = findOrCreateRow(rollUps.heats, `${videoId}\n${day}\n${durationMs}`, () => ({
    ...{ videoId, day, durationMs },
    numbers: { views: 0 },
    lists: { watched: zeros(cells), rewatched: zeros(cells) },
  }))
  row.numbers.views += sign
  for (const cell of heat.watched) addAt(row.lists.watched, cell, sign)
  for (const cell of heat.rewatched) addAt(row.lists.rewatched, cell, sign)
}

function addQuality(rollUps: RollUps, { videoId, day }: Contribution, quality: NonNullable<Contribution['quality']>, sign: 1 | -1): void {
  const row = findOrCreateRow(rollUps.qualities, `${videoId}\n${day}`, () => ({
    ...{ videoId, day },
    numbers: { views: 0, started: 0, startup_ms: 0, stalled: 0, stalls: 0, stalled_ms: 0, switches: 0, failed: 0 },
    lists: {},
  }))
  addNumbers(row.numbers, {
    views: sign,
    started: quality.startupMs === undefined ? 0 : sign,
    startup_ms: sign * (quality.startupMs ?? 0),
    stalled: quality.stalls > 0 ? sign : 0,
    stalls: sign * quality.stalls,
    stalled_ms: sign * quality.stalledMs,
    switches: sign * quality.switches,
    failed: quality.failed ? sign : 0,
  })
}

/** Returns the rows that have a count other than 0. */
export function findNonZeroRows<Row extends Counts<string, string>>(rows: Map<string, Row>): Row[] {
  return [...rows.values()].filter(
    ({ numbers, lists }) =>
      Object.values<number>(numbers).some((n) => n !== 0) || Object.values<number[]>(lists).some((list) => list.some((n) => n !== 0)),
  )
}

export function zeroCounts(): Record<CountName, number> {
  return { loads: 0, plays: 0, completes: 0, bounces: 0 }
}

export function findOrCreateRow<Row>(rows: Map<string, Row>, key: string, createRow: () => Row): Row {
  const existing = rows.get(key)
  if (existing) return existing
  const row = createRow()
  rows.set(key, row)
  return row
}

function addCounts(counts: Record<CountName, number>, { played, complete, bounced }: Contribution, sign: 1 | -1): void {
  counts.loads += sign
  if (played) counts.plays += sign
  if (complete) counts.completes += sign
  if (bounced) counts.bounces += sign
}

export function addNumbers<Name extends string>(sums: Record<Name, number>, summands: Record<Name, number>): void {
  for (const name of Object.keys(summands) as Name[]) sums[name] += summands[name]
}

function addAt(list: number[], index: number, summand: number): void {
  list[index] = (list[index] ?? 0) + summand
}

function zeros(count: number): number[] {
  return Array<number>(count).fill(0)
}

import type { Db } from '@vitascope/postgres'
import { findArea, type ObjectStorage } from '@vitascope/storage'
import { findOrphans, type Orphan, type ScanSummary } from './find-orphans.ts'
import { findMissingUploads } from './missing-uploads.ts'
import { dropUnrecordedPrefixes } from './object-prefix.ts'
import { isSweepPaused } from './sweep-hold.ts'
import { findMissingSets } from './unrecorded-objects.ts'

/** One finding of a sweep. */
export type Finding = { kind: 'orphan'; orphan: Orphan; done: OrphanOutcome } | { kind: 'missing'; name: string }

/**
 * `would be removed`: dry run. `dropped`: the running service deletes it in its next passes, a set
 * only if it is not in use. `no longer orphaned`: a row was written, or the object was deleted, in
 * the meantime.
 */
export type OrphanOutcome = 'would be removed' | 'dropped' | 'removed' | 'no longer orphaned'

export interface SweepSummary extends ScanSummary {
  orphans: number
  orphanObjects: number
  orphanBytes: number
  /** Rows whose objects are missing. */
  missing: number
}

/** Thrown while a backup copies objects. */
export class SweepPausedError extends Error {
  constructor() {
    super('a backup is copying objects, so no object may be deleted: run the sweep after the backup, or with --dry-run')
    this.name = 'SweepPausedError'
  }
}

/**
 * Compares storage and rows in both directions, and drops the orphans unless it is a dry run.
 * Throws `SweepPausedError` while a backup copies objects.
 */
export async function sweepOrphans(
  { db, storage, graceMs, isDry }: { db: Db; storage: ObjectStorage; graceMs: number; isDry: boolean },
  report: (finding: Finding) => void,
  signal: AbortSignal,
): Promise<SweepSummary> {
  if (!isDry && (await isSweepPaused(db.query))) throw new SweepPausedError()
  const scanned: ScanSummary = { objects: 0, bytes: 0, foreign: 0, tooRecent: 0 }
  const totals = { orphans: 0, orphanObjects: 0, orphanBytes: 0, missing: 0 }
  for await (const orphan of findOrphans({ db, storage, graceMs }, scanned, signal)) {
    const done = isDry ? 'would be removed' : await dropOrphan({ db, storage }, orphan.name, signal)
    if (done === 'no longer orphaned') continue
    totals.orphans++
    totals.orphanObjects += orphan.objects
    totals.orphanBytes += orphan.bytes
    report({ kind: 'orphan', orphan, done })
  }
  const reportMissing = (name: string) => {
    totals.missing++
    report({ kind: 'missing', name })
  }
  for (const prefix of await findMissingSets({ db, storage }, signal)) reportMissing(`${prefix}/`)
  for await (const name of findMissingUploads({ db, storage }, signal)) reportMissing(name)
  return { ...scanned, ...totals }
}

/**
 * Drops an orphan. A prefix of a lease is only recorded as dropped, so that a set is checked with
 * the catalogue before it is deleted. An upload is deleted here.
 */
async function dropOrphan({ db, storage }: { db: Db; storage: ObjectStorage }, name: string, signal: AbortSignal): Promise<OrphanOutcome> {
  const prefix = name.replace(/\/$/, '')
  const area = findArea(name)
  if (area === 'uploads') return (await storage.delete(name, signal)) ? 'removed' : 'no longer orphaned'
  if (area === 'tus') return (await storage.deletePrefix(prefix, signal)) > 0 ? 'removed' : 'no longer orphaned'
  return (await dropUnrecordedPrefixes(db.query, [prefix], 0)).length > 0 ? 'dropped' : 'no longer orphaned'
}

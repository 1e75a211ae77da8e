import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import { findOrphans, type Looked, type Orphan } from './find-orphans.ts'
import { findMissingUploads } from './missing-uploads.ts'
import { dropUnknownPrefixes } from './object-prefix.ts'
import { isSweepHeld } from './sweep-hold.ts'
import { findMissingSets } from './unknown-objects.ts'

/** One thing that was found, as it is found. */
export type Finding = { found: 'orphan'; orphan: Orphan; done: OrphanEnd } | { found: 'missing'; name: string }

/** `would go`: it was only looked; `given up`: the running service removes it in its next passes, a set only when it does not play. */
export type OrphanEnd = 'would go' | 'given up' | 'removed' | 'known by now'

export interface SweepSummary extends Looked {
  orphans: number
  orphanObjects: number
  orphanBytes: number
  /** Rows without the objects that they name. */
  missing: number
}

/** Objects that must stay for now. */
export class SweepHeld extends Error {
  constructor() {
    super('a backup copies objects just now, and nothing is removed meanwhile: run the sweep again when it is over, or with --dry-run')
    this.name = 'SweepHeld'
  }
}

/** Compares storage and rows in both directions, and gives up the orphans unless it is a dry run. */
export async function sweepOrphans(
  { db, storage, graceMs, isDry }: { db: Db; storage: ObjectStorage; graceMs: number; isDry: boolean },
  tell: (finding: Finding) => void,
  signal: AbortSignal,
): Promise<SweepSummary> {
  if (!isDry && (await isSweepHeld(db.query))) throw new SweepHeld()
  const looked: Looked = { objects: 0, bytes: 0, foreign: 0, young: 0 }
  const sums = { orphans: 0, orphanObjects: 0, orphanBytes: 0, missing: 0 }
  for await (const orphan of findOrphans({ db, storage, graceMs }, looked, signal)) {
    const done = isDry ? 'would go' : await giveUp({ db, storage }, orphan.name, signal)
    if (done === 'known by now') continue
    sums.orphans++
    sums.orphanObjects += orphan.objects
    sums.orphanBytes += orphan.bytes
    tell({ found: 'orphan', orphan, done })
  }
  const missing = (name: string) => {
    sums.missing++
    tell({ found: 'missing', name })
  }
  for (const prefix of await findMissingSets({ db, storage }, signal)) missing(`${prefix}/`)
  for await (const name of findMissingUploads({ db, storage }, signal)) missing(name)
  return { ...looked, ...sums }
}

/** What a lease put is written down as given up, so that the catalogue is asked before a set goes; an upload is removed here. */
async function giveUp({ db, storage }: { db: Db; storage: ObjectStorage }, name: string, signal: AbortSignal): Promise<OrphanEnd> {
  const prefix = name.replace(/\/$/, '')
  if (name.startsWith('uploads/')) return (await storage.delete(name, signal)) ? 'removed' : 'known by now'
  if (name.startsWith('tus/')) return (await storage.deletePrefix(prefix, signal)) > 0 ? 'removed' : 'known by now'
  return (await dropUnknownPrefixes(db.query, [prefix], 0)).length > 0 ? 'given up' : 'known by now'
}

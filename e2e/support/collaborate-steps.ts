import { waitFor } from '@vitascope/testing'
import { asSuperuser } from './database.ts'
import type { Fixture, RejectedCall } from './table-row.ts'
import { upload, waitUntilSettled } from './video-steps.ts'

/** An id that no video has: 2^62 + 1, beyond the safe integers of JavaScript. */
export const MISSING_VIDEO = '4611686018427387905'
/** An id that no other record has: 2^53 - 1, the largest safe integer of JavaScript. */
export const MISSING = '9007199254740991'

export interface Clip extends Record<string, unknown> {
  id: string
  order: number
}

export interface Entry extends Record<string, unknown> {
  id: string
  clips: Clip[]
}

/**
 * Creates a video with an entry for the uploader of the owner's organisation. Returns the id of the video, and that of
 * the entry as `id`.
 */
export async function createVideoWithEntry(fixture: Fixture) {
  const { video_id } = await fixture.video()
  return { video_id, id: await createEntry(fixture, video_id) }
}

/** Creates an entry of a user, by default of the uploader. Returns its id. */
export async function createEntry({ clients, uploader }: Fixture, videoId: string, userId = uploader.userId): Promise<string> {
  const { status, body } = await clients.owner.post<{ id: string }>(`/collaborate/${videoId}`, { user_id: userId })
  if (status !== 200) throw new Error(`the entry was not created: ${JSON.stringify(body)}`)
  return body.id
}

/** Creates a clip of the first second of the video, unless `fields` has other times. Returns its id. */
export async function createClip({ clients }: Fixture, entryId: string, fields: object = {}): Promise<string> {
  const payload = { time_start: 0, time_finish: 1, ...fields }
  const { status, body } = await clients.owner.post<{ id: string }>(`/collaborate/clip/${entryId}/post`, payload)
  if (status !== 200) throw new Error(`the clip was not created: ${JSON.stringify(body)}`)
  return body.id
}

/** Creates the guest link of an entry, or replaces it. */
export async function createLink({ clients }: Fixture, entryId: string, payload: object = {}) {
  const { status, body } = await clients.owner.put<{ token: string; url: string; expires: string }>(
    `/collaborate/item/${entryId}/link`,
    payload,
  )
  if (status !== 200) throw new Error(`the link was not created: ${JSON.stringify(body)}`)
  return body
}

export async function readEntry({ clients }: Fixture, entryId: string): Promise<Entry> {
  return (await clients.owner.get<Entry>(`/collaborate/item/${entryId}`)).body
}

/** Returns the id and the `order` of each clip of an entry. */
export async function readClipOrder(fixture: Fixture, entryId: string) {
  return (await readEntry(fixture, entryId)).clips.map(({ id, order }) => [id, order])
}

/** Returns the email address of a user of the owner's organisation. Throws if there is none. */
export async function findEmail({ clients, owner }: Fixture, userId: string): Promise<string> {
  const { body } = await clients.system.get<{ user_id: string; email: string }[]>(`/user?organisation_id=${owner.organisationId}`)
  const user = body.find(({ user_id }) => user_id === userId)
  if (!user) throw new Error(`the organisation has no user ${userId}`)
  return user.email
}

/** Creates a video of another organisation, whose source does not exist. Returns its id when it has failed. */
export async function createForeignVideo({ clients, otherTenant, sources }: Fixture): Promise<string> {
  const { id } = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
  await waitUntilSettled(clients.otherTenant, id)
  return id
}

/**
 * Returns calls that must be rejected: with the valid `id` by another organisation and by a guest, and
 * with missing and malformed ids. All except for that of the guest are rejected with 404 and `code`.
 */
export function rejectedIdCalls(
  method: string,
  toPath: (id: string) => string,
  id: string,
  code: string,
  payload?: unknown,
): RejectedCall[] {
  const rejectedCall = { method, ...(payload !== undefined && { payload }) }
  return [
    { ...rejectedCall, caller: 'otherTenant', path: toPath(id), status: 404, code },
    { ...rejectedCall, path: toPath(MISSING), status: 404, code },
    { ...rejectedCall, caller: 'system', path: toPath(MISSING), status: 404, code },
    { ...rejectedCall, path: toPath('x'), status: 404, code },
    { ...rejectedCall, path: toPath('9'.repeat(30)), status: 404, code },
    { ...rejectedCall, caller: 'guest', path: toPath(id), status: 401 },
  ]
}

/** Waits until the database has none of these entries and none of these clips. */
export function waitUntilDeleted(
  { platform }: Fixture,
  { entryIds, clipIds }: { entryIds: string[]; clipIds: string[] },
): Promise<unknown> {
  const sql = `select entry_id::text as id from collaboration.entry where entry_id = any($1)
    union all select clip_id::text from collaboration.clip where clip_id = any($2)`
  const listRemaining = () => asSuperuser(platform, async (client) => (await client.query<{ id: string }>(sql, [entryIds, clipIds])).rows)
  return waitFor(async () => (await listRemaining()).length === 0, { timeout: 90_000, describe: 'entries and clips to be deleted' })
}

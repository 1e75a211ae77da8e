import { waitFor } from '@vitascope/testing'
import { asSuperuser } from './database.ts'
import type { Fixture, RejectedCall } from './table-row.ts'
import { upload, waitUntilSettled } from './video-steps.ts'

export const MISSING_VIDEO = '4611686018427387905'
export const MISSING = '9007199254740991'

export interface Clip extends Record<string, unknown> {
  id: string
  order: number
}

export interface Entry extends Record<string, unknown> {
  id: string
  clips: Clip[]
}

/** Creates a new video with an entry for the uploader of the owner's organisation. */
export async function createVideoWithEntry(fixture: Fixture) {
  const { video_id } = await fixture.video()
  return { video_id, id: await createEntry(fixture, video_id) }
}

export async function createEntry({ clients, uploader }: Fixture, videoId: string, userId = uploader.userId): Promise<string> {
  const { status, body } = await clients.owner.post<{ id: string }>(`/collaborate/${videoId}`, { user_id: userId })
  if (status !== 200) throw new Error(`the entry was not created: ${JSON.stringify(body)}`)
  return body.id
}

export async function createClip({ clients }: Fixture, entryId: string, fields: object = {}): Promise<string> {
  const payload = { time_start: 0, time_finish: 1, ...fields }
  const { status, body } = await clients.owner.post<{ id: string }>(`/collaborate/clip/${entryId}/post`, payload)
  if (status !== 200) throw new Error(`the clip was not created: ${JSON.stringify(body)}`)
  return body.id
}

/** Creates the guest link of an entry. */
export async function createLink({ clients }: Fixture, entryId: string, payload: object = {}) {
  const { status, body } = await clients.owner.put<{ token: string; url: string; expires: string }>(
    `/collaborate/item/${entryId}/link`,
    payload,
  )
  if (status !== 200) throw new Error(`the link was not created: ${JSON.stringify(body)}`)
  return body
}

export const read = async ({ clients }: Fixture, entryId: string) => (await clients.owner.get<Entry>(`/collaborate/item/${entryId}`)).body
export const order = async (fixture: Fixture, entryId: string) => (await read(fixture, entryId)).clips.map(({ id, order }) => [id, order])

export async function findEmail({ clients, owner }: Fixture, userId: string): Promise<string> {
  const { body } = await clients.system.get<{ user_id: string; email: string }[]>(`/user?organisation_id=${owner.organisationId}`)
  const user = body.find(({ user_id }) => user_id === userId)
  if (!user) throw new Error(`the organisation has no user ${userId}`)
  return user.email
}

export async function createForeignVideo({ clients, otherTenant, sources }: Fixture): Promise<string> {
  const { id } = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
  await waitUntilSettled(clients.otherTenant, id)
  return id
}

/**
 * Returns calls that must be rejected: with the id of a foreign organisation, with missing and
 * malformed ids, and by guests. `at` returns the path for an id.
 */
export function wrongIds(method: string, at: (id: string) => string, id: string, code: string, payload?: unknown): RejectedCall[] {
  const rejectedCall = { method, ...(payload !== undefined && { payload }) }
  return [
    { ...rejectedCall, caller: 'otherTenant', path: at(id), status: 404, code },
    { ...rejectedCall, path: at(MISSING), status: 404, code },
    { ...rejectedCall, caller: 'system', path: at(MISSING), status: 404, code },
    { ...rejectedCall, path: at('x'), status: 404, code },
    { ...rejectedCall, path: at('9'.repeat(30)), status: 404, code },
    { ...rejectedCall, caller: 'guest', path: at(id), status: 401 },
  ]
}

/** Waits until the database has none of these entries and none of these clips. */
export function waitUntilDeleted(
  { platform }: Fixture,
  { entryIds, clipIds }: { entryIds: string[]; clipIds: string[] },
): Promise<unknown> {
  const rows = `select entry_id::text as id from collaboration.entry where entry_id = any($1)
    union all select clip_id::text from collaboration.clip where clip_id = any($2)`
  const listRemaining = () => asSuperuser(platform, async (client) => (await client.query<{ id: string }>(rows, [entryIds, clipIds])).rows)
  return waitFor(async () => (await listRemaining()).length === 0, { timeout: 90_000, describe: 'entries and clips to be deleted' })
}

import { waitFor } from '@vitascope/testing'
import type { Api } from './api.ts'

export interface VideoRecord extends Record<string, unknown> {
  video_id: string
  media_id: string
  video_title: string
  duration: string
  uri: {
    poster_frame: string
    thumbnail: string
    http: Record<string, string>
    hls: string
    all_thumbnails: Record<string, string>
    storyboard: string
    preview: string
    audio: string
  }
  status: { status: string; progress: number; code: number }
}

export interface UploadResponse {
  id: string
  job_id: string
  action: string
  status: { status: string; progress: number; code: number }
}

export async function upload(api: Api, organisationId: string, url: string, fields: Record<string, unknown> = {}): Promise<UploadResponse> {
  const { status, body } = await api.post<UploadResponse>('/video/upload', { url, organisation_id: organisationId, ...fields })
  if (status !== 200) throw new Error(`the upload returned ${status}: ${JSON.stringify(body)}`)
  return body
}

/** Waits until the video is playable or has failed. Calls `onStatus` with each record that it reads. */
export async function waitUntilSettled(
  api: Api,
  videoId: string,
  timeout = 90_000,
  onStatus: (video: VideoRecord) => void = () => {},
): Promise<VideoRecord> {
  let last: VideoRecord | undefined
  await waitFor(
    async () => {
      const { status, body } = await api.get<VideoRecord>(`/video/${videoId}`)
      if (status !== 200) throw new Error(`GET /video/${videoId} returned ${status}: ${JSON.stringify(body)}`)
      last = body
      onStatus(body)
      return body.status.status === 'ok' || body.status.status === 'failed'
    },
    { timeout, describe: `video ${videoId} to settle` },
  )
  if (!last) throw new Error('the final state was not observed')
  return last
}

export interface Tenant {
  organisationId: string
  userId: string
  key: string
}

/**
 * Creates an organisation, a user of this type, and a key of the user with these resources. By default,
 * the key has all resources that the type may have.
 */
export async function createTenant(system: Api, userType: 'uploader' | 'standard' = 'standard', resources?: string[]): Promise<Tenant> {
  const name = `Tenant ${Math.random().toString(36).slice(2)}`
  const organisation = await system.post<{ organisation_id: string }>('/organisation', { name })
  return createUser(system, organisation.body.organisation_id, userType, resources)
}

export async function createUser(
  system: Api,
  organisationId: string,
  userType: 'uploader' | 'standard' | 'system',
  resources?: string[],
): Promise<Tenant> {
  const email = `${Math.random().toString(36).slice(2)}@example.org`
  const user = await system.post<{ user_id: string }>('/user', {
    organisation_id: organisationId,
    first_name: 'Ada',
    last_name: 'Lovelace',
    email,
    user_type: userType,
    status: 'active',
  })
  const granted = resources ?? (await grantable(system, userType))
  const key = await system.post<{ key: string }>(`/apikey/${user.body.user_id}/generate`, { application_name: 'tests', resources: granted })
  if (key.status !== 200) throw new Error(`no key was created: ${JSON.stringify([user.body, key.body])}`)
  return { organisationId, userId: user.body.user_id, key: key.body.key }
}

async function grantable(system: Api, userType: string): Promise<string[]> {
  const { body } = await system.get<Record<string, { levels: string[]; resource: string }>>('/apikey/acl-list')
  const level = userType === 'uploader' ? 'user' : 'admin'
  return Object.values(body).flatMap(({ levels, resource }) => (levels.includes(level) ? [resource] : []))
}

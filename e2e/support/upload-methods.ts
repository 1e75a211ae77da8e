import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@vitascope/testing'
import { Upload } from 'tus-js-client'
import { type Api, type ApiResponse, createApi } from './api.ts'
import type { SourceServer } from './source-server.ts'
import type { Tenant, UploadResponse } from './video-steps.ts'

/**
 * A client that uploads while processes die. It retries failed requests at the next gateway. Uploads by
 * tus use only the first gateway.
 */
export interface Uploader {
  tenant: Tenant
  /** URLs of the gateways. */
  gateways: readonly string[]
}

/** File to upload. */
export interface UploadedFile {
  /** URL at the source server. */
  url: string
  bytes: Buffer
  title: string
}

/** Returns files of a folder that a server serves. */
export async function readUploadedFiles(names: readonly string[], folder: string, server: SourceServer): Promise<UploadedFile[]> {
  return Promise.all(
    names.map(async (name) => ({
      url: `${server.url}/${name}`,
      bytes: await readFile(join(folder, name)),
      title: name.split('.')[0] ?? name,
    })),
  )
}

/** Uploads a file and returns the id of the acknowledged video. `name` is unique per upload. */
export type UploadMethod = (uploader: Uploader, file: UploadedFile, name: string) => Promise<string>

const uploadByUrl: UploadMethod = (uploader, { url, title }, name) => createVideoFromUrl(uploader, url, title, name)

/**
 * Uploads by form with a signed policy, like a browser, and then creates a video from the object.
 */
const uploadByForm: UploadMethod = async (uploader, { bytes, title }, name) => {
  const { tempLink } = await sendByForm<{ tempLink: string }>(uploader, bytes, 'a.mp4')
  return createVideoFromUrl(uploader, tempLink, title, name)
}

/** Uploads slides, which is only possible by form. Returns the id of the presentation. */
export async function uploadSlides(uploader: Uploader, pdf: Buffer): Promise<string> {
  return (await sendByForm<{ presentation_id: string }>(uploader, pdf, 'a.pdf', '&application=presentation')).presentation_id
}

async function sendByForm<Success>(uploader: Uploader, bytes: Buffer, filename: string, query = ''): Promise<Success> {
  const key = `uploads/${uploader.tenant.organisationId}/${randomUUID()}.${filename.split('.').at(-1)}`
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  const conditions = [{ bucket: 'vitascope' }, { key }, ['content-length-range', '1', '1000000000']]
  const signed = await retryUntilSuccess(uploader, (api) =>
    api.post<{ policy: string; signature: string }>('/upload/signature', { expiration, conditions }),
  )
  const policy = JSON.parse(Buffer.from(signed.policy, 'base64').toString()) as { conditions: Record<string, string>[] }
  await retryUntilSuccess(uploader, (api) => {
    const form = new FormData()
    for (const one of policy.conditions) {
      if (!Array.isArray(one)) for (const [field, value] of Object.entries(one)) form.set(field, String(value))
    }
    form.set('policy', signed.policy)
    form.set('x-amz-signature', signed.signature)
    form.set('file', new Blob([new Uint8Array(bytes)]), filename)
    return api.send('POST', '/upload/object', { body: form })
  })
  return retryUntilSuccess(uploader, (api) => api.post<Success>(`/upload/success?success${query}`, { key, name: filename }))
}

/** Uploads in three parts. After an error, it resumes at the offset that the server has stored. */
const uploadByTus: UploadMethod = async (uploader, { bytes, title }, name) => {
  const unique = `${title} ${name}`
  let videoId = ''
  await new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      endpoint: `${uploader.gateways[0]}/v2/upload/tus`,
      headers: { Authorization: `Bearer ${uploader.tenant.key}` },
      metadata: { filename: 'a.mp4', title: unique },
      chunkSize: Math.ceil(bytes.length / 3),
      retryDelays: Array<number>(300).fill(300),
      onAfterResponse(_request, response) {
        videoId = response.getHeader('X-Video-Id') ?? videoId
      },
      onError: reject,
      onSuccess: () => resolve(),
    }).start()
  })
  if (videoId !== '') return videoId
  // The response with the id was lost, or the catalogue was down. The list contains the video now
  // or later.
  const path = `/video?q=${encodeURIComponent(unique)}`
  const video = await waitFor(
    async () => {
      const { videos } = await retryUntilSuccess(uploader, (api) => api.get<{ videos: { video_id: string }[] }>(path))
      if (videos.length > 1) throw new Error(`the upload "${unique}" became ${videos.length} videos`)
      return videos[0]
    },
    { timeout: 60_000, interval: 500, describe: `the upload "${unique}" to become a video` },
  )
  return video.video_id
}

/** Methods that a run uses in turn. Uploads by URL are half of all uploads. */
export const uploadMethods: readonly UploadMethod[] = [uploadByUrl, uploadByForm, uploadByUrl, uploadByTus]

async function createVideoFromUrl(uploader: Uploader, url: string, title: string, name: string): Promise<string> {
  const headers = { 'idempotency-key': name }
  const payload = { url, organisation_id: uploader.tenant.organisationId, name: `${title} ${name}` }
  return (await retryUntilSuccess(uploader, (api) => api.post<UploadResponse>('/video/upload', payload, headers))).id
}

/** Retries every 200 ms after connection errors and the statuses 409, 500 and 502 to 504. Throws on any other error status. */
export async function retryUntilSuccess<T>({ tenant, gateways }: Uploader, call: (api: Api) => Promise<ApiResponse<T>>): Promise<T> {
  for (let nth = 0; ; nth++) {
    const result = await call(createApi(`${gateways[nth % gateways.length]}/v2`, tenant.key)).catch(() => undefined)
    if (result && result.status < 300) return result.body
    if (result && ![409, 500, 502, 503, 504].includes(result.status)) {
      throw new Error(`the request was rejected: ${result.status} ${JSON.stringify(result.body)}`)
    }
    await delay(200)
  }
}

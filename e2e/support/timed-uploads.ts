import type { TestPlatform } from './test-platform.ts'
import type { Tenant } from './video-steps.ts'

const TIMEOUT_MS = 15_000

/**
 * Uploads a file by a form to `POST /upload/object` with a signed policy, from the client address
 * `from`. Returns the duration of this request in milliseconds. Throws if it is rejected.
 */
export async function uploadByForm(platform: TestPlatform, tenant: Tenant, file: Uint8Array<ArrayBuffer>, from: string): Promise<number> {
  const key = `uploads/${tenant.organisationId}/${crypto.randomUUID()}.mp4`
  const form = new FormData()
  const fields = await signFormFields(platform, tenant, [{ key }, ['content-length-range', '1', String(file.length)]])
  for (const [name, value] of fields) form.set(name, value)
  form.set('file', new Blob([file]), 'good.mp4')
  const started = performance.now()
  const response = await fetch(`${platform.url}/v2/upload/object`, {
    method: 'POST',
    body: form,
    headers: { 'x-forwarded-for': from },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const text = await response.text()
  if (response.status !== 204) throw new Error(`POST /upload/object returned ${response.status}: ${text}`)
  return performance.now() - started
}

/**
 * Uploads a file by tus from the client address `from`. The declared length is one byte more than the
 * file, so that no video is created, and the upload is deleted afterwards. Returns the milliseconds
 * until all bytes are stored. Throws if a request is rejected.
 */
export async function uploadByTus(platform: TestPlatform, tenant: Tenant, file: Uint8Array<ArrayBuffer>, from: string): Promise<number> {
  const headers = { authorization: `Bearer ${tenant.key}`, 'tus-resumable': '1.0.0', 'x-forwarded-for': from }
  const started = performance.now()
  const created = await fetch(`${platform.url}/v2/upload/tus`, {
    method: 'POST',
    headers: { ...headers, 'upload-length': String(file.length + 1) },
  })
  const location = created.headers.get('location') ?? ''
  if (created.status !== 201) throw new Error(`POST /upload/tus returned ${created.status}: ${await created.text()}`)
  const sent = await fetch(location, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' },
    body: file,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (sent.status !== 204) throw new Error(`PATCH of a tus upload returned ${sent.status}: ${await sent.text()}`)
  const took = performance.now() - started
  await fetch(location, { method: 'DELETE', headers })
  return took
}

/**
 * Requests a signed upload policy with these conditions. Returns the fields of its form, including
 * `policy` and `x-amz-signature`.
 */
export async function signFormFields(platform: TestPlatform, tenant: Tenant, conditions: readonly unknown[]): Promise<Map<string, string>> {
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  const { status, body } = await platform
    .withKey(tenant.key)
    .post<{ policy: string; signature: string }>('/upload/signature', { expiration, conditions: [{ bucket: 'vitascope' }, ...conditions] })
  if (status !== 200) throw new Error(`POST /upload/signature returned ${status}: ${JSON.stringify(body)}`)
  const { conditions: signed } = JSON.parse(Buffer.from(body.policy, 'base64').toString()) as { conditions: object[] }
  const fields = new Map<string, string>()
  for (const one of signed) if (!Array.isArray(one)) for (const [name, value] of Object.entries(one)) fields.set(name, String(value))
  return fields.set('policy', body.policy).set('x-amz-signature', body.signature)
}

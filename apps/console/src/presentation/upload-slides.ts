import type { Vitascope } from '@vitascope/sdk'
import i18next from 'i18next'

/** Endings of the files that the platform converts to slides. Files of office programs require LibreOffice on the server. */
export const SLIDE_FILES = '.pdf,.pptx,.odp'
/** Path of the platform's own store. */
const OWN_STORE = '/v2/upload/object'
const POLICY_MS = 3_600_000
const UPLOAD_TIMEOUT_MS = 1_800_000

/** Uploads a file whose pages become slides after those of the presentation. Conversion continues afterwards. */
export async function uploadSlides(api: Vitascope, presentationId: string, file: File): Promise<void> {
  const { bucket, key_prefix, endpoint } = await api.call('getUploadConfig')
  const key = `${key_prefix}${createId()}${/\.[a-z0-9]{1,8}$/i.exec(file.name)?.[0] ?? ''}`
  const conditions = [{ bucket }, { key }, ['content-length-range', '1', String(Math.max(1, file.size))]]
  const expiration = new Date(Date.now() + POLICY_MS).toISOString()
  const { policy, signature } = await api.call('signUploadPolicy', { payload: { expiration, conditions } })
  const form = new FormData()
  for (const [name, value] of readFields(policy)) form.set(name, value)
  form.set('policy', policy)
  form.set('x-amz-signature', signature)
  form.set('file', file)
  if (new URL(endpoint).pathname === OWN_STORE) await api.call('uploadObject', { body: form, timeoutMs: UPLOAD_TIMEOUT_MS })
  else await sendToStore(endpoint, form)
  await api.call('completeUpload', {
    query: { success: '', append: '' },
    payload: { key, name: file.name, presentation_id: presentationId },
  })
}

/** Returns the form fields that a signed policy requires. Conditions that are lists describe no field. */
function readFields(policy: string): [name: string, value: string][] {
  const { conditions } = JSON.parse(atob(policy)) as { conditions: (Record<string, string> | unknown[])[] }
  return conditions.flatMap((condition) => (Array.isArray(condition) ? [] : Object.entries(condition)))
}

async function sendToStore(endpoint: string, body: FormData): Promise<void> {
  const response = await fetch(endpoint, { method: 'POST', body, signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS) })
  if (!response.ok) throw new Error(i18next.t('presentation.storeFailed', { status: response.status }))
}

/** `crypto.randomUUID` does not exist on pages without https. */
function createId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The calls of the REST API that this site needs. */
const url = requireSetting('VITASCOPE_URL')
const key = requireSetting('VITASCOPE_KEY')
const organisationId = process.env.ORGANISATION

/** Address of the platform, for the frame of the player. */
export const platformUrl = url

/** Returns an address to which a browser can send one file. The new video is private. */
export async function createTicket(name) {
  const { url: address } = await call('POST', '/upload/ticket', {
    ...(organisationId && { organisation_id: organisationId }),
    name,
    visibility: 'private',
    kinds: ['video'],
    expires_in: 600,
  })
  return address
}

/** Returns the newest videos of the organisation. */
export async function listVideos() {
  const query = new URLSearchParams({ limit: '20', sort_by: 'date_created', sort_order: 'descending' })
  if (organisationId) query.set('organisation_id', organisationId)
  const { videos } = await call('GET', `/video?${query}`)
  return videos
}

/** Makes a video unlisted, so that everyone with the link may open its page, and requires a token for its files. */
export async function protectVideo(id) {
  await call('PATCH', `/video/${encodeURIComponent(id)}`, { visibility: 'unlisted', security: { token_required_platform: true } })
}

/** Returns a token with which one viewer can watch the video for an hour. */
export async function createToken(id) {
  const { token } = await call('POST', `/video/${encodeURIComponent(id)}/token`, { expires_in: 3600 })
  return token
}

/** Sends a request. Throws the problem document of an error as an error with its status. */
async function call(method, path, payload) {
  const response = await fetch(`${url}/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(payload && { 'content-type': 'application/json' }) },
    body: payload ? JSON.stringify(payload) : null,
    signal: AbortSignal.timeout(30_000),
  })
  const answer = await response.json()
  if (response.ok) return answer
  throw Object.assign(new Error(`${method} ${path}: ${answer.detail} (${answer.code}, request ${answer.request_id})`), {
    status: response.status,
  })
}

function requireSetting(name) {
  const value = process.env[name]
  if (!value) throw new Error(`set ${name} (README.md)`)
  return value.replace(/\/$/, '')
}

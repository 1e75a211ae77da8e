import { VitascopeError } from '@vitascope/sdk'
import type { Context } from '../context.ts'
import { printRows } from '../output.ts'

interface Check {
  check: string
  result: 'ok' | 'warning' | 'failed'
  detail: string
}

const TIMEOUT_MS = 10_000
const MAX_CLOCK_DIFFERENCE_SECONDS = 30

/** Checks a running platform, and prints what is wrong. Returns false if a check failed. */
export async function doctor(context: Context): Promise<boolean> {
  const { output } = context
  const checks: Check[] = []
  const health = await checkHealth(context)
  checks.push(...health)
  if (health.every(({ result }) => result !== 'failed')) {
    checks.push(await checkKey(context))
    checks.push(...(await checkMedia(context)))
  }
  printRows(output, checks as unknown as Record<string, string>[], ['result', 'check', 'detail'])
  return checks.every(({ result }) => result !== 'failed')
}

async function checkHealth({ url }: Context): Promise<Check[]> {
  const base = url.replace(/\/v2\/?$|\/+$/, '')
  const startMs = Date.now()
  let response: Response
  let body: string
  try {
    response = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    body = await response.text()
  } catch (error) {
    return [{ check: 'connection', result: 'failed', detail: `${base} cannot be reached: ${toMessage(error)}` }]
  }
  const date = Date.parse(response.headers.get('date') ?? '')
  const difference = Number.isNaN(date) ? 0 : Math.abs(date - (startMs + Date.now()) / 2) / 1_000
  return [
    { check: 'connection', result: 'ok', detail: `${base} in ${Date.now() - startMs} ms` },
    {
      check: 'services',
      result: response.ok ? 'ok' : 'failed',
      detail: response.ok ? 'all are ready' : `the gateway returned status ${response.status}: ${body.slice(0, 200).trim()}`,
    },
    {
      check: 'clock',
      result: difference > MAX_CLOCK_DIFFERENCE_SECONDS ? 'warning' : 'ok',
      detail: `${difference.toFixed(0)} s from this machine${difference > MAX_CLOCK_DIFFERENCE_SECONDS ? ': tokens and signatures depend on the time' : ''}`,
    },
  ]
}

async function checkKey({ vitascope, key }: Context): Promise<Check> {
  if (key === undefined) return { check: 'key', result: 'warning', detail: 'none: run `vitascope login`' }
  try {
    const { organisation_id } = await vitascope.call('getApiKey', { path: { api_key: key } })
    return { check: 'key', result: 'ok', detail: organisation_id === '' ? 'of the system' : `of organisation ${organisation_id}` }
  } catch (error) {
    return { check: 'key', result: 'failed', detail: toMessage(error) }
  }
}

/** Counts the failed ones of the 20 newest videos, and loads the playlist of the newest public one of them. */
async function checkMedia({ vitascope }: Context): Promise<Check[]> {
  try {
    const videos = await vitascope.videos.list({ sort_order: 'descending' }).toArray(20)
    const failed = videos.filter(({ status }) => status.status === 'failed').length
    const encoding: Check = {
      check: 'encoding',
      result: failed > 0 ? 'warning' : 'ok',
      detail: videos.length === 0 ? 'no videos yet' : `${failed} of the ${videos.length} newest videos failed`,
    }
    const playable = videos.find(({ uri, visibility }) => uri.hls !== '' && visibility === 'public')
    if (!playable) return [encoding, { check: 'delivery', result: 'warning', detail: 'no public video to load' }]
    return [encoding, await checkDelivery(playable.uri.hls)]
  } catch (error) {
    return [{ check: 'videos', result: 'failed', detail: toMessage(error) }]
  }
}

async function checkDelivery(playlistUrl: string): Promise<Check> {
  try {
    const response = await fetch(playlistUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const isPlaylist = response.ok && (await response.text()).startsWith('#EXTM3U')
    const isDenied = response.status === 401 || response.status === 403
    return {
      check: 'delivery',
      result: isPlaylist ? 'ok' : isDenied ? 'warning' : 'failed',
      detail: isPlaylist ? playlistUrl : `${playlistUrl} returned status ${response.status}${response.ok ? ', but no playlist' : ''}`,
    }
  } catch (error) {
    return { check: 'delivery', result: 'failed', detail: `${playlistUrl} cannot be loaded: ${toMessage(error)}` }
  }
}

function toMessage(error: unknown): string {
  if (error instanceof VitascopeError) return error.message
  return error instanceof Error ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}` : String(error)
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Api } from '../api.ts'
import { type UploadResponse, upload } from '../video-steps.ts'

/** An acknowledged write. Times are those of `performance.now()`. */
export interface AcknowledgedWrite {
  kind: 'playlist' | 'video'
  id: string
  title: string
  ackedMs: number
}

/** Writers that create playlists and videos until the platform fails. */
export interface WriteLoad {
  acknowledged: readonly AcknowledgedWrite[]
  /** Ends the load. A request that fails afterwards is not an error. */
  stop(): Promise<void>
}

interface LoadTarget {
  api: Api
  organisationId: string
  sourceUrl: string
}

const WRITERS = 2
/** Pause between two playlists of a writer, so that the encodes have processor time. */
const PLAYLIST_PAUSE_MS = 40
const VIDEO_PAUSE_MS = 4_000

/** Starts the load. The first request that fails before `stop` rejects the promise of `stop`. */
export function startWriteLoad({ api, organisationId, sourceUrl }: LoadTarget): WriteLoad {
  const acknowledged: AcknowledgedWrite[] = []
  let count = 0
  let isStopped = false
  const repeat = async (pauseMs: number, write: (title: string) => Promise<AcknowledgedWrite>) => {
    while (!isStopped) {
      try {
        acknowledged.push(await write(`write ${++count}`))
      } catch (error) {
        if (isStopped) return
        throw error
      }
      await delay(pauseMs)
    }
  }
  const addPlaylist = async (title: string): Promise<AcknowledgedWrite> => {
    const { status, body } = await api.post<{ playlist_id: string }>(`/playlist/create/${organisationId}`, { title })
    if (status >= 300) throw new Error(`creating a playlist returned ${status}: ${JSON.stringify(body)}`)
    return { kind: 'playlist', id: body.playlist_id, title, ackedMs: performance.now() }
  }
  const addVideo = async (title: string): Promise<AcknowledgedWrite> => {
    const { id }: UploadResponse = await upload(api, organisationId, sourceUrl, { name: title })
    return { kind: 'video', id, title, ackedMs: performance.now() }
  }
  const writers = [...Array.from({ length: WRITERS }, () => repeat(PLAYLIST_PAUSE_MS, addPlaylist)), repeat(VIDEO_PAUSE_MS, addVideo)]
  const finished = Promise.all(writers)
  // The rejection is handled in `stop`.
  finished.catch(() => {})
  return {
    acknowledged,
    async stop() {
      isStopped = true
      await finished
    },
  }
}

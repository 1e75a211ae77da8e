import { seededRandom } from '@vitascope/testing'
import type { Api, ApiResponse } from './api.ts'
import type { Platform } from './platform.ts'

/**
 * One of two organisations. Its mark is a word in every text that it writes. If a response to the other
 * organisation contains this word, data has leaked.
 */
interface Side {
  api: Api
  organisationId: string
  mark: string
  foreignMark: string
  /** Ids of its records by noun. The other organisation tries to access them. */
  ids: Record<'video' | 'playlist' | 'folder' | 'caption', string[]>
}

interface Video {
  id: string
  mediaId: string
  title: string
  tags: Set<string>
  metadata: Map<string, string>
  captions: Map<string, string>
}

/** Records that one writer expects, because its writes were acknowledged. */
interface Model {
  videos: Video[]
  playlists: Map<string, string[]>
  folders: Map<string, { name: string; videos: Set<string> }>
}

export interface SoakResult {
  calls: number
  writes: number
  /** One message per response with status 500 or above, per leak, and per record that differs from the acknowledged writes. */
  problems: string[]
}

/**
 * Reads and writes as two organisations concurrently, with two writers each, for a fixed time or until
 * 20 problems are found. Then reads back all acknowledged records.
 */
export async function soak(fixture: Platform, { seconds, seed }: { seconds: number; seed: number }): Promise<SoakResult> {
  const result: SoakResult = { calls: 0, writes: 0, problems: [] }
  const until = performance.now() + seconds * 1000
  const side = (api: Api, organisationId: string, mark: string, foreignMark: string): Side => ({
    api: watchApi(api, foreignMark, result),
    ...{ organisationId, mark, foreignMark },
    ids: { video: [], playlist: [], folder: [], caption: [] },
  })
  const a = side(fixture.clients.owner, fixture.owner.organisationId, 'amber', 'cobalt')
  const b = side(fixture.clients.otherTenant, fixture.otherTenant.organisationId, 'cobalt', 'amber')
  const source = `${fixture.sources.url}/none.mp4`
  const writers = [
    [a, b],
    [a, b],
    [b, a],
    [b, a],
  ] as const
  await Promise.all(
    writers.map(async ([ownSide, otherSide], index) => {
      const random = seededRandom(seed * 10 + index)
      const model: Model = { videos: [], playlists: new Map(), folders: new Map() }
      const writer = createWriter(ownSide, model, { source, name: `${ownSide.mark}-${seed}-${index}`, random })
      while (performance.now() < until && result.problems.length < 20) {
        if (random() < 0.15) await accessForeignRecords(ownSide, otherSide, random, result)
        else await writer.step()
      }
      await writer.readBack(result)
    }),
  )
  return result
}

/** Counts calls, and searches every response for the mark of the other organisation. */
function watchApi(api: Api, foreignMark: string, result: SoakResult): Api {
  const checkResponse = async <Body>(method: string, path: string, call: Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> => {
    result.calls++
    if (method !== 'GET') result.writes++
    const reply = await call
    if (reply.status >= 500) result.problems.push(`${method} ${path} returned ${reply.status}: ${JSON.stringify(reply.body)}`)
    if (JSON.stringify(reply.body).includes(foreignMark)) {
      result.problems.push(`${method} ${path} returned data of ${foreignMark}: ${JSON.stringify(reply.body).slice(0, 300)}`)
    }
    return reply
  }
  return {
    get: (path, headers) => checkResponse('GET', path, api.get(path, headers)),
    post: (path, payload, headers) => checkResponse('POST', path, api.post(path, payload, headers)),
    put: (path, payload, headers) => checkResponse('PUT', path, api.put(path, payload, headers)),
    patch: (path, payload, headers) => checkResponse('PATCH', path, api.patch(path, payload, headers)),
    delete: (path, headers) => checkResponse('DELETE', path, api.delete(path, headers)),
    send: (method, path, init) => checkResponse(method, path, api.send(method, path, init)),
  }
}

/** No record has this id. */
const MISSING_ID = '4611686018427387905'

/** Sends one request for a record of the other organisation. Reports a problem unless the response is 403 or 404. */
async function accessForeignRecords(ownSide: Side, otherSide: Side, random: () => number, result: SoakResult): Promise<void> {
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? MISSING_ID
  const [video, playlist, folder, caption] = [
    pick(otherSide.ids.video),
    pick(otherSide.ids.playlist),
    pick(otherSide.ids.folder),
    pick(otherSide.ids.caption),
  ]
  const [own] = ownSide.ids.video
  const tries: [string, string, unknown?][] = [
    ['PATCH', `/video/${video}`, { video_title: ownSide.mark }],
    ['POST', `/metadata/${video}`, [{ name: 'taken', value: ownSide.mark }]],
    ['POST', `/tag/video/add/${video}`, { tags: [ownSide.mark] }],
    ['GET', `/tag/video/${video}`],
    ['PUT', `/playlist/${playlist}`, { title: ownSide.mark }],
    ['PUT', `/playlist/${playlist}/add/video/${own ?? MISSING_ID}`],
    ['GET', `/folder/${folder}/video`],
    ['POST', `/folder/${folder}/video/${own ?? MISSING_ID}/add`],
    ['GET', `/folder/${otherSide.organisationId}`],
    ['GET', `/playlist/organisation/${otherSide.organisationId}`],
    ['GET', `/video/organisation/${otherSide.organisationId}`],
    ['GET', `/caption/${caption}`],
    ['DELETE', `/caption/${caption}`],
  ]
  const [method, path, payload] = tries[Math.floor(random() * tries.length)] ?? ['GET', `/video/${MISSING_ID}`]
  const { status } = await ownSide.api.send(method, path, {
    ...(payload !== undefined && { body: JSON.stringify(payload), headers: { 'content-type': 'application/json' } }),
  })
  if (status !== 404 && status !== 403) result.problems.push(`${method} ${path} of the other organisation returned ${status}`)
}

function createWriter(ownSide: Side, model: Model, { source, name, random }: { source: string; name: string; random: () => number }) {
  const { api, organisationId, ids } = ownSide
  let wordCount = 0
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const word = () => `${name}-${wordCount++}`
  const expectStatus = (reply: ApiResponse<unknown>, status: number, subject: string) => {
    if (reply.status !== status) throw new Error(`${subject} returned ${reply.status}: ${JSON.stringify(reply.body)}`)
  }

  const addVideo = async () => {
    const title = word()
    const sent = { url: source, organisation_id: organisationId, name: title }
    const accepted = await api.post<{ id: string }>('/video/upload', sent)
    expectStatus(accepted, 200, 'an upload')
    const { id } = accepted.body
    const { body } = await api.get<{ media_id: string }>(`/video/${id}`)
    model.videos.push({ id, mediaId: body.media_id, title, tags: new Set(), metadata: new Map(), captions: new Map() })
    ids.video.push(id)
  }
  const onVideo: ((video: Video) => Promise<void>)[] = [
    async (video) => {
      const title = word()
      expectStatus(await api.patch(`/video/${video.id}`, { video_title: title }), 200, 'changing a title')
      video.title = title
    },
    async (video) => {
      const tag = word()
      expectStatus(await api.post(`/tag/video/add/${video.id}`, { tags: [tag] }), 200, 'adding a tag')
      video.tags.add(tag)
    },
    async (video) => {
      const [tag] = video.tags
      if (tag === undefined) return
      expectStatus(await api.delete(`/tag/video/delete/${video.id}/${encodeURIComponent(JSON.stringify([tag]))}`), 200, 'removing a tag')
      video.tags.delete(tag)
    },
    async (video) => {
      const [key, value] = [`key_${'abcdefgh'[Math.floor(random() * 8)]}`, word()]
      const method = video.metadata.has(key) ? 'put' : 'post'
      expectStatus(
        await api[method](`/metadata/${video.id}`, [{ name: key, value, private: true }]),
        method === 'put' ? 200 : 201,
        'writing metadata',
      )
      video.metadata.set(key, value)
    },
    async (video) => {
      if (video.captions.size > 20) return
      const text = word()
      const content = `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`
      const sent = { title: text, language: 'en', media_id: video.mediaId, content, format: 'srt' }
      const reply = await api.post<{ caption_id: string }[]>('/caption', sent)
      expectStatus(reply, 200, 'creating a caption')
      const id = reply.body[0]?.caption_id ?? ''
      video.captions.set(id, text)
      ids.caption.push(id)
    },
    async (video) => {
      const [id] = video.captions.keys()
      if (id === undefined) return
      expectStatus(await api.delete(`/caption/${id}`), 202, 'deleting a caption')
      video.captions.delete(id)
    },
    async (video) => {
      if (model.playlists.size === 0 || random() < 0.2) {
        const reply = await api.post<{ playlist_id: string }>(`/playlist/create/${organisationId}`, { title: word() })
        expectStatus(reply, 200, 'creating a playlist')
        model.playlists.set(reply.body.playlist_id, [])
        ids.playlist.push(reply.body.playlist_id)
      }
      const [id, list] = pick([...model.playlists]) ?? ['7', []]
      const reply = await api.put(`/playlist/${id}/add/video/${video.id}`)
      expectStatus(reply, list.length < 25 ? 200 : 409, 'adding a video to a playlist')
      if (list.length < 25) list.push(video.id)
    },
    async (video) => {
      const entry = pick([...model.playlists].filter(([, list]) => list.includes(video.id)))
      if (!entry) return
      expectStatus(await api.delete(`/playlist/${entry[0]}/remove/video/${video.id}`), 200, 'removing a video from a playlist')
      model.playlists.set(
        entry[0],
        entry[1].filter((id) => id !== video.id),
      )
    },
    async (video) => {
      if (model.folders.size === 0 || random() < 0.1) {
        const folder = word()
        const reply = await api.post<{ created: string }>('/folder', { organisation_id: organisationId, name: folder })
        expectStatus(reply, 200, 'creating a folder')
        model.folders.set(reply.body.created, { name: folder, videos: new Set() })
        ids.folder.push(reply.body.created)
      }
      const [id, folder] = pick([...model.folders]) ?? []
      if (id === undefined || folder === undefined) return
      expectStatus(await api.post(`/folder/${id}/video/${video.id}/add`), 200, 'adding a video to a folder')
      folder.videos.add(video.id)
    },
    async (video) => {
      const [id, folder] = pick([...model.folders].filter(([, { videos }]) => videos.has(video.id))) ?? []
      if (id === undefined || folder === undefined) return
      expectStatus(await api.delete(`/folder/${id}/video/${video.id}/delete`), 200, 'removing a video from a folder')
      folder.videos.delete(video.id)
    },
    async () => void (await api.get('/video?limit=20&sort_by=name')),
    async () => void (await api.get('/tag')),
    async () => void (await api.get(`/folder/${organisationId}`)),
    async () => void (await api.get(`/playlist/organisation/${organisationId}`)),
    async (video) => void (await api.get(`/video?q=${encodeURIComponent(video.title)}`)),
  ]

  return {
    async step(): Promise<void> {
      const video = pick(model.videos)
      if (!video || (model.videos.length < 12 && random() < 0.1)) return addVideo()
      await pick(onVideo)?.(video)
    },
    /** Reports a problem for every record that differs from the acknowledged writes and deletions. */
    async readBack({ problems }: SoakResult): Promise<void> {
      const expectEqual = (subject: string, actual: unknown, expected: unknown) => {
        if (JSON.stringify(actual) !== JSON.stringify(expected))
          problems.push(`${subject}: ${JSON.stringify(actual)} was read, but ${JSON.stringify(expected)} was acknowledged`)
      }
      for (const video of model.videos) {
        const { body } = await api.get<{
          video_title: string
          tags: string[] | null
          captions: { data: { caption_id: string; title: string }[] }
        }>(`/video/${video.id}`)
        expectEqual(`the title of ${video.id}`, body.video_title, video.title)
        expectEqual(`the tags of ${video.id}`, (body.tags ?? []).toSorted(), [...video.tags].toSorted())
        const captions = Object.fromEntries(body.captions.data.map(({ caption_id, title }) => [caption_id, title]))
        expectEqual(`the captions of ${video.id}`, sorted(captions), sorted(Object.fromEntries(video.captions)))
        const { body: full } = await api.get<{ metadata: '' | { private: { name: string; value: string }[] } }>(`/metadata/${video.id}`)
        const entries = full.metadata === '' ? [] : full.metadata.private.map((entry) => [entry.name, entry.value])
        expectEqual(`the metadata of ${video.id}`, sorted(Object.fromEntries(entries)), sorted(Object.fromEntries(video.metadata)))
      }
      for (const [id, list] of model.playlists) {
        const { body } = await api.get<{ videos: { video_id: string }[] }>(`/playlist/${id}`)
        const seen = body.videos.map((video) => video.video_id)
        expectEqual(`playlist ${id}`, seen, list)
      }
      for (const [id, { videos }] of model.folders) {
        const { body } = await api.get<{ contents: string[] }>(`/folder/${id}/video`)
        expectEqual(`folder ${id}`, body.contents.toSorted(), [...videos].toSorted())
      }
    },
  }
}

function sorted(record: Record<string, string>): [string, string][] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

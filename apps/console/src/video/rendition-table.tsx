import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { JOBS_KEY } from '../job/job-state.ts'
import { formatBytes, formatDuration, formatNumber } from '../layout/format.ts'
import { usePlaybackToken, withToken } from '../player/use-playback-token.ts'
import { valueLabel } from '../translation/value-label.ts'

const ACTIVE_INTERVAL_MS = 3_000
/** Jobs that are read at most. Older ones are of renditions without facts. */
const MAX_JOBS = 8

interface Rendition {
  key: string
  /** Address of the file. Empty until it can be downloaded. */
  url: string
  facts: Schemas['Job']['renditions'][number] | undefined
  isCopied: boolean
}

/**
 * Reads the jobs that made the present files: the last one of a source, and those that added renditions to it. The first
 * entry is the newest. It is empty if the files were not encoded here.
 */
export function useEncodeJobs({ media_id, status }: Schemas['Video']) {
  const { api } = useSession()
  return useQuery<Schemas['Job'][]>({
    queryKey: [...JOBS_KEY, 'encode', media_id, status.status],
    refetchInterval: ({ state }) => (state.data?.some(({ time_finished }) => time_finished === '') ? ACTIVE_INTERVAL_MS : false),
    queryFn: async ({ signal }) => {
      // A failed replacement has changed no file.
      const query = { media_id, limit: MAX_JOBS, ...(status.status === 'ok' && { state: 'ok' as const }) }
      const { jobs } = await api.call('listJobs', { query, signal })
      const ofSource = jobs.findIndex(({ action }) => action !== 'add rendition')
      const present = ofSource === -1 ? jobs : jobs.slice(0, ofSource + 1)
      return await Promise.all(present.map(({ job_id }) => api.call('getJob', { path: { job_id }, signal })))
    },
  })
}

/** Files of a video by rising bit rate, with their size and rate. */
export function RenditionTable({ video, jobs }: { video: Schemas['Video']; jobs: readonly Schemas['Job'][] }) {
  const { t } = useTranslation()
  const { isRequired, token } = usePlaybackToken(video)
  const canOpen = !isRequired || token !== undefined
  return (
    <Table.ScrollContainer minWidth={330}>
      <Table horizontalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('video.rendition')}</Table.Th>
            <Table.Th>{t('video.size')}</Table.Th>
            <Table.Th>{t('video.bitrate')}</Table.Th>
            <Table.Th>{t('video.fileSize')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {listRenditions(video, jobs).map(({ key, url, facts, isCopied }) => (
            <Table.Tr key={key}>
              <Table.Td>
                {url !== '' && canOpen ? (
                  <Anchor size="sm" className="code-text" href={withToken(url, token)} target="_blank" rel="noreferrer">
                    {key}
                  </Anchor>
                ) : (
                  <Text size="sm" className="code-text">
                    {key}
                  </Text>
                )}
                {isCopied && (
                  <Text size="xs" c="dimmed">
                    {t('video.copied')}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className="no-wrap">{facts && facts.height > 0 ? `${facts.width} × ${facts.height}` : ''}</Table.Td>
              <Table.Td className="no-wrap">
                {facts && facts.bitrate > 0 ? `${formatNumber(Math.round(facts.bitrate / 1_000))} kbit/s` : ''}
              </Table.Td>
              <Table.Td className="no-wrap">
                {facts && facts.state !== 'ok'
                  ? valueLabel('video.fileState', facts.state)
                  : facts && facts.bytes > 0
                    ? formatBytes(facts.bytes)
                    : ''}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Returns the names and values of facts about the source and its encoding. Unknown ones are left out. */
export function useEncodeFacts(jobs: readonly Schemas['Job'][]): [name: string, value: string][] {
  const { t } = useTranslation()
  const job = jobs.at(-1)
  if (!job?.plan) return []
  const { frame_rate, sounds, ffmpeg } = job.plan
  const seconds = (Date.parse(toIso(job.time_finished)) - Date.parse(toIso(job.time_started))) / 1_000
  const facts: [string, string][] = [
    [t('video.frameRate'), frame_rate === '' ? '' : formatNumber(Number(frame_rate))],
    [t('video.audioTracks'), sounds.map(({ name, language }) => name || language).join(', ') || t('video.noAudio')],
    [t('video.encodedIn'), Number.isFinite(seconds) ? formatDuration(seconds) : ''],
    [t('video.encodedBy'), ffmpeg === '' ? '' : `FFmpeg ${ffmpeg}`],
  ]
  return facts.filter(([, value]) => value !== '')
}

/** Returns the files of the video and the renditions that a job has not completed yet, by rising bit rate. */
function listRenditions({ uri }: Schemas['Video'], jobs: readonly Schemas['Job'][]): Rendition[] {
  // The names `m4v_…`, `mobile_…` and `vp6_…` have the addresses of the others.
  const files = new Map(Object.entries(uri.http).filter(([name]) => !/^(m4v|mobile|vp6)_/.test(name)))
  const oldestFirst = jobs.toReversed()
  const facts = new Map(oldestFirst.flatMap(({ renditions }) => renditions).map((rendition) => [rendition.key, rendition]))
  const copied = new Set(oldestFirst.flatMap(({ plan }) => plan?.ladder ?? []).flatMap(({ key, copied }) => (copied ? [key] : [])))
  const keys = [...facts.keys(), ...[...files.keys()].filter((key) => !facts.has(key))]
  return keys
    .map((key) => ({ key, url: files.get(key) ?? '', facts: facts.get(key), isCopied: copied.has(key) }))
    .toSorted((a, b) => (a.facts?.bitrate ?? 0) - (b.facts?.bitrate ?? 0))
}

function toIso(time: string): string {
  return time === '' ? '' : `${time.replace(' ', 'T')}Z`
}

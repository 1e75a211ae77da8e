import { Button, Group, Stack, Table, Title } from '@mantine/core'
import { IconDownload, IconFile } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { formatDuration, formatTime } from '../layout/format.ts'
import { notifyError } from '../layout/notify.ts'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { RenditionTable, useEncodeFacts, useEncodeJobs } from './rendition-table.tsx'
import { ReplaceSource } from './replace-source.tsx'

/** Facts and files of a video. */
export function FilesTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const media = useQuery({
    queryKey: ['media', video.media_id],
    queryFn: ({ signal }) => api.call('getMedia', { path: { media_id: video.media_id }, signal }),
  })
  const encodeJobs = useEncodeJobs(video)
  const jobs = encodeJobs.data ?? []
  const encodeFacts = useEncodeFacts(jobs)
  const hasFiles = Object.keys(video.uri.http).length > 0 || jobs.some(({ renditions }) => renditions.length > 0)
  const download = async () => {
    try {
      const { url } = await api.call('createOriginalDownloadUrl', { path: { video_id: video.video_id }, payload: {} })
      location.assign(url)
    } catch (error) {
      notifyError(error)
    }
  }
  const facts = [
    [t('video.id'), video.video_id],
    [t('video.source'), media.data?.original_filename ?? ''],
    [t('video.duration'), formatDuration(video.duration)],
    [t('video.size'), video.published_width === '' ? '' : `${video.published_width} × ${video.published_height}`],
    ...encodeFacts,
    [t('video.createdAt'), formatTime(video.created_at)],
    [t('video.changedAt'), formatTime(video.last_modified_at)],
  ] as const
  return (
    <Stack gap="lg">
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={140}>{name}</Table.Th>
              <Table.Td className="page-title">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden="true" />} onClick={() => void download()}>
          {t('video.download')}
        </Button>
      </Group>
      <ReplaceSource video={video} />
      {video.uri.hls !== '' && <CopyField label="HLS" value={video.uri.hls} />}
      <div>
        <Title order={2} size="h4" mb="xs">
          {t('video.renditions')}
        </Title>
        {hasFiles ? (
          <RenditionTable video={video} jobs={jobs} />
        ) : (
          <QueryState query={encodeJobs}>{() => <EmptyState icon={<IconFile size={26} />} title={t('video.noFiles')} />}</QueryState>
        )}
      </div>
    </Stack>
  )
}

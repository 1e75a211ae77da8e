import { Alert, Button, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { isActive, JOBS_KEY, refreshJobs } from '../job/job-state.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SelectFile } from '../layout/select-file.tsx'
import { useUploads } from '../upload/upload-provider.tsx'

const ACTIVE_INTERVAL_MS = 3_000

/**
 * Replaces the source of a video by a file or an address. The old files play until the new ones are ready. The upload
 * of a file continues on other pages. After an interruption it continues when the same file is selected again.
 */
export function ReplaceSource({ video: { media_id } }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const { items, queue, replaceSource } = useUploads()
  const [url, setUrl] = useState('')
  const upload = items.findLast(({ mediaId }) => mediaId === media_id)
  const isUploading = upload?.state === 'waiting' || upload?.state === 'sending' || upload?.state === 'paused'
  const fetchUrl = useMutation({
    mutationFn: (source: string) => api.videos.create({ url: source, media_id }),
    async onSuccess() {
      setUrl('')
      // Its message would be about an earlier source.
      if (upload) queue.remove(upload.key)
      await refreshJobs(queryClient)
    },
  })
  const jobId = fetchUrl.data?.job_id
  const job = useQuery<Schemas['Job']>({
    queryKey: [...JOBS_KEY, 'replacement', jobId],
    enabled: jobId !== undefined,
    refetchInterval: ({ state }) => (state.data && isActive(state.data) ? ACTIVE_INTERVAL_MS : false),
    queryFn: ({ signal }) => api.call('getJob', { path: { job_id: jobId ?? '' }, signal }),
  })
  // A failed job is shown above the tabs.
  const message = describe(upload?.state ?? (fetchUrl.isSuccess ? (job.data?.state ?? 'queued') : undefined))
  const select = (file: File) => {
    fetchUrl.reset()
    replaceSource(file, media_id)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    fetchUrl.mutate(url.trim())
  }
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('replace.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('replace.text')}
      </Text>
      <ErrorAlert error={fetchUrl.error} />
      {upload?.state === 'failed' && (
        <Alert color="red" role="alert">
          {upload.reason}
        </Alert>
      )}
      {upload && isUploading && (
        <Group gap="sm" wrap="nowrap">
          <Progress value={upload.percent} flex={1} aria-label={t('replace.sending')} />
          <Text size="sm" className="time-code">
            {t(upload.state === 'paused' ? 'upload.paused' : 'upload.sending', { percent: upload.percent })}
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => queue.remove(upload.key)}>
            {t('common.cancel')}
          </Button>
        </Group>
      )}
      {message && (
        <Alert color="teal" role="status">
          {t(message)}
        </Alert>
      )}
      <form onSubmit={submit}>
        <Group align="flex-end">
          <SelectFile accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts" onSelect={select}>
            {(props) => (
              <Button variant="default" {...props} disabled={isUploading}>
                {t('replace.file')}
              </Button>
            )}
          </SelectFile>
          <TextInput
            flex={1}
            miw={180}
            label={t('replace.url')}
            type="url"
            required
            withAsterisk={false}
            placeholder="https://www.example.org/launch.mp4"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" disabled={url.trim() === '' || isUploading} loading={fetchUrl.isPending}>
            {t('upload.start')}
          </Button>
        </Group>
      </form>
    </Stack>
  )
}

/** Returns the message for the state of an upload or of a job. */
function describe(state: string | undefined): 'replace.done' | 'replace.started' | undefined {
  if (state === 'done' || state === 'ok') return 'replace.done'
  return state === 'encoding' || state === 'queued' || state === 'running' ? 'replace.started' : undefined
}

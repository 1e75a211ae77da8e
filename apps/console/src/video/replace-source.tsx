import { Alert, Button, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { refreshJobs } from '../job/job-state.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SelectFile } from '../layout/select-file.tsx'
import { useUploads } from '../upload/upload-provider.tsx'

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
      await refreshJobs(queryClient)
    },
  })
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
      {(fetchUrl.isSuccess || upload?.state === 'encoding' || upload?.state === 'done') && !isUploading && (
        <Alert color="teal" role="status">
          {t(upload?.state === 'done' ? 'replace.done' : 'replace.started')}
        </Alert>
      )}
      <form onSubmit={submit}>
        <Group align="flex-end">
          <SelectFile accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts" onSelect={(file) => replaceSource(file, media_id)}>
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

import { Alert, Button, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { refreshJobs } from '../job/job-state.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SelectFile } from '../layout/select-file.tsx'
import { continueUpload } from '../upload/continue-upload.ts'

/**
 * Replaces the source of a video by a file or an address. The old files play until the new ones are ready. An interrupted
 * upload continues when the same file is selected again.
 */
export function ReplaceSource({ video: { media_id } }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [url, setUrl] = useState('')
  const [percent, setPercent] = useState<number>()
  const abortRef = useRef<AbortController>(undefined)
  const replace = useMutation({
    mutationFn: (source: File | string) => {
      if (typeof source === 'string') return api.videos.create({ url: source, media_id })
      abortRef.current = new AbortController()
      setPercent(0)
      const target = { file: source, purpose: `${organisationId}:${media_id}` }
      return continueUpload(api, target, {
        mediaId: media_id,
        signal: abortRef.current.signal,
        onProgress: ({ sentBytes }) => setPercent(Math.floor((100 * sentBytes) / source.size)),
      })
    },
    onSettled: () => setPercent(undefined),
    async onSuccess() {
      setUrl('')
      await refreshJobs(queryClient)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    replace.mutate(url.trim())
  }
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('replace.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('replace.text')}
      </Text>
      <ErrorAlert error={abortRef.current?.signal.aborted ? null : replace.error} />
      {percent !== undefined && (
        <Group gap="sm" wrap="nowrap">
          <Progress value={percent} flex={1} aria-label={t('replace.sending')} />
          <Text size="sm" className="time-code">
            {t('upload.sending', { percent })}
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => abortRef.current?.abort()}>
            {t('common.cancel')}
          </Button>
        </Group>
      )}
      {replace.isSuccess && (
        <Alert color="teal" role="status">
          {t('replace.started')}
        </Alert>
      )}
      <form onSubmit={submit}>
        <Group align="flex-end">
          <SelectFile accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts" onSelect={(file) => replace.mutate(file)}>
            {(props) => (
              <Button variant="default" loading={replace.isPending} {...props}>
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
          <Button type="submit" variant="default" disabled={url.trim() === ''} loading={replace.isPending}>
            {t('upload.start')}
          </Button>
        </Group>
      </form>
    </Stack>
  )
}

import { Alert, Button, FileButton, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { refreshJobs } from '../job/job-state.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'

const UPLOAD_TIMEOUT_MS = 6 * 3_600_000

/** Replaces the source of a video by a file or an address. The old files play until the new ones are ready. */
export function ReplaceSource({ video: { media_id } }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [url, setUrl] = useState('')
  const replace = useMutation({
    mutationFn: (source: File | string) => {
      if (typeof source === 'string') return api.videos.create({ url: source, media_id })
      const body = new FormData()
      body.set('media_id', media_id)
      body.set('file', source)
      return api.call('uploadVideo', { body, timeoutMs: UPLOAD_TIMEOUT_MS })
    },
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
      <ErrorAlert error={replace.error} />
      {replace.isSuccess && (
        <Alert color="teal" role="status">
          {t('replace.started')}
        </Alert>
      )}
      <form onSubmit={submit}>
        <Group align="flex-end">
          <FileButton accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts" onChange={(file) => file && replace.mutate(file)}>
            {(props) => (
              <Button variant="default" loading={replace.isPending} {...props}>
                {t('replace.file')}
              </Button>
            )}
          </FileButton>
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

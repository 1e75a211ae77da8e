import { Alert, Button, Divider, Group, Stack, Switch, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'

/** Who may watch a video, and why a viewer cannot. */
export function ProtectionTab({ video }: { video: Schemas['Video'] }) {
  return (
    <Stack gap="lg">
      <ProtectionForm video={video} />
      <Divider />
      <ExplainForm videoId={video.video_id} />
    </Stack>
  )
}

function ProtectionForm({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  // Undefined: unchanged. Only changes are sent, so that those of another person are kept.
  const [token, setToken] = useState<boolean>()
  const [expiry, setExpiry] = useState<string>()
  const [addresses, setAddresses] = useState<string>()
  const security = {
    ...(token !== undefined && { token_required_platform: token }),
    ...(addresses !== undefined && { allowed_ips: addresses.split('\n').flatMap((line) => line.trim() || []) }),
  }
  const save = useMutation({
    mutationFn: () =>
      api.call('updateVideo', {
        path: { video_id: video.video_id },
        payload: {
          ...(Object.keys(security).length > 0 && { security }),
          ...(expiry !== undefined && { content_expiry: { time: toUtcTime(expiry) } }),
        },
      }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
      setToken(undefined)
      setExpiry(undefined)
      setAddresses(undefined)
      notifySuccess(t('common.saved'))
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Switch
          label={t('video.tokenRequired')}
          description={t('video.tokenHelp')}
          checked={token ?? video.security.token_required_platform}
          onChange={(event) => setToken(event.currentTarget.checked)}
        />
        <TextInput
          label={t('video.expiry')}
          type="datetime-local"
          value={expiry ?? toLocalTime(video.content_expiry.time ?? '')}
          error={fieldMessage(save.error, 'content_expiry')}
          onChange={(event) => setExpiry(event.currentTarget.value)}
        />
        <Textarea
          label={t('video.addresses')}
          description={t('video.addressesHelp')}
          placeholder={video.security.is_ip_restricted ? t('video.addressesKept') : '192.0.2.0/24'}
          autosize
          minRows={2}
          value={addresses ?? ''}
          error={fieldMessage(save.error, 'security')}
          onChange={(event) => setAddresses(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" disabled={token === undefined && expiry === undefined && addresses === undefined} loading={save.isPending}>
            {t('common.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function ExplainForm({ videoId }: { videoId: string }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const [address, setAddress] = useState('')
  const [referrer, setReferrer] = useState('')
  const explain = useMutation({
    mutationFn: () =>
      api.call('explainPlaybackDecision', {
        payload: {
          video_id: videoId,
          kind: 'manifest',
          address: address.trim(),
          ...(referrer.trim() !== '' && { referrer: referrer.trim() }),
        },
      }),
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    explain.mutate()
  }
  const { data } = explain
  return (
    <form onSubmit={submit}>
      <Stack>
        <div>
          <Title order={2} size="h4">
            {t('video.explain')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('video.explainText')}
          </Text>
        </div>
        <TextInput
          label={t('video.viewerAddress')}
          placeholder="192.0.2.7"
          required
          value={address}
          error={fieldMessage(explain.error, 'address')}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        <TextInput
          label={t('video.viewerPage')}
          placeholder="https://www.example.org/courses/1"
          value={referrer}
          error={fieldMessage(explain.error, 'referrer')}
          onChange={(event) => setReferrer(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" variant="default" loading={explain.isPending}>
            {t('video.check')}
          </Button>
        </Group>
        {data && (
          <Alert
            color={data.allowed ? 'teal' : 'red'}
            title={data.allowed ? t('video.allowed') : t('video.denied', { code: data.code })}
            role="status"
          >
            {t('video.decidedBy', { part: [data.decided_by, data.rule?.name, data.message].filter(Boolean).join(', ') })}
          </Alert>
        )}
      </Stack>
    </form>
  )
}

/** Returns the value of an input for a local time. Times of the API are in UTC. */
function toLocalTime(text: string): string {
  if (text === '') return ''
  const time = new Date(`${text.replace(' ', 'T')}Z`)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function toUtcTime(local: string): string {
  return local === '' ? '' : new Date(local).toISOString().slice(0, 19).replace('T', ' ')
}

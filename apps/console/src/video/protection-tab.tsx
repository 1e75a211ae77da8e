import { Alert, Button, Divider, Group, Stack, Switch, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { toLocalTime, toUtcTime } from '../layout/local-time.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'

/** Who may watch a video, and why a viewer cannot. */
export function ProtectionTab({ video }: { video: Schemas['Video'] }) {
  return (
    <Stack gap="lg">
      <ProtectionForm video={video} />
      <Divider />
      <ExplainForm videoId={video.video_id} changedAt={video.last_modified_at} />
    </Stack>
  )
}

/** Values of the form. Undefined: unchanged. */
interface Changes {
  token: boolean | undefined
  /** Local time. */
  expiry: string | undefined
  /** One on each line. */
  addresses: string | undefined
}

function ProtectionForm({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  // Only changes are sent, so that those of another person are kept.
  const [token, setToken] = useState<boolean>()
  const [expiry, setExpiry] = useState<string>()
  const [addresses, setAddresses] = useState<string>()
  const isChanged = token !== undefined || expiry !== undefined || addresses !== undefined
  useUnsavedChanges(isChanged)
  const discard = () => {
    setToken(undefined)
    setExpiry(undefined)
    setAddresses(undefined)
  }
  const save = useMutation({
    mutationFn: (sent: Changes) => api.call('updateVideo', { path: { video_id: video.video_id }, payload: toPayload(sent) }),
    async onSuccess(_, sent) {
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
      const { token: isRequired } = sent
      // Changes that were made during the request are kept.
      setToken((current) => (current === isRequired ? undefined : current))
      setExpiry((current) => (current === sent.expiry ? undefined : current))
      setAddresses((current) => (current === sent.addresses ? undefined : current))
      notifySuccess(t('common.saved'))
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ token, expiry, addresses })
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
        {video.security.is_ip_restricted && (
          <Group gap="xs">
            <Text size="sm">{t(addresses === '' ? 'video.addressesRemoved' : 'video.addressesKept')}</Text>
            {addresses !== '' && (
              <Button size="compact-sm" variant="default" onClick={() => setAddresses('')}>
                {t('video.addressesRemove')}
              </Button>
            )}
          </Group>
        )}
        <Textarea
          label={t('video.addresses')}
          description={t('video.addressesHelp')}
          placeholder="192.0.2.0/24"
          autosize
          minRows={2}
          value={addresses ?? ''}
          error={fieldMessage(save.error, 'security.allowed_ips')}
          // Restrictions are removed only by the button.
          onChange={({ currentTarget: { value } }) => setAddresses(splitLines(value).length > 0 ? value : undefined)}
        />
        <SaveButtons isChanged={isChanged} isPending={save.isPending} discard={discard} />
      </Stack>
    </form>
  )
}

function toPayload({ token, expiry, addresses }: Changes) {
  const security = {
    ...(token !== undefined && { token_required_platform: token }),
    ...(addresses !== undefined && { allowed_ips: splitLines(addresses) }),
  }
  return {
    ...(Object.keys(security).length > 0 && { security }),
    ...(expiry !== undefined && { content_expiry: { time: toUtcTime(expiry) } }),
  }
}

function splitLines(text: string): string[] {
  return text.split('\n').flatMap((line) => line.trim() || [])
}

/** The result is hidden when the video changes. */
function ExplainForm({ videoId, changedAt }: { videoId: string; changedAt: string }) {
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
  const { reset } = explain
  useEffect(reset, [changedAt])
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

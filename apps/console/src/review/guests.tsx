import { Button, Group, Paper, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { formatTime } from '../layout/format.ts'
import { type Entry, useRefresh } from './use-review.ts'

const DAY_SECONDS = 86_400
const DAYS = [1, 7, 14, 30, 90]
const DEFAULT_DAYS = 14

/** People without a user who review the video by a link. */
export function Guests({ video, guests }: { video: Schemas['Video']; guests: readonly Entry[] }) {
  const { t } = useTranslation()
  const [isInviting, setInviting] = useState(false)
  return (
    <Stack component="section" gap="xs" aria-labelledby="review-guests">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5" id="review-guests">
          {t('review.guests')}
        </Title>
        {!isInviting && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconUserPlus size={14} aria-hidden="true" />}
            onClick={() => setInviting(true)}
          >
            {t('review.invite')}
          </Button>
        )}
      </Group>
      {guests.length === 0 && !isInviting && (
        <Text size="sm" c="dimmed">
          {t('review.guestsText')}
        </Text>
      )}
      {isInviting && <InviteGuest video={video} close={() => setInviting(false)} />}
      {guests.length > 0 && (
        <Stack component="ul" className="plain-list" gap="xs">
          {guests.map((entry) => (
            <Guest key={entry.id} video={video} entry={entry} />
          ))}
        </Stack>
      )}
    </Stack>
  )
}

/** Form that creates the entry of a guest and shows its link. */
function InviteGuest({ video, close }: { video: Schemas['Video']; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const refresh = useRefresh(video.video_id)
  const [email, setEmail] = useState('')
  const [days, setDays] = useState(String(DEFAULT_DAYS))
  // A second attempt after a failure uses the entry of the first one.
  const [entryId, setEntryId] = useState<string>()
  const invite = useMutation({
    async mutationFn() {
      const create = () => api.call('createCollaborationEntry', { path: { video_id: video.video_id }, payload: { email } })
      const id = entryId ?? (await create()).id
      setEntryId(id)
      return api.call('setGuestLink', { path: { collaborate_id: id }, payload: { expires_in: Number(days) * DAY_SECONDS } })
    },
    onSettled: refresh,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate()
  }
  if (invite.data) return <NewLink email={email} link={invite.data} close={close} />
  return (
    <Paper withBorder p="sm" component="form" onSubmit={submit} aria-label={t('review.invite')}>
      <Stack gap="sm">
        <ErrorAlert error={invite.error} />
        <TextInput
          label={t('review.guestEmail')}
          description={t('review.guestEmailText')}
          type="email"
          required
          maxLength={254}
          readOnly={entryId !== undefined}
          value={email}
          error={fieldMessage(invite.error, 'email')}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Select
          label={t('review.linkDays')}
          allowDeselect={false}
          data={DAYS.map((count) => ({ value: String(count), label: t('review.days', { count }) }))}
          value={days}
          onChange={(value) => setDays(value ?? String(DEFAULT_DAYS))}
        />
        <FormButtons submitLabel={t('review.createLink')} isPending={invite.isPending} close={close} />
      </Stack>
    </Paper>
  )
}

/** Shows the address of a new link, which cannot be read later. */
function NewLink({ email, link, close }: { email: string; link: { url: string; expires: string }; close: () => void }) {
  const { t } = useTranslation()
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Text size="sm" role="status">
          {t('review.linkOnce', { email, date: formatTime(link.expires) })}
        </Text>
        <CopyField label={t('review.guestLink')} value={link.url} />
        <Button size="compact-sm" variant="default" onClick={close} style={{ alignSelf: 'flex-start' }}>
          {t('common.close')}
        </Button>
      </Stack>
    </Paper>
  )
}

function Guest({ video, entry }: { video: Schemas['Video']; entry: Entry }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const refresh = useRefresh(video.video_id)
  const path = { collaborate_id: entry.id }
  const renew = useMutation({
    mutationFn: () => api.call('setGuestLink', { path, payload: { expires_in: DEFAULT_DAYS * DAY_SECONDS } }),
    onSettled: refresh,
  })
  const hasLink = entry.guest_link_expires !== ''
  if (renew.data) {
    return (
      <li>
        <NewLink email={entry.email} link={renew.data} close={() => renew.reset()} />
      </li>
    )
  }
  const end = async () => {
    await api.call('deleteGuestLink', { path })
    await refresh()
  }
  const remove = async () => {
    await api.call('deleteCollaborationEntry', { path })
    await refresh()
  }
  return (
    <Paper withBorder p="sm" component="li">
      <Text fw={600} size="sm" className="page-title">
        {entry.email}
      </Text>
      <Text size="xs" c="dimmed">
        {hasLink ? t('review.linkUntil', { date: formatTime(entry.guest_link_expires) }) : t('review.linkEnded')}
      </Text>
      <ErrorAlert error={renew.error} />
      <Group gap={4} mt="xs">
        {hasLink ? (
          <>
            <ConfirmButton
              size="compact-sm"
              color="gray"
              variant="default"
              title={t('review.renewTitle', { email: entry.email })}
              text={t('review.renewText')}
              confirm={t('review.newLink')}
              onConfirm={() => renew.mutateAsync()}
            >
              {t('review.newLink')}
            </ConfirmButton>
            <ConfirmButton
              size="compact-sm"
              title={t('review.endTitle', { email: entry.email })}
              text={t('review.endText')}
              confirm={t('review.endLink')}
              onConfirm={end}
            >
              {t('review.endLink')}
            </ConfirmButton>
          </>
        ) : (
          <Button size="compact-sm" variant="default" loading={renew.isPending} onClick={() => renew.mutate()}>
            {t('review.newLink')}
          </Button>
        )}
        <ConfirmButton
          size="compact-sm"
          title={t('review.removeGuestTitle', { email: entry.email })}
          text={t('review.removeGuestText')}
          confirm={t('common.delete')}
          onConfirm={remove}
        >
          {t('common.delete')}
        </ConfirmButton>
      </Group>
    </Paper>
  )
}

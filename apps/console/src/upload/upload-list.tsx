import { ActionIcon, Anchor, Button, Group, Paper, Progress, ScrollArea, Stack, Text } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { forgetInterrupted, type InterruptedUpload, listInterruptedUploads } from './stored-uploads.ts'
import { useUploads } from './upload-provider.tsx'
import type { UploadItem } from './upload-queue.ts'

/** Progress of all uploads, in a corner of every page. */
export function UploadList() {
  const { t } = useTranslation()
  const { items, queue } = useUploads()
  const interrupted = useInterruptedUploads()
  if (items.length === 0 && interrupted.length === 0) return null
  return (
    <Paper withBorder shadow="lg" p="md" className="upload-list" component="section" aria-label={t('upload.list')}>
      <Group justify="space-between" mb="xs">
        <Text fw={650}>{t('upload.list')}</Text>
        {items.some(({ state }) => state === 'done') && (
          <Button size="compact-xs" variant="subtle" onClick={queue.removeEnded}>
            {t('upload.clear')}
          </Button>
        )}
      </Group>
      <ScrollArea.Autosize mah={280}>
        <Stack gap="sm" component="ul" className="plain-list">
          {items.map((item) => (
            <UploadRow key={item.key} item={item} />
          ))}
          {interrupted.map((upload) => (
            <InterruptedRow key={upload.name} upload={upload} />
          ))}
        </Stack>
      </ScrollArea.Autosize>
    </Paper>
  )
}

/** Uploads of pages that were closed. They are read again when an upload of this page starts or ends. */
function useInterruptedUploads(): readonly InterruptedUpload[] {
  const { organisationId } = useSession()
  const { items } = useUploads()
  const states = items.map(({ key, state }) => `${key} ${state}`)
  const { data = [] } = useQuery({
    queryKey: ['interrupted uploads', organisationId, states],
    queryFn: () => listInterruptedUploads(organisationId),
  })
  // Uploads of this page are in its list, also while they wait or are paused.
  return data.filter(({ fileName }) => !items.some(({ name }) => name === fileName))
}

function InterruptedRow({ upload: { name, fileName, isReplacement } }: { upload: InterruptedUpload }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const remove = () => {
    forgetInterrupted(name)
    void queryClient.invalidateQueries({ queryKey: ['interrupted uploads'] })
  }
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate fw={550} title={fileName}>
          {fileName}
        </Text>
        <ActionIcon variant="subtle" color="gray" aria-label={t('upload.remove', { name: fileName })} onClick={remove}>
          <IconX size={16} />
        </ActionIcon>
      </Group>
      <Text size="xs" c="dimmed">
        {t(isReplacement ? 'upload.interruptedSource' : 'upload.interrupted')}
      </Text>
    </li>
  )
}

function UploadRow({ item }: { item: UploadItem }) {
  const { t } = useTranslation()
  const { queue } = useUploads()
  const { key, name, state, percent, videoId, reason = '' } = item
  const text = {
    waiting: t('upload.waiting'),
    sending: t('upload.sending', { percent }),
    paused: t('upload.paused', { percent }),
    encoding: t('upload.processing', { percent }),
    done: item.mediaId === undefined ? t('upload.done') : t('replace.done'),
    failed: t('upload.failed', { reason }),
  }[state]
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate fw={550} title={name}>
          {name}
        </Text>
        <Group gap={2} wrap="nowrap">
          {(state === 'sending' || state === 'waiting') && (
            <ActionIcon variant="subtle" color="gray" aria-label={t('upload.pause', { name })} onClick={() => queue.pause(key)}>
              <IconPlayerPause size={16} />
            </ActionIcon>
          )}
          {(state === 'paused' || (state === 'failed' && videoId === undefined)) && (
            <ActionIcon variant="subtle" color="gray" aria-label={t('upload.resume', { name })} onClick={() => queue.resume(key)}>
              <IconPlayerPlay size={16} />
            </ActionIcon>
          )}
          <ActionIcon variant="subtle" color="gray" aria-label={t('upload.remove', { name })} onClick={() => queue.remove(key)}>
            <IconX size={16} />
          </ActionIcon>
        </Group>
      </Group>
      <Progress
        value={state === 'done' ? 100 : percent}
        size="sm"
        color={state === 'failed' ? 'red' : state === 'done' ? 'teal' : 'indigo'}
        aria-label={name}
      />
      <Group justify="space-between" gap="xs" mt={2}>
        <Text size="xs" c={state === 'failed' ? 'red' : 'dimmed'} aria-live="polite">
          {text}
        </Text>
        {videoId !== undefined && (
          <Anchor size="xs" renderRoot={(props) => <Link to="/videos/$videoId" params={{ videoId }} {...props} />}>
            {t('upload.open')}
          </Anchor>
        )}
      </Group>
    </li>
  )
}

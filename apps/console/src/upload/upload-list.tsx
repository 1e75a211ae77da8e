import { ActionIcon, Anchor, Button, Group, Paper, Progress, ScrollArea, Stack, Text } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useUploads } from './upload-provider.tsx'
import type { UploadItem } from './upload-queue.ts'

/** Progress of all uploads, in a corner of every page. */
export function UploadList() {
  const { t } = useTranslation()
  const { items, queue } = useUploads()
  if (items.length === 0) return null
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
        </Stack>
      </ScrollArea.Autosize>
    </Paper>
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
    done: t('upload.done'),
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

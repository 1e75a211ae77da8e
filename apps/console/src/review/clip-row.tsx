import { ActionIcon, Box, Button, Group, Paper, Text } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconCheck, IconLink, IconRotate } from '@tabler/icons-react'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { formatTimeCode } from '../player/time-code.ts'
import { ClipForm } from './clip-form.tsx'
import { type Clip, readTimes } from './clip-times.ts'
import { ClipView } from './clip-view.tsx'
import { useRefresh } from './use-review.ts'

interface Props {
  video: Schemas['Video']
  clip: Clip
  /** Name of the reviewer. It is omitted below the heading of the reviewer. */
  reviewer?: string
  /** The player shows this part. */
  isCurrent: boolean
  isBusy: boolean
  setResolved: (isResolved: boolean) => void
  /** Called after the clip was deleted. */
  onRemoved: () => void
  /** Moves the clip within the review. Without it, there are no buttons for that. */
  move?: { up?: () => void; down?: () => void }
}

/** A comment with its time, and the buttons for it. */
export function ClipRow({ video, clip, reviewer, isCurrent, isBusy, setResolved, onRemoved, move }: Props) {
  const { t } = useTranslation()
  const { api } = useSession()
  const refresh = useRefresh(video.video_id)
  const [isEditing, setEditing] = useState(false)
  const [isLinkShown, setLinkShown] = useState(false)
  const { start, end } = readTimes(clip)
  const time = formatTimeCode(start)
  const isResolved = clip.resolved === '1'
  const path = { clip_id: clip.id }
  if (isEditing) {
    return (
      <Paper withBorder p="sm" component="li">
        <ClipForm
          duration={Number(video.duration)}
          initial={{ comments: clip.comments, start, end }}
          submitLabel={t('common.save')}
          save={async (payload) => {
            await api.call('updateClip', { path, payload })
            await refresh()
          }}
          close={() => setEditing(false)}
        />
      </Paper>
    )
  }
  const remove = async () => {
    await api.call('deleteClip', { path })
    await refresh()
    onRemoved()
  }
  return (
    <Paper withBorder p="sm" component="li" className="clip" aria-current={isCurrent || undefined}>
      <ClipView clip={clip}>
        {move && (
          <ActionIcon.Group>
            <ActionIcon variant="default" disabled={!move.up || isBusy} aria-label={t('review.up', { time })} onClick={move.up}>
              <IconArrowUp size={16} />
            </ActionIcon>
            <ActionIcon variant="default" disabled={!move.down || isBusy} aria-label={t('review.down', { time })} onClick={move.down}>
              <IconArrowDown size={16} />
            </ActionIcon>
          </ActionIcon.Group>
        )}
      </ClipView>
      {reviewer !== undefined && (
        <Text size="xs" c="dimmed" className="page-title">
          {reviewer}
        </Text>
      )}
      <Group gap={4} mt="xs">
        <Button
          size="compact-sm"
          variant="default"
          disabled={isBusy}
          leftSection={isResolved ? <IconRotate size={14} aria-hidden="true" /> : <IconCheck size={14} aria-hidden="true" />}
          onClick={() => setResolved(!isResolved)}
        >
          {isResolved ? t('review.reopen') : t('review.resolve')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setEditing(true)}>
          {t('review.edit')}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconLink size={14} aria-hidden="true" />}
          aria-expanded={isLinkShown}
          onClick={() => setLinkShown(!isLinkShown)}
        >
          {t('review.link')}
        </Button>
        <ConfirmButton
          size="compact-sm"
          title={t('review.deleteTitle', { time })}
          text={t('review.deleteText')}
          confirm={t('common.delete')}
          onConfirm={remove}
        >
          {t('common.delete')}
        </ConfirmButton>
      </Group>
      {isLinkShown && (
        <Box mt="xs">
          <CopyField
            label={t('review.linkLabel', { time })}
            value={`${location.origin}/console/videos/${video.video_id}?tab=review&t=${start}`}
          />
        </Box>
      )}
    </Paper>
  )
}

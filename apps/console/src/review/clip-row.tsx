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
  /** The comment when its editing began, or as another person has changed it since. Undefined if it is not edited. */
  const [edited, setEdited] = useState<Clip>()
  const [isLinkShown, setLinkShown] = useState(false)
  const { start } = readTimes(clip)
  const time = formatTimeCode(start)
  const isResolved = clip.resolved === '1'
  const path = { clip_id: clip.id }
  if (edited) {
    return (
      <Paper withBorder p="sm" component="li">
        <ClipForm
          duration={Number(video.duration)}
          initial={{ comments: edited.comments, ...readTimes(edited) }}
          submitLabel={t('common.save')}
          save={async (payload) => {
            const stored = await api.call('getClip', { path })
            if (toComparable(stored) !== toComparable(edited)) {
              setEdited(stored)
              throw new Error(t('review.conflict', { text: stored.comments }))
            }
            await api.call('updateClip', { path, payload })
            await refresh()
          }}
          close={() => setEdited(undefined)}
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
        <Button size="compact-sm" variant="default" onClick={() => setEdited(clip)}>
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

/** Returns what the form can change, to compare two versions of a comment. */
function toComparable(clip: Clip): string {
  return JSON.stringify([clip.comments, readTimes(clip)])
}

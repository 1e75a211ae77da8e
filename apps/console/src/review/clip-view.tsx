import { Badge, Button, Group, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { usePlayerActions } from '../player/player-control.tsx'
import { formatTimeCode } from '../player/time-code.ts'
import { type Clip, readTimes } from './clip-times.ts'

/** Time, state and text of a comment. The time moves the player there. `children` are buttons next to the time. */
export function ClipView({ clip, children }: { clip: Clip; children?: ReactNode }) {
  const { t } = useTranslation()
  const { jump } = usePlayerActions()
  const { start, end } = readTimes(clip)
  const time = formatTimeCode(start)
  return (
    <>
      <Group gap="xs" wrap="nowrap" justify="space-between" align="flex-start">
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="light"
            className="time-code"
            aria-label={t('review.jump', { time: end > start ? `${time} – ${formatTimeCode(end)}` : time })}
            onClick={() => void jump(start)}
          >
            {time}
            {end > start && ` – ${formatTimeCode(end)}`}
          </Button>
          {clip.resolved === '1' && (
            <Badge color="teal" leftSection={<IconCheck size={12} aria-hidden="true" />}>
              {t('review.resolved')}
            </Badge>
          )}
        </Group>
        {children}
      </Group>
      {clip.title !== '' && (
        <Text fw={600} mt={6} className="page-title">
          {clip.title}
        </Text>
      )}
      <Text mt={6} className="clip-text">
        {clip.comments}
      </Text>
    </>
  )
}

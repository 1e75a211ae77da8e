import { Select, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { FormChoice } from './form-choice.tsx'
import { PlayerChoice } from './player-choice.tsx'

const TYPES = ['responsive', 'facade', 'iframe'] as const

/** Link and embed code of a video. */
export function SharingTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const [type, setType] = useState<(typeof TYPES)[number]>('responsive')
  const id = video.video_id
  const code = useQuery({
    queryKey: ['embed', id, type],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => api.call('getEmbedCode', { path: { id, type }, signal }),
  })
  return (
    <Stack>
      <CopyField label={t('video.shareLink')} value={`${location.origin}/player/${id}`} />
      <Select
        label={t('video.embedType')}
        data={TYPES.map((value) => ({ value, label: t(`video.${value}`) }))}
        value={type}
        allowDeselect={false}
        onChange={(value) => setType(TYPES.find((name) => name === value) ?? 'responsive')}
      />
      <QueryState query={code}>{([html = '']) => <CopyField label={t('video.embedCode')} value={html} rows={6} />}</QueryState>
      <PlayerChoice video={video} />
      <FormChoice video={video} />
      {video.visibility === 'private' && (
        <Text size="sm" c="dimmed">
          {t('video.visibilityHelp')}
        </Text>
      )}
    </Stack>
  )
}

import { Select, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { PlayerProvider, usePlayerConnection } from '../player/player-control.tsx'
import { PlayerFrame } from '../player/player-frame.tsx'

/** A theme or a profile that is not stored yet, in the form of the API. */
export interface Look {
  theme?: object
  player_settings?: object
}

const SEARCH_DELAY_MS = 250
const MAX_FOUND = 20

/** The player of a video as it is with a theme or a profile that is being edited. */
export function PlayerPreview({ look }: { look: Look }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS)
  /** The newest video, until another one is selected. A search does not change it. */
  const [video, setVideo] = useState<Schemas['Video']>()
  // The name of the selected video is not a search.
  const q = searched === video?.video_title ? '' : searched
  const found = useQuery({
    queryKey: ['videos', organisationId, 'playable', q],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const order = q === '' ? ({ sort_by: 'date_created', sort_order: 'descending' } as const) : { q }
      return (await api.call('listVideos', { signal, query: { limit: MAX_FOUND, status: 'ok', ...order } })).videos
    },
  })
  const videos = found.data ?? []
  if (!video && videos[0]) setVideo(videos[0])
  return (
    <Stack gap="sm" className="player-column">
      <Title order={2} size="h4">
        {t('profiles.preview')}
      </Title>
      {video ? (
        <PlayerProvider>
          <PlayerFrame key={video.video_id} video={video} />
          <ShownLook look={look} />
        </PlayerProvider>
      ) : (
        <QueryState query={found}>{() => <Text size="sm">{t('profiles.noVideo')}</Text>}</QueryState>
      )}
      {video && (
        <Select
          label={t('profiles.previewVideo')}
          data={[video, ...videos.filter(({ video_id }) => video_id !== video.video_id)].map(({ video_id, video_title }) => ({
            value: video_id,
            label: video_title || video_id,
          }))}
          // The platform has searched already.
          filter={({ options }) => options}
          searchable
          allowDeselect={false}
          value={video.video_id}
          onSearchChange={setText}
          onChange={(value) => setVideo(videos.find(({ video_id }) => video_id === value) ?? video)}
        />
      )}
      <Text size="xs" c="dimmed">
        {t('profiles.previewHelp')}
      </Text>
    </Stack>
  )
}

/** Shows the look in the player, when it is ready and after each change. */
function ShownLook({ look }: { look: Look }) {
  const { player, frame } = usePlayerConnection()
  const json = JSON.stringify(look)
  useEffect(() => {
    const show = () => {
      const element = frame?.contentDocument?.querySelector('vitascope-player')
      if (element && isPreviewPlayer(element)) element.preview(JSON.parse(json))
    }
    show()
    return player?.on('ready', show)
  }, [player, frame, json])
  return null
}

/** The page of the player is one of this platform, so its player can be called. */
interface PreviewPlayer extends Element {
  preview: (look: Look) => void
}

function isPreviewPlayer(element: Element): element is PreviewPlayer {
  return 'preview' in element && typeof element.preview === 'function'
}

import { ActionIcon, Anchor, Group, Paper, Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowDown, IconArrowLeft, IconArrowUp, IconGripVertical, IconPlaylist, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { notifyError } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { VideoThumbnail } from '../library/video-thumbnail.tsx'

const MAX_VIDEOS = 25
const SEARCH_DELAY_MS = 250

/** One playlist with its videos in order. */
export function PlaylistPage() {
  const { t } = useTranslation()
  const { playlistId } = useParams({ from: '/shell/playlists/$playlistId' })
  const { api } = useSession()
  const playlist = useQuery({
    queryKey: ['playlist', playlistId],
    queryFn: ({ signal }) => api.call('getPlaylist', { path: { playlist_id: playlistId }, signal }),
  })
  return (
    <>
      <Anchor size="sm" renderRoot={(props) => <Link to="/playlists" {...props} />}>
        <Group gap={4} component="span" mb="xs">
          <IconArrowLeft size={16} aria-hidden="true" />
          {t('playlists.title')}
        </Group>
      </Anchor>
      <QueryState query={playlist}>{(found) => <PlaylistView playlist={found} />}</QueryState>
    </>
  )
}

function PlaylistView({ playlist }: { playlist: Schemas['Playlist'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [dragged, setDragged] = useState<number>()
  const { playlist_id, videos } = playlist
  const queryKey = ['playlist', playlist_id]
  const store = useMutation({
    mutationFn: (list: readonly Schemas['Video'][]) =>
      api.call('updatePlaylist', { path: { playlist_id }, payload: { videos: list.map(({ video_id }) => video_id) } }),
    // The new order is shown at once, and the old one again if it is rejected.
    onMutate(list) {
      queryClient.setQueryData(queryKey, { ...playlist, videos: [...list] })
    },
    onError: notifyError,
    onSettled: () => Promise.all([queryClient.invalidateQueries({ queryKey }), queryClient.invalidateQueries({ queryKey: ['playlists'] })]),
  })
  const move = (from: number, to: number) => {
    const list = [...videos]
    const [video] = list.splice(from, 1)
    if (!video || to < 0 || to > list.length || from === to) return
    list.splice(to, 0, video)
    store.mutate(list)
  }
  return (
    <>
      <PageHeader title={playlist.title || t('library.untitled')} note={t('playlists.videos', { count: videos.length })} />
      <Stack maw={760}>
        <CopyField label={t('video.shareLink')} value={`${location.origin}/player/${playlist_id}`} />
        {videos.length < MAX_VIDEOS && <AddVideo add={(video) => store.mutate([...videos, video])} />}
        {videos.length === 0 ? (
          <EmptyState icon={<IconPlaylist size={28} />} title={t('playlists.empty')} />
        ) : (
          <>
            <Text size="sm" c="dimmed">
              {t('playlists.order')}
            </Text>
            <Stack component="ol" className="plain-list" gap="xs">
              {videos.map((video, index) => (
                <Paper
                  key={`${video.video_id} ${index}`}
                  withBorder
                  p="xs"
                  component="li"
                  draggable
                  data-dragged={dragged === index || undefined}
                  onDragStart={() => setDragged(index)}
                  onDragEnd={() => setDragged(undefined)}
                  onDragOver={(event) => event.preventDefault()}
                  onDrop={() => dragged !== undefined && move(dragged, index)}
                >
                  <Group wrap="nowrap" gap="sm">
                    <IconGripVertical size={18} className="grip" aria-hidden="true" />
                    <span className="table-thumbnail">
                      <VideoThumbnail video={video} />
                    </span>
                    <Text fw={550} flex={1} className="page-title">
                      {video.video_title}
                    </Text>
                    <ActionIcon.Group>
                      <ActionIcon
                        variant="default"
                        disabled={index === 0}
                        aria-label={t('playlists.up', { title: video.video_title })}
                        onClick={() => move(index, index - 1)}
                      >
                        <IconArrowUp size={16} />
                      </ActionIcon>
                      <ActionIcon
                        variant="default"
                        disabled={index === videos.length - 1}
                        aria-label={t('playlists.down', { title: video.video_title })}
                        onClick={() => move(index, index + 1)}
                      >
                        <IconArrowDown size={16} />
                      </ActionIcon>
                      <ActionIcon
                        variant="default"
                        aria-label={t('playlists.remove', { title: video.video_title })}
                        onClick={() => store.mutate(videos.filter((_, at) => at !== index))}
                      >
                        <IconX size={16} />
                      </ActionIcon>
                    </ActionIcon.Group>
                  </Group>
                </Paper>
              ))}
            </Stack>
          </>
        )}
      </Stack>
    </>
  )
}

function AddVideo({ add }: { add: (video: Schemas['Video']) => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS)
  const found = useQuery({
    queryKey: ['videos', organisationId, 'found', searched],
    queryFn: ({ signal }) =>
      api.call('listVideos', {
        signal,
        query: { limit: 20, ...(searched === '' ? { sort_by: 'date_created', sort_order: 'descending' } : { q: searched }) },
      }),
  })
  const videos = found.data?.videos ?? []
  return (
    <Select
      label={t('playlists.addVideo')}
      placeholder={t('library.search')}
      data={videos.map(({ video_id, video_title }) => ({ value: video_id, label: video_title || video_id }))}
      // The platform has searched already.
      filter={({ options }) => options}
      searchable
      value={null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(value) => {
        const video = videos.find(({ video_id }) => video_id === value)
        if (video) add(video)
        setText('')
      }}
    />
  )
}

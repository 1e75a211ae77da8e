import { ActionIcon, Anchor, Group, Paper, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowDown, IconArrowLeft, IconArrowUp, IconGripVertical, IconPlaylist, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type Schemas, VitascopeError } from '@vitascope/sdk'
import i18next from 'i18next'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, isMissing, toMessage } from '../api/client.ts'
import { readWithEtag, type Versioned } from '../api/read-with-etag.ts'
import { useSession } from '../api/session.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { NotFoundMessage } from '../layout/error-page.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, LoadingState, QueryState } from '../layout/query-state.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { VideoThumbnail } from '../library/video-thumbnail.tsx'
import { useOrganisationOf } from '../organisation/use-organisation-of.ts'

const MAX_VIDEOS = 25
const [MAX_TITLE, MAX_DESCRIPTION] = [255, 5_000]
const SEARCH_DELAY_MS = 250

/** One playlist with its videos in order. */
export function PlaylistPage() {
  const { t } = useTranslation()
  const { playlistId } = useParams({ from: '/shell/playlists/$playlistId' })
  const { api } = useSession()
  const playlist = useQuery({
    queryKey: ['playlist', playlistId],
    queryFn: ({ signal }) =>
      readWithEtag((onResponse) => api.call('getPlaylist', { path: { playlist_id: playlistId }, signal, onResponse })),
  })
  const isSelected = useOrganisationOf(playlist.data?.record)
  if (isMissing(playlist.error) && !playlist.data) return <NotFoundMessage />
  if (!isSelected) return <LoadingState />
  return (
    <>
      <Anchor size="sm" renderRoot={(props) => <Link to="/playlists" {...props} />}>
        <Group gap={4} component="span" mb="xs">
          <IconArrowLeft size={16} aria-hidden="true" />
          {t('playlists.title')}
        </Group>
      </Anchor>
      <QueryState query={playlist}>{({ record }) => <PlaylistView playlist={record} />}</QueryState>
    </>
  )
}

/** A change of the videos of a playlist. `list` is shown until it is stored. */
interface Change {
  list: readonly Schemas['Video'][]
  send: () => Promise<unknown>
}

function PlaylistView({ playlist }: { playlist: Schemas['Playlist'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [dragged, setDragged] = useState<number>()
  const { playlist_id } = playlist
  const queryKey = ['playlist', playlist_id]
  const failures = useRef(0)
  const change = useMutation({
    // One change is sent after another, so that the last one is stored last.
    scope: { id: `playlist ${playlist_id}` },
    mutationFn: ({ send }: Change) => send(),
    onError(error) {
      failures.current++
      notifyError(error)
    },
    onSettled: () => Promise.all([queryClient.invalidateQueries({ queryKey }), queryClient.invalidateQueries({ queryKey: ['playlists'] })]),
  })
  const videos = change.isPending ? change.variables.list : playlist.videos
  const { listRef, focusAfter } = useRowFocus(videos)
  const add = (video: Schemas['Video']) =>
    change.mutate({
      list: [...videos, video],
      send: () => api.call('addVideoToPlaylist', { path: { playlist_id, video_id: video.video_id } }),
    })
  const remove = (position: number) => {
    const video_id = videos[position]?.video_id
    if (video_id === undefined) return
    focusAfter({ index: Math.min(position, videos.length - 2), button: 2 })
    change.mutate({
      list: videos.filter((_, index) => index !== position),
      send: () => api.call('removeVideoFromPlaylist', { path: { playlist_id, video_id }, query: { position } }),
    })
  }
  const move = (from: number, to: number) => {
    const list = [...videos]
    const [video] = list.splice(from, 1)
    if (!video || to < 0 || to > list.length || from === to) return
    list.splice(to, 0, video)
    focusAfter({ index: to, button: to < from ? 0 : 1 })
    const earlierFailures = failures.current
    change.mutate({
      list,
      // The whole list is replaced, so the request is rejected if another person has changed it.
      async send() {
        // The list is based on a change that was rejected, and whose error is shown.
        if (failures.current > earlierFailures) return
        const loaded = queryClient.getQueryData<Versioned<Schemas['Playlist']>>(queryKey)
        if (loaded && !hasSameVideos(loaded.record.videos, videos)) throw playlistChanged()
        const payload = { videos: list.map(({ video_id }) => video_id) }
        await api.call('updatePlaylist', { path: { playlist_id }, payload, ifMatch: loaded?.etag })
      },
    })
  }
  return (
    <>
      <PageHeader title={playlist.title || t('library.untitled')} note={t('playlists.videos', { count: videos.length })} />
      <Stack maw={760}>
        <DetailsForm playlist={playlist} />
        <CopyField label={t('video.shareLink')} value={`${location.origin}/player/${playlist_id}`} />
        {videos.length < MAX_VIDEOS ? (
          <AddVideo add={add} />
        ) : (
          <Text size="sm" c="dimmed">
            {t('playlists.full', { max: MAX_VIDEOS })}
          </Text>
        )}
        {videos.length === 0 ? (
          <EmptyState icon={<IconPlaylist size={28} />} title={t('playlists.empty')} />
        ) : (
          <>
            <Text size="sm" c="dimmed">
              {t('playlists.order')}
            </Text>
            <Stack component="ol" className="plain-list" gap="xs" ref={listRef}>
              {listRows(videos).map(({ key, video, title }, index) => (
                <Paper
                  key={key}
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
                      {title}
                    </Text>
                    <ActionIcon.Group>
                      <ActionIcon
                        variant="default"
                        disabled={index === 0}
                        aria-label={t('playlists.up', { title })}
                        onClick={() => move(index, index - 1)}
                      >
                        <IconArrowUp size={16} />
                      </ActionIcon>
                      <ActionIcon
                        variant="default"
                        disabled={index === videos.length - 1}
                        aria-label={t('playlists.down', { title })}
                        onClick={() => move(index, index + 1)}
                      >
                        <IconArrowDown size={16} />
                      </ActionIcon>
                      <ActionIcon variant="default" aria-label={t('playlists.remove', { title })} onClick={() => remove(index)}>
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

function hasSameVideos(a: readonly Schemas['Video'][], b: readonly Schemas['Video'][]): boolean {
  return a.length === b.length && a.every(({ video_id }, index) => video_id === b[index]?.video_id)
}

/** Error of a new order for a list that another person has changed since it was shown. */
function playlistChanged(): VitascopeError {
  return new VitascopeError('The playlist has changed since it was shown.', { code: 'record_changed' })
}

/** Returns the videos with their titles, and with keys that stay when the order changes. A video may be repeated. */
function listRows(videos: readonly Schemas['Video'][]) {
  return videos.map((video, index) => ({
    key: `${video.video_id} ${videos.slice(0, index).filter(({ video_id }) => video_id === video.video_id).length}`,
    video,
    title: video.video_title || i18next.t('library.untitled'),
  }))
}

/** Moves the focus to a button of a row after the next change of the list, so that the keyboard can continue there. */
function useRowFocus(list: unknown) {
  const listRef = useRef<HTMLDivElement>(null)
  const target = useRef<{ index: number; button: number }>(undefined)
  useEffect(() => {
    if (!target.current) return
    const { index, button } = target.current
    target.current = undefined
    const buttons = [...(listRef.current?.children[index]?.querySelectorAll('button') ?? [])]
    const isUsable = (candidate: HTMLButtonElement | undefined) => candidate?.disabled === false
    const found = isUsable(buttons[button]) ? buttons[button] : buttons.find(isUsable)
    found?.focus()
  }, [list])
  const focusAfter = (next: { index: number; button: number }) => {
    target.current = next
  }
  return { listRef, focusAfter }
}

type Texts = Partial<Record<'title' | 'description', string>>

function DetailsForm({ playlist }: { playlist: Schemas['Playlist'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const { playlist_id } = playlist
  /** Only what was typed. */
  const [typed, setTyped] = useState<Texts>({})
  const changes: Texts = Object.fromEntries(Object.entries(typed).filter(([name, text]) => text !== playlist[name as keyof Texts]))
  const isChanged = Object.keys(changes).length > 0
  useUnsavedChanges(isChanged)
  const save = useMutation({
    async mutationFn(payload: Texts) {
      const { record } = await queryClient.fetchQuery<Versioned<Schemas['Playlist']>>({ queryKey: ['playlist', playlist_id], staleTime: 0 })
      const theirs = (['title', 'description'] as const).find((name) => payload[name] !== undefined && record[name] !== playlist[name])
      // The page shows the other text now, so that a second attempt replaces it knowingly.
      if (theirs) throw new Error(t('playlists.conflict', { text: record[theirs] }))
      await api.call('updatePlaylist', { path: { playlist_id }, payload })
    },
    async onSuccess(_, saved) {
      await Promise.all([['playlist', playlist_id], ['playlists']].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
      // A text that was typed meanwhile stays.
      setTyped((before) => Object.fromEntries(Object.entries(before).filter(([name, text]) => text !== saved[name as keyof Texts])))
      notifySuccess(t('common.saved'))
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(changes)
  }
  const input = (name: keyof Texts) => ({
    value: typed[name] ?? playlist[name],
    error: fieldMessage(save.error, name),
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => setTyped((before) => ({ ...before, [name]: value })),
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput label={t('video.title')} required maxLength={MAX_TITLE} {...input('title')} />
        <Textarea
          label={t('video.description')}
          description={t('video.descriptionHelp')}
          autosize
          minRows={2}
          maxLength={MAX_DESCRIPTION}
          {...input('description')}
        />
        <SaveButtons isChanged={isChanged} isPending={save.isPending} discard={() => setTyped({})} />
      </Stack>
    </form>
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
      nothingFoundMessage={found.isSuccess && t('library.noMatch')}
      error={found.isError && toMessage(found.error)}
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

import { Divider, Group, SegmentedControl, Stack, Switch, Text, Title } from '@mantine/core'
import { IconMessages } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { usePlayerTime } from '../player/player-control.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { reviewTexts } from '../translation/english/review.ts'
import { ClipForm } from './clip-form.tsx'
import { ClipRow } from './clip-row.tsx'
import { type Clip, isCurrentAt, moveItem, readTimes } from './clip-times.ts'
import { Guests } from './guests.tsx'
import { type Entry, isOfGuest, isOwn, requireOwnEntry, useEntries, useRefresh } from './use-review.ts'

addEnglish(reviewTexts)

/** Comments on parts of a video by the users of its organisation. */
export function ReviewTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const entries = useEntries(video.video_id)
  return (
    <QueryState query={entries}>
      {(list) => (
        <Stack>
          <AddClip video={video} entries={list} />
          <Guests video={video} guests={list.filter(isOfGuest)} />
          <Divider />
          {list.every(({ clips }) => clips.length === 0) ? (
            <EmptyState icon={<IconMessages size={28} />} title={t('review.none')} text={t('review.noneText')} />
          ) : (
            <Clips video={video} entries={list} />
          )}
        </Stack>
      )}
    </QueryState>
  )
}

function AddClip({ video, entries }: { video: Schemas['Video']; entries: readonly Entry[] }) {
  const { t } = useTranslation()
  const session = useSession()
  const refresh = useRefresh(video.video_id)
  return (
    <ClipForm
      duration={Number(video.duration)}
      submitLabel={t('review.add')}
      save={async (payload) => {
        try {
          const collaborate_id = await requireOwnEntry(session, video, entries)
          await session.api.call('createClip', { path: { collaborate_id }, payload })
        } finally {
          // Another attempt finds the review that this one has created.
          await refresh()
        }
        notifySuccess(t('common.saved'))
      }}
    />
  )
}

function Clips({ video, entries }: { video: Schemas['Video']; entries: readonly Entry[] }) {
  const { t } = useTranslation()
  const session = useSession()
  const { api } = session
  const refresh = useRefresh(video.video_id)
  const time = usePlayerTime()
  const [order, setOrder] = useState<'time' | 'reviewer'>('time')
  const [isResolvedHidden, setResolvedHidden] = useState(false)
  const listRef = useRef<HTMLDivElement>(null)
  const resolve = useMutation({
    mutationFn: ({ clip, resolved }: { clip: Clip; resolved: boolean }) =>
      api.call('updateClip', { path: { clip_id: clip.id }, payload: { resolved } }),
    onSettled: refresh,
  })
  const reorder = useMutation({
    mutationFn: ({ entry, clips }: { entry: Entry; clips: readonly Clip[] }) =>
      api.call('reorderClips', { path: { collaborate_id: entry.id }, payload: clips.map(({ id }) => id) }),
    onSettled: refresh,
  })
  const isBusy = resolve.isPending || reorder.isPending
  const isShown = ({ resolved }: Clip) => !isResolvedHidden || resolved !== '1'
  const nameOf = (entry: Entry) =>
    isOwn(session, entry)
      ? t('review.you', { email: entry.email || session.user.email })
      : isOfGuest(entry)
        ? t('review.guest', { email: entry.email })
        : entry.email || t('review.withoutUser')
  const row = (clip: Clip) => ({
    ...{ video, clip, isBusy },
    isCurrent: isCurrentAt(clip, time),
    setResolved: (resolved: boolean) => resolve.mutate({ clip, resolved }),
    // The button with the focus is no longer there.
    onRemoved: () => listRef.current?.focus(),
  })
  const all = entries
    .flatMap((entry) => entry.clips.map((clip) => ({ clip, entry })))
    .toSorted((a, b) => readTimes(a.clip).start - readTimes(b.clip).start)
  const openCount = all.filter(({ clip }) => clip.resolved !== '1').length
  return (
    <Stack ref={listRef} tabIndex={-1} className="no-outline" gap="sm">
      <Group justify="space-between">
        <Text size="sm" role="status">
          {t('review.open', { count: openCount })}
        </Text>
        <Switch
          label={t('review.hideResolved')}
          checked={isResolvedHidden}
          onChange={(event) => setResolvedHidden(event.currentTarget.checked)}
        />
      </Group>
      <SegmentedControl
        aria-label={t('review.order')}
        data={[
          { value: 'time', label: t('review.byTime') },
          { value: 'reviewer', label: t('review.byReviewer') },
        ]}
        value={order}
        onChange={(value) => setOrder(value === 'reviewer' ? 'reviewer' : 'time')}
      />
      <ErrorAlert error={resolve.error ?? reorder.error} />
      {order === 'time' ? (
        <Stack component="ol" className="plain-list" gap="xs" aria-label={t('review.list')}>
          {all
            .filter(({ clip }) => isShown(clip))
            .map(({ clip, entry }) => (
              <ClipRow key={clip.id} {...row(clip)} reviewer={nameOf(entry)} />
            ))}
        </Stack>
      ) : (
        entries
          .filter(({ clips }) => clips.some(isShown))
          .map((entry) => {
            const { clips } = entry
            const move = (from: number, to: number) => {
              const moved = moveItem(clips, from, to)
              return moved && { [to < from ? 'up' : 'down']: () => reorder.mutate({ entry, clips: moved }) }
            }
            // Hidden clips are passed.
            const moveBetweenShown = (from: number) => ({
              ...move(from, clips.slice(0, from).findLastIndex(isShown)),
              ...move(
                from,
                clips.findIndex((clip, index) => index > from && isShown(clip)),
              ),
            })
            return (
              <section key={entry.id} aria-labelledby={`reviewer-${entry.id}`}>
                <Title order={2} size="h5" mb="xs" id={`reviewer-${entry.id}`} className="page-title">
                  {nameOf(entry)}
                </Title>
                <Stack component="ol" className="plain-list" gap="xs" aria-label={nameOf(entry)}>
                  {clips.map((clip, index) =>
                    isShown(clip) ? <ClipRow key={clip.id} {...row(clip)} move={moveBetweenShown(index)} /> : null,
                  )}
                </Stack>
              </section>
            )
          })
      )}
    </Stack>
  )
}

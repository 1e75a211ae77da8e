import { Alert, Box, Container, Divider, Grid, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconClockOff, IconMessages } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient, isMissing } from '../api/client.ts'
import icon from '../icon.svg'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatTime } from '../layout/format.ts'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { PlayerProvider, usePlayerTime } from '../player/player-control.tsx'
import { PlayerPage } from '../player/player-frame.tsx'
import { formatTimeCode } from '../player/time-code.ts'
import { addEnglish } from '../translation/add-english.ts'
import { reviewTexts } from '../translation/english/review.ts'
import { ClipForm } from './clip-form.tsx'
import { type Clip, isCurrentAt, readTimes } from './clip-times.ts'
import { ClipView } from './clip-view.tsx'

addEnglish(reviewTexts)

/** Interval at which comments of the same link on other devices are read. */
const REFRESH_INTERVAL_MS = 30_000

const readReview = (token: string) => guestClient.call('getGuestReview', { path: { token } })
type Review = Awaited<ReturnType<typeof readReview>>

/** Page on which a person without a user reviews one video. The fragment of the address is the token of the link. */
export function GuestReviewPage() {
  const { t } = useTranslation()
  const [token] = useState(() => location.hash.slice(1))
  const review = useQuery({
    queryKey: ['guest review', token],
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : REFRESH_INTERVAL_MS),
    queryFn: () => readReview(token),
  })
  const title = review.data?.video_title || t('review.title')
  useEffect(() => {
    document.title = `${title} · Vitascope`
  }, [title])
  return (
    <Container size="xl" py="md" component="main">
      <Group gap="xs" mb="md">
        <img src={icon} alt="" width={28} height={28} />
        <Text fw={700}>Vitascope</Text>
      </Group>
      {isMissing(review.error) ? (
        <>
          <Title order={1} size="h2" mb="md">
            {t('review.title')}
          </Title>
          <Alert color="gray" icon={<IconClockOff />} title={t('review.endedTitle')} role="alert">
            {t('review.endedText')}
          </Alert>
        </>
      ) : (
        <QueryState query={review}>{(data) => <ReviewView token={token} review={data} />}</QueryState>
      )}
    </Container>
  )
}

function ReviewView({ token, review }: { token: string; review: Review }) {
  const { t } = useTranslation()
  // Each response has a new token for the player, which must not load again.
  const [playerUrl] = useState(review.player_url)
  return (
    <PlayerProvider>
      <Title order={1} size="h2" className="page-title">
        {review.video_title || t('library.untitled')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t('review.guestLead', { email: review.email, date: formatTime(review.expires) })}
      </Text>
      <Grid gap={{ base: 'lg', lg: 'xl' }}>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Box className="player-column">
            <PlayerPage title={review.video_title} address={playerUrl} />
          </Box>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <GuestClips token={token} review={review} />
        </Grid.Col>
      </Grid>
    </PlayerProvider>
  )
}

function GuestClips({ token, review }: { token: string; review: Review }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['guest review', token] })
  const time = usePlayerTime()
  const listRef = useRef<HTMLDivElement>(null)
  const remove = async (clip: Clip) => {
    await guestClient.call('deleteGuestClip', { path: { token, clip_id: clip.id } })
    await refresh()
    // The button with the focus is no longer there.
    listRef.current?.focus()
  }
  const clips = review.clips.toSorted((a, b) => readTimes(a).start - readTimes(b).start)
  return (
    <Stack>
      <ClipForm
        duration={Number(review.duration)}
        submitLabel={t('review.add')}
        save={async (payload) => {
          await guestClient.call('createGuestClip', { path: { token }, payload })
          await refresh()
        }}
      />
      <Divider />
      <Stack ref={listRef} tabIndex={-1} className="no-outline" gap="xs">
        {clips.length === 0 ? (
          <EmptyState icon={<IconMessages size={28} />} title={t('review.none')} text={t('review.guestNoneText')} />
        ) : (
          <Stack component="ol" className="plain-list" gap="xs" aria-label={t('review.list')}>
            {clips.map((clip) => {
              const at = formatTimeCode(readTimes(clip).start)
              return (
                <Paper key={clip.id} withBorder p="sm" component="li" className="clip" aria-current={isCurrentAt(clip, time) || undefined}>
                  <ClipView clip={clip} />
                  <ConfirmButton
                    size="compact-sm"
                    mt="xs"
                    title={t('review.deleteTitle', { time: at })}
                    text={t('review.deleteText')}
                    confirm={t('common.delete')}
                    onConfirm={() => remove(clip)}
                  >
                    {t('common.delete')}
                  </ConfirmButton>
                </Paper>
              )
            })}
          </Stack>
        )}
      </Stack>
    </Stack>
  )
}

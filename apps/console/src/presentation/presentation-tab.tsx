import { Alert, Badge, Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core'
import { IconClockPin, IconPlus, IconPresentation } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { formatDuration } from '../layout/format.ts'
import { notifySuccess } from '../layout/notify.ts'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { SelectFile } from '../layout/select-file.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { usePlayerActions, usePlayerTime } from '../player/player-control.tsx'
import { formatSeconds, parseTimeCode } from '../player/time-code.ts'
import { isTime } from '../player/time-field.tsx'
import { usePlaybackToken, withToken } from '../player/use-playback-token.ts'
import { addEnglish } from '../translation/add-english.ts'
import { chapterTexts } from '../translation/english/chapters.ts'
import { presentationTexts } from '../translation/english/presentation.ts'
import { valueLabel } from '../translation/value-label.ts'
import { CreatePresentation } from './create-presentation.tsx'
import { SlideRow } from './slide-row.tsx'
import { SLIDE_FILES, uploadSlides } from './upload-slides.ts'
import { isProcessing, type Presentation, usePresentation } from './use-presentation.ts'

addEnglish(presentationTexts)
addEnglish(chapterTexts)

const MAX_TITLE = 255
const COLOURS = new Map([
  ['processing', 'blue'],
  ['ok, but awaiting timings', 'orange'],
  ['ok', 'teal'],
  ['failed', 'red'],
])

/** Slides that viewers see next to a video. Only system users may change them. */
export function PresentationTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { isSystem } = useSession()
  if (video.presentation_id) return <LoadedPresentation key={video.presentation_id} id={video.presentation_id} video={video} />
  if (isSystem) return <CreatePresentation video={video} />
  return <EmptyState icon={<IconPresentation size={28} />} title={t('presentation.none')} text={t('presentation.systemOnly')} />
}

function LoadedPresentation({ id, video }: { id: string; video: Schemas['Video'] }) {
  const presentation = usePresentation(id)
  return <QueryState query={presentation}>{(loaded) => <SlideForm presentation={loaded} video={video} />}</QueryState>
}

/** Slides with their times. Only what was changed is sent, so slides that arrive meanwhile keep their times. */
function SlideForm({ presentation, video }: { presentation: Presentation; video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api, isSystem } = useSession()
  const queryClient = useQueryClient()
  const { readTime } = usePlayerActions()
  const { token } = usePlaybackToken(video)
  const now = usePlayerTime()
  const { id, slides, status } = presentation
  const path = { id }
  const [title, setTitle] = useState<string>()
  const [times, setTimes] = useState<Readonly<Record<string, string>>>({})
  const numbers = Object.keys(slides)
  const timeOf = (number: string) => times[number] ?? formatTime(slides[number]?.seconds)
  const changed = Object.entries(times).filter(([number, time]) => time.trim() !== formatTime(slides[number]?.seconds))
  const duration = Number(video.duration)
  const endsBefore = (time: string) => duration > 0 && (parseTimeCode(time) ?? 0) >= duration
  const isValid = changed.every(([, time]) => time.trim() === '' || (isTime(time, 'second') && !endsBefore(time)))
  const isChanged = changed.length > 0 || (title !== undefined && title !== presentation.title)
  const save = useMutation({
    mutationFn: (sent: { title: string | undefined; times: Readonly<Record<string, string>> }) =>
      api.call('updatePresentation', {
        path,
        payload: {
          ...(sent.title !== undefined && { title: sent.title }),
          ...(changed.length > 0 && {
            slides: Object.fromEntries(changed.map(([number, time]) => [number, { seconds: parseTimeCode(time) ?? null }])),
          }),
        },
      }),
    onSuccess(stored, sent) {
      queryClient.setQueryData(['presentation', id], stored)
      // A time or title that was typed meanwhile stays.
      setTimes((before) => Object.fromEntries(Object.entries(before).filter(([number, time]) => time !== sent.times[number])))
      setTitle((before) => (before === sent.title ? undefined : before))
      notifySuccess(t('common.saved'))
    },
  })
  const upload = useMutation({
    mutationFn: (file: File) => uploadSlides(api, id, file),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['presentation', id] }),
  })
  useUnsavedChanges(isChanged || upload.isPending)
  const discard = () => {
    setTimes({})
    setTitle(undefined)
  }
  const remove = async () => {
    await api.call('deletePresentation', { path })
    queryClient.removeQueries({ queryKey: ['presentation', id] })
    await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isValid) save.mutate({ title, times })
  }
  const nextNumber = numbers.find((number) => timeOf(number) === '')
  const startNext = async () => {
    const seconds = await readTime()
    if (seconds !== undefined && nextNumber) setTimes((before) => ({ ...before, [nextNumber]: formatSeconds(Math.floor(seconds)) }))
  }
  const current = numbers
    .map((number) => ({ number, seconds: parseTimeCode(timeOf(number)) ?? Number.POSITIVE_INFINITY }))
    .filter(({ seconds }) => seconds <= now)
    .toSorted((a, b) => a.seconds - b.seconds)
    .at(-1)?.number
  return (
    <form onSubmit={submit}>
      <Stack>
        <Group justify="space-between">
          <Badge color={COLOURS.get(status.message) ?? 'gray'}>{valueLabel('presentation.states', status.message)}</Badge>
          <Text size="sm" c="dimmed">
            {t('presentation.slides', { count: numbers.length })}
          </Text>
        </Group>
        {isProcessing(presentation) && <Progress value={status.progress} animated aria-label={t('presentation.states.processing')} />}
        {status.reason !== '' && (
          <Alert color="red" role="alert" title={t('presentation.fileFailed')} className="page-title">
            {status.reason}
          </Alert>
        )}
        <ErrorAlert error={save.error ?? upload.error} />
        {isSystem ? (
          <TextInput
            label={t('video.title')}
            required
            maxLength={MAX_TITLE}
            value={title ?? presentation.title}
            error={fieldMessage(save.error, 'title')}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
        ) : (
          <>
            <Text fw={600} className="page-title">
              {presentation.title}
            </Text>
            <Text size="sm" c="dimmed">
              {t('presentation.systemOnly')}
            </Text>
          </>
        )}
        {isSystem && nextNumber && (
          <Group>
            <Button variant="light" leftSection={<IconClockPin size={16} aria-hidden="true" />} onClick={() => void startNext()}>
              {t('presentation.startNow', { number: nextNumber })}
            </Button>
          </Group>
        )}
        <Stack component="ol" className="plain-list" gap="xs" aria-label={t('video.presentation')}>
          {numbers.map((number) => (
            <SlideRow
              key={number}
              number={number}
              thumbnail={withToken(slides[number]?.thumbnail ?? '', token)}
              time={timeOf(number)}
              duration={duration}
              isCurrent={number === current}
              error={
                endsBefore(timeOf(number))
                  ? t('chapters.afterEnd', { duration: formatDuration(Math.ceil(duration)) })
                  : fieldMessage(save.error, `slides.${number}.seconds`)
              }
              {...(isSystem && { change: (time: string) => setTimes((before) => ({ ...before, [number]: time })) })}
            />
          ))}
        </Stack>
        {isSystem && (
          <Group justify="space-between">
            <Group gap="xs">
              <SaveButtons isChanged={isChanged} isPending={save.isPending} isInvalid={!isValid} discard={discard} />
              <SelectFile accept={SLIDE_FILES} onSelect={(file) => upload.mutate(file)}>
                {(props) => (
                  <Button
                    {...props}
                    variant="default"
                    disabled={isProcessing(presentation)}
                    loading={upload.isPending}
                    leftSection={<IconPlus size={16} aria-hidden="true" />}
                  >
                    {t('presentation.addSlides')}
                  </Button>
                )}
              </SelectFile>
            </Group>
            <ConfirmButton
              title={t('presentation.deleteTitle')}
              text={t('presentation.deleteText')}
              confirm={t('common.delete')}
              onConfirm={remove}
            >
              {t('common.delete')}
            </ConfirmButton>
          </Group>
        )}
      </Stack>
    </form>
  )
}

function formatTime(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? '' : formatSeconds(seconds)
}

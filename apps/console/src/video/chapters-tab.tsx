import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconListNumbers, IconPlus, IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConflictAlert } from '../layout/conflict-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { formatDuration } from '../layout/format.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { EmptyState } from '../layout/query-state.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { formatTimeCode, parseTimeCode } from '../player/time-code.ts'
import { addEnglish } from '../translation/add-english.ts'
import { chapterTexts } from '../translation/english/chapters.ts'
import type { LoadedVideo } from './use-video.ts'

addEnglish(chapterTexts)

type Chapters = Schemas['Video']['chapters']

interface Row {
  rowId: number
  start: string
  title: string
}

/**
 * Chapters of a video. They are stored in the order of their starts. If another person has changed them, the user
 * decides which version to keep.
 */
export function ChaptersTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  /** The stored chapters on which the rows are based. */
  const [base, setBase] = useState(video.chapters)
  const [rows, setRows] = useState<readonly Row[]>(() => toRows(video.chapters))
  const [nextId, setNextId] = useState(video.chapters.length)
  /** The stored chapters, if another person has changed them. */
  const [theirs, setTheirs] = useState<Chapters>()
  const isChanged = toText(rows) !== toText(toRows(base))
  useUnsavedChanges(isChanged)
  const show = (chapters: Chapters) => {
    setBase(chapters)
    setRows(toRows(chapters))
    setNextId(chapters.length)
    setTheirs(undefined)
  }
  useEffect(() => {
    if (isChanged || JSON.stringify(video.chapters) === JSON.stringify(base)) return
    show(video.chapters)
  }, [video.chapters, base, isChanged])
  const readVideo = () => queryClient.fetchQuery<LoadedVideo>({ queryKey: ['video', video.video_id], staleTime: 0 })
  const save = useMutation({
    mutationFn: async ({ sent, overwrite }: { sent: readonly Row[]; overwrite: boolean }) => {
      const stored = await readVideo()
      if (!overwrite && JSON.stringify(stored.video.chapters) !== JSON.stringify(base)) return setTheirs(stored.video.chapters)
      await api.call('updateVideo', {
        path: { video_id: video.video_id },
        payload: { chapters: sent.map(({ start, title }) => ({ start: parseTimeCode(start) ?? 0, title })) },
        ifMatch: stored.etag,
      })
      const { chapters } = (await readVideo()).video
      setBase(chapters)
      setTheirs(undefined)
      // Text that was typed during the request is kept.
      setRows((typed) => (typed === sent ? toRows(chapters) : typed))
      notifySuccess(t('common.saved'))
    },
    onError: notifyError,
  })
  const duration = Number(video.duration)
  const findFault = ({ start }: Row) => {
    const seconds = parseTimeCode(start)
    if (seconds === undefined) return t('chapters.startHelp')
    return duration > 0 && seconds >= duration ? t('chapters.afterEnd', { duration: formatDuration(Math.ceil(duration)) }) : undefined
  }
  const isInvalid = rows.some(findFault)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isInvalid) save.mutate({ sent: rows, overwrite: false })
  }
  const change = (rowId: number, changes: Partial<Row>) =>
    setRows((before) => before.map((row) => (row.rowId === rowId ? { ...row, ...changes } : row)))
  const add = () => {
    setRows((before) => [...before, { rowId: nextId, start: before.length === 0 ? '0:00' : '', title: '' }])
    setNextId(nextId + 1)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {theirs && (
          <ConflictAlert
            title={t('video.conflict')}
            text={t('video.conflictText', { fields: t('video.chapters') })}
            theirs={theirs.map(({ start, title }) => ({ label: formatStart(Number(start)), value: title }))}
            isPending={save.isPending}
            keepMine={() => save.mutate({ sent: rows, overwrite: true })}
            loadTheirs={() => show(theirs)}
          />
        )}
        {rows.length === 0 && <EmptyState icon={<IconListNumbers size={28} />} title={t('chapters.none')} text={t('chapters.noneText')} />}
        {rows.map((row, index) => (
          <Group key={row.rowId} wrap="nowrap" align="flex-start" gap="xs">
            <TextInput
              w={110}
              aria-label={t('chapters.start', { number: index + 1 })}
              placeholder="1:30"
              required
              value={row.start}
              error={row.start === '' ? undefined : findFault(row)}
              onChange={(event) => change(row.rowId, { start: event.currentTarget.value })}
            />
            <TextInput
              flex={1}
              aria-label={t('chapters.name', { number: index + 1 })}
              placeholder={t('video.title')}
              required
              maxLength={100}
              value={row.title}
              onChange={(event) => change(row.rowId, { title: event.currentTarget.value })}
            />
            <ActionIcon
              variant="default"
              size="lg"
              aria-label={t('chapters.remove', { number: index + 1 })}
              onClick={() => setRows((before) => before.filter(({ rowId }) => rowId !== row.rowId))}
            >
              <IconX size={16} />
            </ActionIcon>
          </Group>
        ))}
        {rows.length > 0 && (
          <Text size="xs" c="dimmed">
            {t('chapters.help')}
          </Text>
        )}
        <Group>
          <Button variant="default" leftSection={<IconPlus size={16} aria-hidden="true" />} onClick={add}>
            {t('chapters.add')}
          </Button>
          {(rows.length > 0 || isChanged) && <SaveButtons isChanged={isChanged} isPending={save.isPending} discard={() => show(base)} />}
        </Group>
      </Stack>
    </form>
  )
}

function toRows(chapters: Chapters): readonly Row[] {
  return chapters.map(({ start, title }, rowId) => ({ rowId, start: formatStart(Number(start)), title }))
}

function formatStart(seconds: number): string {
  return Number.isInteger(seconds) ? formatDuration(seconds) : formatTimeCode(seconds)
}

function toText(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(({ start, title }) => [start, title]))
}

import { Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { formatTimeCode, parseTimeCode } from '../player/time-code.ts'
import { isTime, TimeField } from '../player/time-field.tsx'
import { toTimeFields } from './clip-times.ts'

export type ClipFields = ReturnType<typeof toTimeFields> & { comments: string }

const MAX_COMMENT = 2_000

interface Props {
  /** Duration of the video in seconds. 0 if it is unknown. */
  duration: number
  /** Values at the start. A clip without an end has the end of its start. */
  initial?: { comments: string; start: number; end: number }
  submitLabel: string
  save: (fields: ClipFields) => Promise<unknown>
  /** Without it, the form is empty after it was saved. */
  close?: () => void
}

/** Form for a comment on a part of a video. */
export function ClipForm({ duration, initial, submitLabel, save, close }: Props) {
  const { t } = useTranslation()
  const [comments, setComments] = useState(initial?.comments ?? '')
  const initialStart = initial ? formatTimeCode(initial.start) : ''
  const initialEnd = initial && initial.end > initial.start ? formatTimeCode(initial.end) : ''
  const [start, setStart] = useState(initialStart)
  const [end, setEnd] = useState(initialEnd)
  useUnsavedChanges(comments !== (initial?.comments ?? '') || start !== initialStart || end !== initialEnd)
  const textRef = useRef<HTMLTextAreaElement>(null)
  const saving = useMutation({
    mutationFn: save,
    onSuccess() {
      if (close) return close()
      setComments('')
      setStart('')
      setEnd('')
      textRef.current?.focus()
    },
  })
  const findFault = (text: string, first = 0) => {
    const seconds = parseTimeCode(text)
    if (seconds === undefined) return undefined
    if (seconds < first) return t('review.beforeStart')
    return duration > 0 && seconds > duration ? t('review.afterEnd', { duration: formatTimeCode(duration) }) : undefined
  }
  const faults = { start: findFault(start), end: findFault(end, parseTimeCode(start)) }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const from = parseTimeCode(start)
    const to = end === '' ? from : parseTimeCode(end)
    if (from === undefined || to === undefined || !isTime(start, 'millisecond') || faults.start || faults.end) return
    saving.mutate({ comments, ...toTimeFields(from, to) })
  }
  const error = (...names: string[]) => names.map((name) => fieldMessage(saving.error, name)).find(Boolean)
  const field = { unit: 'millisecond', duration } as const
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={saving.error} />
        <Textarea
          ref={textRef}
          label={t('review.comment')}
          required
          autosize
          minRows={2}
          maxLength={MAX_COMMENT}
          value={comments}
          error={error('comments')}
          onChange={(event) => setComments(event.currentTarget.value)}
        />
        <Group align="flex-start" gap="sm" className="time-fields">
          <TimeField
            {...field}
            label={t('review.start')}
            isRequired
            value={start}
            onChange={setStart}
            error={faults.start ?? error('time_start', 'time_start_millis')}
          />
          <TimeField
            {...field}
            label={t('review.end')}
            value={end}
            onChange={setEnd}
            error={faults.end ?? error('time_finish', 'time_finish_millis')}
          />
        </Group>
        <FormButtons submitLabel={submitLabel} isPending={saving.isPending} close={close} />
      </Stack>
    </form>
  )
}

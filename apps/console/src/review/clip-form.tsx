import { Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
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
  const [start, setStart] = useState(initial ? formatTimeCode(initial.start) : '')
  const [end, setEnd] = useState(initial && initial.end > initial.start ? formatTimeCode(initial.end) : '')
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const from = parseTimeCode(start)
    const to = end === '' ? from : parseTimeCode(end)
    if (from === undefined || to === undefined || !isTime(start, 'millisecond')) return
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
            error={error('time_start', 'time_start_millis')}
          />
          <TimeField {...field} label={t('review.end')} value={end} onChange={setEnd} error={error('time_finish', 'time_finish_millis')} />
        </Group>
        <FormButtons submitLabel={submitLabel} isPending={saving.isPending} close={close} />
      </Stack>
    </form>
  )
}

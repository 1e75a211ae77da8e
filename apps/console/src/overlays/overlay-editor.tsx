import { Card, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Payload, Schemas } from '@vitascope/sdk'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { notifySuccess } from '../layout/notify.ts'
import { useMergedForm } from '../layout/use-merged-form.tsx'
import { TimeField } from '../player/time-field.tsx'
import { type OverlayForm, toOverlayPayload } from './overlay-fields.ts'

const LABELS = {
  ...({ title: 'video.title', description: 'video.description', image_path: 'overlays.image' } as const),
  ...({ link_text: 'overlays.linkText', link_url: 'overlays.linkUrl' } as const),
  ...({ start: 'overlays.from', end: 'overlays.to', atEnd: 'overlays.showAtEnd' } as const),
} satisfies Record<keyof OverlayForm, string>

interface Props {
  video: Schemas['Video']
  initial: OverlayForm
  save: (payload: Payload<'updateOverlay'>) => Promise<unknown>
  /** Reads the stored overlay. Undefined for a new one. */
  readStored?: () => Promise<OverlayForm>
  close: () => void
}

/** Form for an overlay. If another person has changed the same fields, the user decides which version to keep. */
export function OverlayEditor({ video, initial, save, readStored, close }: Props) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const { form, setForm, merge, renderConflict } = useMergedForm(initial)
  const payload = toOverlayPayload(form)
  const saving = useMutation({
    async mutationFn({ overwrites }: { overwrites: boolean }) {
      const stored = readStored ? await readStored() : initial
      const merged = merge({ stored, overwrites, isValid: (values) => toOverlayPayload(values) !== undefined })
      const mergedPayload = merged && toOverlayPayload(merged)
      if (mergedPayload) await save(mergedPayload)
      return mergedPayload !== undefined
    },
    async onSuccess(isSaved) {
      if (!isSaved) return
      notifySuccess(t('common.saved'))
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
      close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (payload) saving.mutate({ overwrites: false })
  }
  const describeValue = (value: string | boolean) => (typeof value === 'string' ? value : t(value ? 'overlays.yes' : 'overlays.no'))
  const bind = bindTexts(form, setForm, saving.error)
  const time = (name: 'start' | 'end') => ({
    ...({ unit: 'second', duration: Number(video.duration), value: form[name] } as const),
    onChange: (value: string) => setForm((before) => ({ ...before, [name]: value })),
  })
  return (
    <Card withBorder component="form" onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={saving.error} />
        {renderConflict({
          title: t('overlays.conflict'),
          describe: (name, theirs) => ({ label: t(LABELS[name]), value: describeValue(theirs[name]) }),
          isPending: saving.isPending,
          keepMine: () => saving.mutate({ overwrites: true }),
        })}
        <TextInput label={t('video.title')} required maxLength={255} data-autofocus {...bind('title')} />
        <TextInput label={t('video.description')} maxLength={1_000} {...bind('description')} />
        <Group grow align="flex-start">
          <TextInput label={t('overlays.linkText')} maxLength={255} {...bind('link_text')} />
          <TextInput label={t('overlays.linkUrl')} placeholder="https://" {...bind('link_url')} />
        </Group>
        <TextInput label={t('overlays.image')} placeholder="https://" {...bind('image_path')} />
        <Group grow align="flex-start">
          <TimeField label={t('overlays.from')} {...time('start')} error={fieldMessage(saving.error, 'show.during')} />
          <TimeField label={t('overlays.to')} {...time('end')} />
        </Group>
        {!payload && (
          <Text size="sm" c="red" role="alert">
            {t('overlays.timesHelp')}
          </Text>
        )}
        <Checkbox
          label={t('overlays.showAtEnd')}
          checked={form.atEnd}
          onChange={(event) => {
            const { checked } = event.currentTarget
            setForm((before) => ({ ...before, atEnd: checked }))
          }}
        />
        <FormButtons submitLabel={t('overlays.save')} isPending={saving.isPending} isDisabled={!payload} close={close} />
      </Stack>
    </Card>
  )
}

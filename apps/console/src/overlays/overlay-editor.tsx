import { Card, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Payload, Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { notifySuccess } from '../layout/notify.ts'
import { TimeField } from '../player/time-field.tsx'
import { type OverlayForm, toOverlayPayload } from './overlay-fields.ts'

interface Props {
  video: Schemas['Video']
  initial: OverlayForm
  save: (payload: Payload<'updateOverlay'>) => Promise<unknown>
  close: () => void
}

/** Form for an overlay. */
export function OverlayEditor({ video, initial, save, close }: Props) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [form, setForm] = useState(initial)
  const payload = toOverlayPayload(form)
  const saving = useMutation({
    mutationFn: save,
    async onSuccess() {
      notifySuccess(t('common.saved'))
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
      close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (payload) saving.mutate(payload)
  }
  const bind = bindTexts(form, setForm, saving.error)
  const time = (name: 'start' | 'end') => ({
    ...({ unit: 'second', duration: Number(video.duration), value: form[name] } as const),
    onChange: (value: string) => setForm((before) => ({ ...before, [name]: value })),
  })
  return (
    <Card withBorder component="form" onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={saving.error} />
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

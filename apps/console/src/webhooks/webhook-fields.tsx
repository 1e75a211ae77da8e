import { MultiSelect, TextInput } from '@mantine/core'
import type { Schemas } from '@vitascope/sdk'
import type { Dispatch, SetStateAction } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { bindTexts } from '../layout/form-values.ts'
import { EVENTS, type EventType } from './event-types.ts'

const MAX_URL_LENGTH = 2_000

export interface WebhookForm {
  url: string
  /** In the order of `EVENTS`. */
  events: EventType[]
}

export function toWebhookForm({ url, events }: Pick<Schemas['Webhook'], 'url' | 'events'>): WebhookForm {
  return { url, events: EVENTS.filter((event) => events.includes(event)) }
}

interface Props {
  form: WebhookForm
  setForm: Dispatch<SetStateAction<WebhookForm>>
  /** The error with which the form was rejected. */
  error: unknown
  urlHelp?: string
}

/** Inputs for the address and the events of a webhook. */
export function WebhookFields({ form, setForm, error, urlHelp }: Props) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t('webhooks.url')}
        description={urlHelp}
        placeholder="https://www.example.org/hooks"
        type="url"
        required
        data-autofocus
        maxLength={MAX_URL_LENGTH}
        {...bindTexts(form, setForm, error)('url')}
      />
      <MultiSelect
        label={t('webhooks.events')}
        data={[...EVENTS]}
        value={form.events}
        onChange={(events) => setForm(({ url }) => toWebhookForm({ url, events }))}
        error={fieldMessage(error, 'events')}
        searchable
      />
    </>
  )
}

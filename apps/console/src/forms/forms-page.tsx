import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconForms, IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { lazyPart } from '../layout/lazy-part.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { formTexts } from '../translation/english/forms.ts'
import { Submissions } from './submissions.tsx'

addEnglish(formTexts)

/** The dialog is loaded when it is opened. */
const AddForm = lazyPart(() => import('./add-form.tsx').then(({ AddForm }) => AddForm))

/** Contact forms of the organisation with what viewers have submitted. */
export function FormsPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [isAdding, { open, close }] = useDisclosure(false)
  const forms = useQuery({
    queryKey: ['forms', organisationId],
    queryFn: ({ signal }) => api.list('listContactForms', { signal }).toArray(MAX_RECORDS),
  })
  return (
    <>
      <PageHeader title={t('forms.title')} note={t('forms.note')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('forms.add')}
        </Button>
      </PageHeader>
      {isAdding && <AddForm close={close} />}
      <QueryState query={forms}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconForms size={28} />} title={t('forms.none')} text={t('forms.noneText')} />
          ) : (
            <Stack component="ul" className="plain-list">
              {list.map((form) => (
                <FormRow key={form.id} form={form} />
              ))}
            </Stack>
          )
        }
      </QueryState>
    </>
  )
}

function FormRow({ form }: { form: Schemas['ContactForm'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [isOpen, { toggle }] = useDisclosure(false)
  const [isCopying, { open: startCopy, close: endCopy }] = useDisclosure(false)
  const remove = async () => {
    await api.call('deleteContactForm', { path: { contact_form_id: form.id } })
    await queryClient.invalidateQueries({ queryKey: ['forms'] })
  }
  return (
    <Paper withBorder p="md" component="li">
      <Text fw={600} className="page-title">
        {form.reference || form.primary_text || form.id}
      </Text>
      <Text size="sm" c="dimmed" className="page-title">
        {form.primary_text}
      </Text>
      <Group gap="xs" mt="sm">
        <Button size="xs" variant="default" onClick={toggle} aria-expanded={isOpen}>
          {t('forms.submissions')}
        </Button>
        <Button size="xs" variant="default" onClick={startCopy}>
          {t('forms.copy')}
        </Button>
        <ConfirmButton
          size="xs"
          title={t('forms.deleteTitle')}
          text={t('forms.deleteText')}
          confirm={t('common.delete')}
          onConfirm={remove}
        >
          {t('common.delete')}
        </ConfirmButton>
      </Group>
      {isOpen && <Submissions formId={form.id} />}
      {isCopying && <AddForm original={form} close={endCopy} />}
    </Paper>
  )
}

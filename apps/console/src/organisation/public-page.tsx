import { Anchor, Paper, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'

/** The page with the public videos of the organisation. System users switch it on and off. */
export function PublicPage({ record }: { record: Schemas['OrganisationUsage'] }) {
  const { t } = useTranslation()
  const { isSystem } = useSession()
  const queryClient = useQueryClient()
  const { organisation_id: id, public_page: isShown } = record
  const save = useMutation({
    mutationFn: (public_page: boolean) => systemClient.call('updateOrganisation', { path: { id }, payload: { public_page } }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
      notifySuccess(t('common.saved'))
    },
    onError: notifyError,
  })
  const address = `${location.origin}/o/${id}`
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="public-page-heading">
      <Title order={2} size="h4" id="public-page-heading">
        {t('organisation.publicPage')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t('organisation.publicPageText')}
      </Text>
      {isSystem && (
        <Switch
          label={t('organisation.publicPageShow')}
          checked={save.isPending ? save.variables : isShown}
          disabled={save.isPending}
          onChange={(event) => save.mutate(event.currentTarget.checked)}
          mb={isShown ? 'sm' : 0}
        />
      )}
      {isShown ? (
        <Anchor size="sm" underline="always" href={address} style={{ overflowWrap: 'anywhere' }}>
          {address}
        </Anchor>
      ) : (
        !isSystem && <Text size="sm">{t('organisation.publicPageOff')}</Text>
      )}
    </Paper>
  )
}

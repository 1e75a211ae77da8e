import { Grid, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { PasswordField } from '../layout/password-field.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { PlayerPreview } from './player-preview.tsx'
import { canHash, NEW_PROFILE, type ProfileForm, SWITCHES, toPreview, toProfileForm, toProfilePayload } from './profile-form.ts'
import { type RecordFieldsProps, RecordForm, useRecordForm } from './record-form.tsx'
import { useRecord } from './use-record.ts'

const MAX_TITLE = 50
const [MIN_KBITS, MAX_KBITS] = [100, 6_000]
const MAX_SESSIONS = 100_000

/** Form for a new profile, or for the profile with an id. */
export function ProfileEditor({ id, close }: { id: string | undefined; close: () => void }) {
  const { api } = useSession()
  const { query, readEtag } = useRecord({
    ...({ kind: 'profile', id, empty: NEW_PROFILE } as const),
    read: async (settingId, options) =>
      toProfileForm(await api.call('getSetting', { path: { id_or_organisation_id_or_setting_id: settingId }, ...options })),
  })
  return (
    <QueryState query={query}>
      {(loaded) => <ProfileFields key={loaded.etag} id={id} loaded={loaded} reload={() => query.refetch()} {...{ readEtag, close }} />}
    </QueryState>
  )
}

function ProfileFields({ id, loaded, reload, readEtag, close }: RecordFieldsProps<ProfileForm>) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const { form, setForm, saving, isChanged } = useRecordForm({
    initial: loaded.record,
    etag: loaded.etag,
    async send(changes, ifMatch) {
      const payload = await toProfilePayload(changes)
      if (id === undefined) await api.call('createSetting', { path: { id_or_organisation_id_or_setting_id: organisationId }, payload })
      else await api.call('updateSetting', { path: { id_or_organisation_id_or_setting_id: id }, payload, ifMatch })
    },
    readEtag,
    onSaved() {
      void queryClient.invalidateQueries({ queryKey: ['profiles'] })
      close()
    },
  })
  const text = bindTexts(form, setForm, saving.error)
  const toggle = (name: (typeof SWITCHES)[number] | 'password_protected') => ({
    label: t(`profiles.${name}`),
    checked: form[name],
    onChange: ({ currentTarget: { checked } }: { currentTarget: { checked: boolean } }) =>
      setForm((before) => ({ ...before, [name]: checked, ...(name === 'password_protected' && !checked && { password: '' }) })),
  })
  const isProtected = loaded.record.password_protected
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <RecordForm
          {...{ saving, isChanged, close }}
          submitLabel={id === undefined ? t('profiles.addProfile') : t('common.save')}
          loadTheirs={() => void reload()}
        >
          <TextInput label={t('common.name')} required maxLength={MAX_TITLE} {...text('title')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {SWITCHES.map((name) => (
              <Switch key={name} {...toggle(name)} />
            ))}
          </SimpleGrid>
          {form.use_javascript_api && (
            <Textarea
              label={t('profiles.domains')}
              description={t('profiles.domainsHelp')}
              placeholder="www.example.org"
              autosize
              minRows={1}
              {...text('javascript_api_allowed_domains')}
            />
          )}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <TextInput
              label={t('profiles.lowestQuality')}
              type="number"
              min={MIN_KBITS}
              max={MAX_KBITS}
              required
              {...text('lowest_quality_version')}
            />
            <TextInput
              label={t('profiles.highestQuality')}
              type="number"
              min={MIN_KBITS}
              max={MAX_KBITS}
              required
              {...text('highest_quality_version')}
            />
          </SimpleGrid>
          <TextInput
            label={t('profiles.maxSessions')}
            description={t('profiles.maxSessionsHelp')}
            type="number"
            min={1}
            max={MAX_SESSIONS}
            {...text('max_sessions')}
          />
          <Switch {...toggle('password_protected')} />
          {form.password_protected && (
            <PasswordField
              label={t('profiles.password')}
              description={canHash ? isProtected && t('profiles.passwordKept') : t('profiles.passwordNeedsHttps')}
              autoComplete="new-password"
              required={!isProtected}
              disabled={!canHash}
              visibilityToggleButtonProps={{ 'aria-label': t('profiles.showPassword') }}
              {...text('password')}
            />
          )}
        </RecordForm>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <PlayerPreview look={{ player_settings: toPreview(form) }} />
      </Grid.Col>
    </Grid>
  )
}

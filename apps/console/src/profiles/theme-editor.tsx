import { Grid, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { QueryState } from '../layout/query-state.tsx'
import { ColourField } from './colour-field.tsx'
import { PlayerPreview } from './player-preview.tsx'
import { type RecordFieldsProps, RecordForm, useRecordForm } from './record-form.tsx'
import type { Theme } from './use-profiles.ts'
import { useRecord } from './use-record.ts'

const MAX_TITLE = 50
const SKINS = ['akita', 'poodle', 'pug'] as const
const COLOURS = [
  ...(['background_colour', 'text_colour', 'icon_colour', 'control_bar_colour'] as const),
  ...(['overlay_text_colour', 'overlay_background_colour', 'overlay_link_colour'] as const),
] as const

type ThemeForm = Record<(typeof COLOURS)[number] | 'title' | 'skin', string>

const EMPTY: ThemeForm = {
  ...{ title: '', skin: '', background_colour: '', text_colour: '', icon_colour: '', control_bar_colour: '' },
  ...{ overlay_text_colour: '', overlay_background_colour: '', overlay_link_colour: '' },
}

/** Form for a new theme, or for the theme with an id. */
export function ThemeEditor({ id, close }: { id: string | undefined; close: () => void }) {
  const { api } = useSession()
  const { query, readEtag } = useRecord({
    ...({ kind: 'theme', id, empty: EMPTY } as const),
    read: async (themeId, options) =>
      toForm(await api.call('getTheme', { path: { id_or_organisation_id_or_theme_id: themeId }, ...options })),
  })
  return (
    <QueryState query={query}>
      {(loaded) => <ThemeFields key={loaded.etag} id={id} loaded={loaded} reload={() => query.refetch()} {...{ readEtag, close }} />}
    </QueryState>
  )
}

function ThemeFields({ id, loaded, reload, readEtag, close }: RecordFieldsProps<ThemeForm>) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const { form, setForm, saving, isChanged } = useRecordForm({
    initial: loaded.record,
    etag: loaded.etag,
    send: (payload, ifMatch) =>
      id === undefined
        ? api.call('createTheme', { path: { id_or_organisation_id_or_theme_id: organisationId }, payload })
        : api.call('updateTheme', { path: { id_or_organisation_id_or_theme_id: id }, payload, ifMatch }),
    readEtag,
    onSaved() {
      void queryClient.invalidateQueries({ queryKey: ['themes'] })
      close()
    },
  })
  const skins = SKINS.some((name) => name === form.skin) || form.skin === '' ? SKINS : [...SKINS, form.skin]
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <RecordForm
          {...{ saving, isChanged, close }}
          submitLabel={id === undefined ? t('profiles.addTheme') : t('common.save')}
          loadTheirs={() => void reload()}
        >
          <TextInput label={t('common.name')} required maxLength={MAX_TITLE} {...bindTexts(form, setForm, saving.error)('title')} />
          <Select
            label={t('profiles.skin')}
            data={[{ value: '', label: t('profiles.skinOfPlayer') }, ...skins.map((value) => ({ value, label: value }))]}
            value={form.skin}
            allowDeselect={false}
            error={fieldMessage(saving.error, 'skin')}
            onChange={(skin) => setForm((before) => ({ ...before, skin: skin ?? '' }))}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {COLOURS.map((name) => (
              <ColourField
                key={name}
                label={t(`profiles.${name}`)}
                value={form[name]}
                error={fieldMessage(saving.error, name)}
                onChange={(value) => setForm((before) => ({ ...before, [name]: value }))}
              />
            ))}
          </SimpleGrid>
        </RecordForm>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <PlayerPreview look={{ theme: form }} />
      </Grid.Col>
    </Grid>
  )
}

function toForm(theme: Theme): ThemeForm {
  const colours = Object.fromEntries(COLOURS.map((name) => [name, theme[name]])) as Record<(typeof COLOURS)[number], string>
  return { title: theme.title, skin: theme.skin ?? '', ...colours }
}

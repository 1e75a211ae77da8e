import { Button, Group, Table, Tabs, Text } from '@mantine/core'
import { IconAdjustments, IconArrowLeft, IconPalette, IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, LoadingState, QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { profileTexts } from '../translation/english/profiles.ts'
import { type Profile, type Theme, useProfiles, useThemes } from './use-profiles.ts'

addEnglish(profileTexts)

type Kind = 'profiles' | 'themes'
/** The record that is edited. A new one has no id. */
interface Edited {
  kind: Kind
  id?: string
}

/** The forms are loaded when they are opened. */
const EDITORS = {
  profiles: lazyPart(() => import('./profile-editor.tsx').then(({ ProfileEditor }) => ProfileEditor), { Loading: LoadingState }),
  themes: lazyPart(() => import('./theme-editor.tsx').then(({ ThemeEditor }) => ThemeEditor), { Loading: LoadingState }),
}
const TITLES = {
  profiles: { add: 'profiles.addProfile', edit: 'profiles.editProfile' },
  themes: { add: 'profiles.addTheme', edit: 'profiles.editTheme' },
} as const

/** Player settings profiles and themes of the organisation. */
export function ProfilesPage() {
  const { organisationId } = useSession()
  // A record of another organisation is not edited any more.
  return <ProfilesAndThemes key={organisationId} />
}

function ProfilesAndThemes() {
  const { t } = useTranslation()
  const [kind, setKind] = useState<Kind>('profiles')
  const [edited, setEdited] = useState<Edited>()
  if (edited) {
    const Editor = EDITORS[edited.kind]
    const close = () => setEdited(undefined)
    return (
      <>
        <Button variant="subtle" size="compact-sm" mb="xs" leftSection={<IconArrowLeft size={16} aria-hidden="true" />} onClick={close}>
          {t('profiles.title')}
        </Button>
        <PageHeader title={t(TITLES[edited.kind][edited.id === undefined ? 'add' : 'edit'])} />
        <Editor id={edited.id} close={close} />
      </>
    )
  }
  return (
    <>
      <PageHeader title={t('profiles.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={() => setEdited({ kind })}>
          {t(TITLES[kind].add)}
        </Button>
      </PageHeader>
      <Tabs value={kind} onChange={(value) => setKind(value === 'themes' ? 'themes' : 'profiles')}>
        <Tabs.List mb="md">
          <Tabs.Tab value="profiles">{t('profiles.profiles')}</Tabs.Tab>
          <Tabs.Tab value="themes">{t('profiles.themes')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={kind}>
          {kind === 'profiles' ? <Profiles edit={(id) => setEdited({ kind, id })} /> : <Themes edit={(id) => setEdited({ kind, id })} />}
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Profiles({ edit }: { edit: (id: string) => void }) {
  const { t } = useTranslation()
  const profiles = useProfiles()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const remove = async ({ id }: Profile) => {
    await api.call('deleteSetting', { path: { id_or_organisation_id_or_setting_id: id } })
    await queryClient.invalidateQueries({ queryKey: ['profiles'] })
  }
  const describe = (profile: Profile) =>
    [
      profile.password_protected === '1' && t('profiles.password'),
      profile.max_sessions !== '' && t('profiles.limit', { count: Number(profile.max_sessions) }),
      ...(['allow_sharing', 'allow_download', 'is_auto_play'] as const).map((name) => profile[name] === '1' && t(`profiles.${name}`)),
      t('profiles.rates', { lowest: profile.lowest_quality_version, highest: profile.highest_quality_version }),
    ]
      .filter(Boolean)
      .join(' · ')
  return (
    <QueryState query={profiles}>
      {(list) =>
        list.length === 0 ? (
          <EmptyState icon={<IconAdjustments size={28} />} title={t('profiles.none')} text={t('profiles.noneText')} />
        ) : (
          <ListTable columns={[t('common.name'), t('profiles.settings')]} hasActions minWidth={640}>
            {list.map((profile) => (
              <Table.Tr key={profile.id}>
                <Table.Td className="page-title">{profile.title || profile.id}</Table.Td>
                <Table.Td>
                  <Text size="sm" c="dimmed">
                    {describe(profile)}
                  </Text>
                </Table.Td>
                <Actions record={profile} edit={edit} remove={() => remove(profile)} text={t('profiles.deleteProfileText')} />
              </Table.Tr>
            ))}
          </ListTable>
        )
      }
    </QueryState>
  )
}

function Themes({ edit }: { edit: (id: string) => void }) {
  const { t } = useTranslation()
  const themes = useThemes()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const remove = async ({ id }: Theme) => {
    await api.call('deleteTheme', { path: { id_or_organisation_id_or_theme_id: id } })
    await queryClient.invalidateQueries({ queryKey: ['themes'] })
  }
  const coloursOf = ({ background_colour, control_bar_colour, text_colour, icon_colour }: Theme) =>
    [...new Set([background_colour, control_bar_colour, text_colour, icon_colour])].filter((colour) => colour !== '')
  return (
    <QueryState query={themes}>
      {(list) =>
        list.length === 0 ? (
          <EmptyState icon={<IconPalette size={28} />} title={t('profiles.noThemes')} text={t('profiles.noThemesText')} />
        ) : (
          <ListTable columns={[t('common.name'), t('profiles.skin'), t('profiles.colours')]} hasActions minWidth={640}>
            {list.map((theme) => (
              <Table.Tr key={theme.id}>
                <Table.Td className="page-title">{theme.title || theme.id}</Table.Td>
                <Table.Td className="page-title">{theme.skin || t('profiles.skinOfPlayer')}</Table.Td>
                <Table.Td>
                  <Group gap={4} role="img" aria-label={coloursOf(theme).join(', ') || t('profiles.colourOfPlayer')}>
                    {coloursOf(theme).map((colour) => (
                      <span key={colour} className="swatch" style={{ background: colour }} />
                    ))}
                  </Group>
                </Table.Td>
                <Actions record={theme} edit={edit} remove={() => remove(theme)} text={t('profiles.deleteThemeText')} />
              </Table.Tr>
            ))}
          </ListTable>
        )
      }
    </QueryState>
  )
}

interface ActionsProps {
  record: { id: string; title: string }
  edit: (id: string) => void
  remove: () => Promise<unknown>
  /** Effect of deleting. */
  text: string
}

function Actions({ record: { id, title }, edit, remove, text }: ActionsProps) {
  const { t } = useTranslation()
  const name = title || id
  return (
    <Table.Td>
      <Group gap="xs" justify="flex-end" wrap="nowrap">
        <Button size="xs" variant="default" aria-label={`${t('video.captionEdit')}: ${name}`} onClick={() => edit(id)}>
          {t('video.captionEdit')}
        </Button>
        <ConfirmButton size="xs" title={t('profiles.deleteTitle', { name })} text={text} confirm={t('common.delete')} onConfirm={remove}>
          {t('common.delete')}
        </ConfirmButton>
      </Group>
    </Table.Td>
  )
}

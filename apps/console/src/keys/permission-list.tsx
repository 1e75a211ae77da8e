import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { valueLabel } from '../translation/value-label.ts'
import { groupPermissions, type KeyRecord } from './key-record.ts'

/** Permissions of a key in the list of keys. Long lists are closed at first. */
export function KeyPermissions({ record: { resources, hasEverything } }: { record: KeyRecord }) {
  const { t } = useTranslation()
  if (hasEverything) return t('keys.presets.admin')
  if (resources.length === 0) return t('keys.noPermissions')
  return (
    <details>
      <summary>{t('keys.permissions', { count: resources.length })}</summary>
      <PermissionList resources={resources} />
    </details>
  )
}

/** Permissions with a line for each action. */
export function PermissionList({ resources }: { resources: readonly string[] }) {
  return (
    <ul className="plain-list">
      {groupPermissions(resources).map(({ action, objects }) => (
        <Text component="li" size="sm" key={action}>
          {valueLabel('keys.actions', action)}: {objects.map((object) => valueLabel('keys.objects', object)).join(', ')}
        </Text>
      ))}
    </ul>
  )
}

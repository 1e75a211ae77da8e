import { Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The cell of a table with the name and the id of an organisation. */
export function OrganisationNameCell({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation()
  return (
    <Table.Td className="page-title">
      {name}
      <Text size="xs" c="dimmed">
        {t('organisation.id')} {id}
      </Text>
    </Table.Td>
  )
}

import { Group, Pagination, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'

const PAGE_SIZE = 50

interface Props<T> {
  rows: readonly T[]
  /** Label of the search field. */
  label: string
  /** Returns the text of a row in which the search looks. */
  textOf: (row: T) => string
  /** Shows the rows of one page. */
  children: (rows: readonly T[]) => ReactNode
}

/** A list with a search and pages, if it is longer than a page. */
export function PagedList<T>({ rows, label, textOf, children }: Props<T>) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [page, setPage] = useState(1)
  if (rows.length <= PAGE_SIZE) return children(rows)
  const searched = text.trim().toLowerCase()
  const found = rows.filter((row) => textOf(row).toLowerCase().includes(searched))
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE))
  // Fewer rows can be left after a change.
  const shown = Math.min(page, pages)
  return (
    <>
      <TextInput
        label={label}
        type="search"
        leftSection={<IconSearch size={18} aria-hidden="true" />}
        maw={420}
        mb="md"
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value)
          setPage(1)
        }}
      />
      {found.length === 0 ? (
        <Text size="sm">{t('common.noMatch')}</Text>
      ) : (
        children(found.slice((shown - 1) * PAGE_SIZE, shown * PAGE_SIZE))
      )}
      {pages > 1 && (
        <Group justify="center" mt="md">
          <Pagination
            total={pages}
            value={shown}
            onChange={setPage}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
            getItemProps={(number) => ({ 'aria-label': t('pages.page', { page: number }) })}
          />
        </Group>
      )}
    </>
  )
}

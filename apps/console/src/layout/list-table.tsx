import { Table } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

interface Props {
  /** Headings of the columns. */
  columns: readonly string[]
  /**
   * Adds a last column for buttons, whose heading only screen readers present. The column stays visible when the table
   * scrolls sideways. On a telephone, each row is a card.
   */
  hasActions?: boolean
  /** On a narrower screen, the table scrolls sideways. In pixels. */
  minWidth: number
  /** A longer table scrolls below its headings. In pixels. */
  maxHeight?: number
  /** Rows of the table. */
  children: ReactNode
}

/** A table with headings. */
export function ListTable({ columns, hasActions = false, minWidth, maxHeight, children }: Props) {
  const { t } = useTranslation()
  const table = (
    <Table.ScrollContainer
      minWidth={minWidth}
      // The keyboard scrolls a long table.
      {...(maxHeight !== undefined && { maxHeight, scrollAreaProps: { viewportProps: { tabIndex: 0 } } })}
    >
      <Table verticalSpacing="sm" stickyHeader={maxHeight !== undefined}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
            {hasActions && (
              <Table.Th>
                <span className="visually-hidden">{t('common.actions')}</span>
              </Table.Th>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
  if (!hasActions) return table
  // The cells of a card have their headings by the style sheet.
  const headings = Object.fromEntries(columns.map((column, index) => [`--column-${index + 1}`, JSON.stringify(column)]))
  return (
    <div className="action-table" style={headings as CSSProperties}>
      {table}
    </div>
  )
}

import { Anchor, Paper, Table, Title } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatNumber } from '../layout/format.ts'

interface Props {
  title: string
  /** Shown instead of an empty list. */
  empty: string
  rows: readonly { video_id: string; views: number }[]
}

const TITLE_MS = 60_000

/** Videos with their views, in the order of the rows. A video without a readable title is shown by its id. */
export function VideoRanking({ title, empty, rows }: Props) {
  const { t } = useTranslation()
  const { api } = useSession()
  const titles = useQueries({
    queries: rows.map(({ video_id }) => ({
      queryKey: ['video title', video_id],
      staleTime: TITLE_MS,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.call('getVideo', { path: { video_id }, signal }).then(
          ({ video_title }) => video_title,
          () => video_id,
        ),
    })),
  })
  return (
    <Paper withBorder p="md" component="section">
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {rows.length === 0 ? (
        empty
      ) : (
        <Table>
          <Table.Tbody>
            {rows.map(({ video_id, views }, index) => (
              <Table.Tr key={video_id}>
                <Table.Td className="page-title">
                  <Anchor
                    renderRoot={(props) => (
                      <Link to="/videos/$videoId" params={{ videoId: video_id }} search={{ tab: 'analytics' }} {...props} />
                    )}
                  >
                    {titles[index]?.data ?? t('common.loading')}
                  </Anchor>
                </Table.Td>
                <Table.Td ta="right">{formatNumber(views)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paper>
  )
}

import { Button, Group, Paper, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatMinute, formatNumber } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { QueryState } from '../layout/query-state.tsx'

const REFRESH_MS = 10_000
/** Distance of two labels of the axis. */
const LABEL_MINUTES = 10
const TABLE_HEIGHT = 240

interface Minute {
  /** Start in milliseconds since 1970. */
  start: number
  active: number
  plays: number
}

/** Views and plays of each of the last 30 minutes, of one video or of all videos. */
export function MinuteChart({ videoId }: { videoId?: string }) {
  const { t } = useTranslation()
  const [isTable, setTable] = useState(false)
  const minutes = useMinutes(videoId)
  return (
    <Paper withBorder p="md" component="section">
      <Group justify="space-between" align="baseline">
        <Title order={2} size="h4">
          {t('analytics.minutes')}
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={() => setTable(!isTable)}>
          {t(isTable ? 'analytics.asChart' : 'analytics.asTable')}
        </Button>
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {t('analytics.minutesText')}
      </Text>
      <QueryState query={minutes}>{(rows) => (isTable ? <MinuteTable rows={rows} /> : <Bars rows={rows} />)}</QueryState>
    </Paper>
  )
}

function useMinutes(videoId: string | undefined) {
  const { api, organisationId } = useSession()
  return useQuery({
    queryKey: ['minutes', organisationId, videoId],
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }): Promise<Minute[]> => {
      const path = { organisation_id: organisationId }
      const rows =
        videoId === undefined
          ? await api.call('listViewsByMinute', { path, signal })
          : await api.call('listVideoViewsByMinute', { path: { ...path, video_id: videoId }, signal })
      return rows.map(({ minute, active_views, video_plays }) => ({
        start: Date.parse(`${minute.replace(' ', 'T')}Z`),
        active: active_views,
        plays: video_plays,
      }))
    },
  })
}

/** A bar for each minute. The dark part of a bar are the views that started to play in it. */
function Bars({ rows }: { rows: readonly Minute[] }) {
  const { t } = useTranslation()
  const max = Math.max(0, ...rows.map(({ active, plays }) => Math.max(active, plays)))
  const plays = rows.reduce((sum, row) => sum + row.plays, 0)
  const share = (count: number) => `${max === 0 ? 0 : (100 * count) / max}%`
  return (
    <>
      <div
        className="minute-bars"
        role="img"
        aria-label={t('analytics.minutesSummary', { plays: formatNumber(plays), max: formatNumber(max) })}
      >
        <span className="minute-max">{max > 0 && formatNumber(max)}</span>
        {rows.map((row) => (
          <span key={row.start} className="minute" title={describe(row)}>
            <span className="minute-active" style={{ height: share(row.active) }} />
            <span className="minute-plays" style={{ height: share(row.plays) }} />
          </span>
        ))}
      </div>
      <div className="minute-axis" aria-hidden="true">
        {rows
          .filter((_, index) => index % LABEL_MINUTES === 0)
          .map(({ start }) => (
            <span key={start}>{formatMinute(start)}</span>
          ))}
        <span>{t('analytics.now')}</span>
      </div>
      <Group gap="md" mt="xs">
        <Text size="sm" className="minute-legend">
          <span className="minute-key minute-active" aria-hidden="true" />
          {t('analytics.watching')}
        </Text>
        <Text size="sm" className="minute-legend">
          <span className="minute-key minute-plays" aria-hidden="true" />
          {t('analytics.playsStarted')}
        </Text>
      </Group>
      {max === 0 && (
        <Text size="sm" mt="xs">
          {t('analytics.noMinutes')}
        </Text>
      )}
    </>
  )

  function describe({ start, active, plays: started }: Minute) {
    const watching = `${t('analytics.watching')}: ${formatNumber(active)}`
    return `${formatMinute(start)} · ${watching} · ${t('analytics.playsStarted')}: ${formatNumber(started)}`
  }
}

function MinuteTable({ rows }: { rows: readonly Minute[] }) {
  const { t } = useTranslation()
  return (
    <ListTable
      columns={[t('analytics.minute'), t('analytics.watching'), t('analytics.playsStarted')]}
      minWidth={260}
      maxHeight={TABLE_HEIGHT}
    >
      {rows.toReversed().map(({ start, active, plays }) => (
        <Table.Tr key={start}>
          <Table.Td>{formatMinute(start)}</Table.Td>
          <Table.Td>{formatNumber(active)}</Table.Td>
          <Table.Td>{formatNumber(plays)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

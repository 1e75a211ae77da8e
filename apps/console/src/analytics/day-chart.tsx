import 'uplot/dist/uPlot.min.css'
import { Button, Group, Table, Title, useComputedColorScheme, useMantineTheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import uPlot from 'uplot'
import { formatNumber } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { listDays, type Period } from './period.tsx'

interface Row {
  day: string
  player_loads: number
  video_plays: number
}

const HEIGHT = 240

/** Views and plays of each day, as a chart or as a table. */
export function DayChart({ rows, period }: { rows: readonly Row[]; period: Period }) {
  const { t } = useTranslation()
  const [isTable, setTable] = useState(false)
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const days = listDays(period).map((day) => ({ day, views: byDay.get(day)?.player_loads ?? 0, plays: byDay.get(day)?.video_plays ?? 0 }))
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {t('analytics.perDay')}
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={() => setTable(!isTable)}>
          {t(isTable ? 'analytics.asChart' : 'analytics.asTable')}
        </Button>
      </Group>
      {isTable ? <DayTable days={days} /> : <Chart days={days} />}
    </section>
  )
}

interface Day {
  day: string
  views: number
  plays: number
}

function DayTable({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  return (
    <ListTable columns={[t('analytics.date'), t('analytics.views'), t('analytics.plays')]} minWidth={280} maxHeight={HEIGHT + 60}>
      {days.toReversed().map(({ day, views, plays }) => (
        <Table.Tr key={day}>
          <Table.Td>{day}</Table.Td>
          <Table.Td>{formatNumber(views)}</Table.Td>
          <Table.Td>{formatNumber(plays)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

function Chart({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const theme = useMantineTheme()
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { ref, width } = useElementSize()
  const target = useRef<HTMLDivElement>(null)
  const data = JSON.stringify(days)
  useEffect(() => {
    if (!target.current || width === 0) return
    const points = JSON.parse(data) as Day[]
    const [text, grid] = scheme === 'dark' ? [theme.colors.dark[1], theme.colors.dark[5]] : [theme.colors.gray[7], theme.colors.gray[2]]
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
    const [views, plays] = [theme.colors.indigo?.[scheme === 'dark' ? 3 : 6], theme.colors.teal[scheme === 'dark' ? 3 : 7]]
    const chart = new uPlot(
      {
        ...{ width, height: HEIGHT, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') },
        scales: { y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.1))] } },
        axes: [axis, { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000] }],
        series: [
          { label: t('analytics.date'), value: '{YYYY}-{MM}-{DD}' },
          { label: t('analytics.views'), stroke: views, fill: `${views}22`, width: 2 },
          { label: t('analytics.plays'), stroke: plays, width: 2, dash: [6, 4] },
        ],
      },
      [points.map(({ day }) => Date.parse(day) / 1_000), points.map((point) => point.views), points.map((point) => point.plays)],
      target.current,
    )
    return () => chart.destroy()
  }, [data, width, scheme, theme, t])
  const total = days.reduce((sum, { views }) => sum + views, 0)
  return (
    <div ref={ref} className="chart" role="img" aria-label={`${t('analytics.perDay')}: ${formatNumber(total)}`}>
      <div ref={target} />
    </div>
  )
}

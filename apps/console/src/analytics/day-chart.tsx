import 'uplot/dist/uPlot.min.css'
import { Button, Group, SegmentedControl, Table, Text, Title, useComputedColorScheme, useMantineTheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import uPlot from 'uplot'
import { formatDuration, formatNumber } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { listDays, type Period } from './period.tsx'

interface Row {
  day: string
  player_loads: number
  video_plays: number
  /** Seconds. */
  viewing_time?: number
}

interface Props {
  rows: readonly Row[]
  viewers: readonly { day: string; unique_viewers: number }[]
  period: Period
}

const HEIGHT = 240

/** Views, plays, viewers and watch time of each day, as a chart or as a table. */
export function DayChart({ rows, viewers, period }: Props) {
  const { t } = useTranslation()
  const [isTable, setTable] = useState(false)
  const [isTime, setTime] = useState(false)
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const viewersByDay = new Map(viewers.map(({ day, unique_viewers }) => [day, unique_viewers]))
  const days = listDays(period).map((day) => ({
    day,
    views: byDay.get(day)?.player_loads ?? 0,
    plays: byDay.get(day)?.video_plays ?? 0,
    viewers: viewersByDay.get(day) ?? 0,
    seconds: byDay.get(day)?.viewing_time ?? 0,
  }))
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {t('analytics.perDay')}
        </Title>
        <Group gap="xs">
          {!isTable && (
            <SegmentedControl
              size="xs"
              aria-label={t('analytics.chart')}
              data={[
                { value: 'views', label: t('analytics.views') },
                { value: 'time', label: t('analytics.watchTime') },
              ]}
              value={isTime ? 'time' : 'views'}
              onChange={(value) => setTime(value === 'time')}
            />
          )}
          <Button size="compact-sm" variant="subtle" onClick={() => setTable(!isTable)}>
            {t(isTable ? 'analytics.asChart' : 'analytics.asTable')}
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {t('analytics.utc')}
      </Text>
      {isTable ? <DayTable days={days} /> : <Chart days={days} isTime={isTime} />}
    </section>
  )
}

interface Day {
  day: string
  views: number
  plays: number
  viewers: number
  seconds: number
}

function DayTable({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const columns = ['date', 'views', 'plays', 'viewers', 'watchTime'] as const
  return (
    <ListTable columns={columns.map((name) => t(`analytics.${name}`))} minWidth={420} maxHeight={HEIGHT + 60}>
      {days.toReversed().map(({ day, views, plays, viewers, seconds }) => (
        <Table.Tr key={day}>
          <Table.Td>{day}</Table.Td>
          <Table.Td>{formatNumber(views)}</Table.Td>
          <Table.Td>{formatNumber(plays)}</Table.Td>
          <Table.Td>{formatNumber(viewers)}</Table.Td>
          <Table.Td>{formatDuration(seconds)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

const INCREMENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000]

function Chart({ days, isTime }: { days: readonly Day[]; isTime: boolean }) {
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
    const toColour = (name: 'indigo' | 'teal' | 'orange') => theme.colors[name]?.[scheme === 'dark' ? 3 : 7] ?? text
    const [blue, green, orange] = [toColour('indigo'), toColour('teal'), toColour('orange')]
    const lines: { series: uPlot.Series; read: (point: Day) => number }[] = isTime
      ? [
          {
            series: { label: t('analytics.watchMinutes'), stroke: blue, fill: `${blue}22`, width: 2 },
            read: ({ seconds }) => Math.round(seconds / 6) / 10,
          },
        ]
      : [
          { series: { label: t('analytics.views'), stroke: blue, fill: `${blue}22`, width: 2 }, read: ({ views }) => views },
          { series: { label: t('analytics.plays'), stroke: green, width: 2, dash: [6, 4] }, read: ({ plays }) => plays },
          { series: { label: t('analytics.viewers'), stroke: orange, width: 2, dash: [2, 3] }, read: ({ viewers }) => viewers },
        ]
    const chart = new uPlot(
      {
        ...{ width, height: HEIGHT, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') },
        scales: { y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.1))] } },
        axes: [axis, { ...axis, incrs: INCREMENTS }],
        series: [{ label: t('analytics.date'), value: '{YYYY}-{MM}-{DD}' }, ...lines.map(({ series }) => series)],
      },
      [points.map(({ day }) => Date.parse(day) / 1_000), ...lines.map(({ read }) => points.map(read))],
      target.current,
    )
    return () => chart.destroy()
  }, [data, isTime, width, scheme, theme, t])
  const total = days.reduce((sum, { views }) => sum + views, 0)
  const seconds = days.reduce((sum, day) => sum + day.seconds, 0)
  const summary = isTime ? `${t('analytics.watchTime')}: ${formatDuration(seconds)}` : `${t('analytics.perDay')}: ${formatNumber(total)}`
  return (
    <div ref={ref} className="chart" role="img" aria-label={summary}>
      <div ref={target} />
    </div>
  )
}

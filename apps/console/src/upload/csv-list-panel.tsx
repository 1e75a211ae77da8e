import { Alert, Button, Group, Progress, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconFileSpreadsheet } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { decodeText } from '../layout/decode-text.ts'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { SelectFile } from '../layout/select-file.tsx'
import { CSV_COLUMNS, type CsvList, type CsvProblem, readCsvList, toUploadPayload } from './csv-list.ts'

/** Result of a row that was sent. */
type RowResult = { videoId: string } | { reason: string }

/**
 * Reads a CSV file, shows what it would create, and creates the videos after a confirmation. `onRunning` is called when
 * that begins and ends.
 */
export function CsvListPanel({ onRunning }: { onRunning: (isRunning: boolean) => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [list, setList] = useState<CsvList>()
  const [results, setResults] = useState<ReadonlyMap<number, RowResult>>(new Map())
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  useEffect(() => onRunning(isRunning), [onRunning, isRunning])
  const describe = useProblemText()
  const isUsable = list?.problems.every(({ problem }) => problem === 'unknownColumn')
  const valid = list && isUsable ? list.rows.filter(({ problems }) => problems.length === 0) : []
  const waiting = valid.filter(({ line }) => !isCreated(results.get(line)))
  const read = async (file: File) => {
    try {
      setList(readCsvList(decodeText(await file.arrayBuffer())))
      setResults(new Map())
    } catch (error) {
      notifyError(error)
    }
  }
  const createAll = async () => {
    setRunning(true)
    isStopped.current = false
    let count = 0
    for (const row of waiting) {
      if (isStopped.current) break
      const result = await api.videos.create(toUploadPayload(row)).then(
        ({ id }) => ({ videoId: id }),
        (error: unknown) => ({ reason: toMessage(error) }),
      )
      if (isCreated(result)) count++
      setResults((before) => new Map(before).set(row.line, result))
    }
    setRunning(false)
    if (count > 0) notifySuccess(t('upload.fetching', { count }))
    await queryClient.invalidateQueries({ queryKey: ['videos'] })
  }
  const stop = () => {
    isStopped.current = true
  }
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('csv.help', { columns: CSV_COLUMNS.join(', ') })}
      </Text>
      <Group>
        <SelectFile accept=".csv,.tsv,text/csv" onSelect={(file) => void read(file)}>
          {(props) => (
            <Button variant="default" leftSection={<IconFileSpreadsheet size={18} aria-hidden="true" />} disabled={isRunning} {...props}>
              {t('csv.select')}
            </Button>
          )}
        </SelectFile>
        {list && waiting.length > 0 && (
          <Button loading={isRunning} onClick={() => void createAll()}>
            {t('csv.create', { count: waiting.length })}
          </Button>
        )}
        {isRunning && (
          <Button variant="default" onClick={stop}>
            {t('common.cancel')}
          </Button>
        )}
      </Group>
      {list?.problems.map((problem) => (
        <Alert key={JSON.stringify(problem)} color={isUsable ? 'yellow' : 'red'} icon={<IconAlertTriangle size={18} />} role="alert">
          {describe(problem)}
        </Alert>
      ))}
      {list && valid.length > 0 && (
        <Text size="sm" aria-live="polite">
          {results.size === 0 || isRunning
            ? t('csv.checked', { valid: valid.length, invalid: list.rows.length - valid.length })
            : t('csv.summary', { created: valid.length - waiting.length, failed: results.size - (valid.length - waiting.length) })}
        </Text>
      )}
      {results.size > 0 && <Progress value={(100 * results.size) / Math.max(1, valid.length)} aria-label={t('csv.progress')} />}
      {list && list.rows.length > 0 && (
        <ListTable columns={[t('csv.line'), t('csv.video'), t('common.status')]} minWidth={420} maxHeight={300}>
          {list.rows.map(({ line, values, problems }) => (
            <Table.Tr key={line}>
              <Table.Td>{line}</Table.Td>
              <Table.Td className="break-anywhere">
                {values.title && <Text size="sm">{values.title}</Text>}
                <Text size="xs" c="dimmed">
                  {values.url}
                </Text>
              </Table.Td>
              <Table.Td>
                <RowState problems={problems.map(describe)} result={results.get(line)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
    </Stack>
  )
}

function RowState({ problems, result }: { problems: readonly string[]; result: RowResult | undefined }) {
  const { t } = useTranslation()
  const failures = result !== undefined && 'reason' in result ? [result.reason] : problems
  if (failures.length > 0) {
    return (
      <Text size="sm" c="red">
        {failures.join(' ')}
      </Text>
    )
  }
  if (!isCreated(result)) return <Text size="sm">{t('csv.ready')}</Text>
  return (
    <Group gap={4} wrap="nowrap">
      <IconCircleCheck size={16} color="var(--mantine-color-teal-text)" aria-hidden="true" />
      <Link to="/videos/$videoId" params={{ videoId: result.videoId }}>
        {t('csv.created')}
      </Link>
    </Group>
  )
}

function isCreated(result: RowResult | undefined): result is { videoId: string } {
  return result !== undefined && 'videoId' in result
}

function useProblemText(): (problem: CsvProblem) => string {
  const { t } = useTranslation()
  return (found) =>
    t(`csv.problem.${found.problem}`, { ...('value' in found && { value: found.value }), ...('max' in found && { max: found.max }) })
}

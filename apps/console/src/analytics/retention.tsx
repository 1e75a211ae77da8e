import { Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { formatShare } from '../layout/format.ts'

interface Props {
  /** Plays that watched the part from each percentage on, by `0`, `5`, … `100`. */
  watched: Readonly<Record<string, number>>
  /** Number of plays. It is 0 if the duration of the video is unknown. */
  plays: number
  /** Mean share of the video that was watched, from 0 to 100. */
  average: number
}

/** Share of the plays that watched each part of a video. */
export function Retention({ watched, plays, average }: Props) {
  const { t } = useTranslation()
  const parts = Object.entries(watched)
    .map(([percentage, count]) => ({ from: Number(percentage), share: plays === 0 ? 0 : count / plays }))
    .toSorted((a, b) => a.from - b.from)
  return (
    <section>
      <Title order={2} size="h4">
        {t('analytics.retention')}
      </Title>
      {plays === 0 ? (
        <Text size="sm">{t('analytics.none')}</Text>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            {t('analytics.retentionText', { share: formatShare(average / 100) })}
          </Text>
          <div className="heat" role="img" aria-label={`${t('analytics.retention')}: ${formatShare(average / 100)}`}>
            {parts.map(({ from, share }) => (
              <span
                key={from}
                title={`${formatShare(from / 100)}: ${formatShare(share)}`}
                style={{ height: `${Math.max(3, 100 * share)}%` }}
              />
            ))}
          </div>
        </>
      )}
    </section>
  )
}

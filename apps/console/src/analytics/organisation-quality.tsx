import { Paper } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../api/session.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { periodOf } from './period.tsx'
import { Quality } from './quality.tsx'

/** Playback quality of all videos of the organisation in a period. */
export function OrganisationQuality({ days }: { days: number }) {
  const { api, organisationId } = useSession()
  const quality = useQuery({
    queryKey: ['quality', organisationId, days],
    queryFn: ({ signal }) => api.call('listQualityByDay', { path: { organisation_id: organisationId }, query: periodOf(days), signal }),
  })
  return (
    <Paper withBorder p="md">
      <QueryState query={quality}>{(rows) => <Quality days={rows} />}</QueryState>
    </Paper>
  )
}

import type { QueryClient } from '@tanstack/react-query'
import type { Vitascope } from '@vitascope/sdk'
import i18next from 'i18next'
import { formatBytes } from '../layout/format.ts'
import { findTooLarge, hasMinutesLeft, remainingBytes } from '../quota/remaining.ts'
import { usageQuery } from '../quota/use-usage.ts'
import { isVideoFile } from './upload-queue.ts'

interface Context {
  api: Vitascope
  organisationId: string
  queryClient: QueryClient
  /** Bytes of earlier files that the platform has not reserved yet. */
  waitingBytes: number
}

/** Returns the files that the quota of the organisation does not allow, with messages. Throws if the quota cannot be read. */
export async function findOverQuota(
  files: readonly File[],
  { api, organisationId, queryClient, waitingBytes }: Context,
): Promise<ReadonlyMap<File, string>> {
  const videos = files.filter(isVideoFile)
  const usage = await queryClient.fetchQuery({ ...usageQuery(api, organisationId), retry: false })
  if (!hasMinutesLeft(usage)) return new Map(videos.map((file) => [file, i18next.t('quota.noMinutes')]))
  const free = remainingBytes(usage)
  if (free === undefined) return new Map()
  if (free === 0) return new Map(videos.map((file) => [file, i18next.t('quota.noBytes')]))
  const left = Math.max(0, free - waitingBytes)
  const describe = ({ name, size }: File) => i18next.t('quota.doesNotFit', { name, size: formatBytes(size), left: formatBytes(left) })
  return new Map(findTooLarge(videos, left).map((file) => [file, describe(file)]))
}

import { invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireService, requireUser } from '@vitascope/principal'
import { type DownloadServiceService, DownloadFile as FileMessage } from '@vitascope/proto/catalogue/v1/download'
import { checkText, isDay, isId } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import type { createDownloads } from './create-download.ts'
import type { DownloadFile, DownloadStore } from './download-store.ts'

const MAX_COUNTS = 1_000

const FILES: Readonly<Partial<Record<FileMessage, DownloadFile>>> = {
  [FileMessage.DOWNLOAD_FILE_ORIGINAL]: 'original',
  [FileMessage.DOWNLOAD_FILE_MP4]: 'mp4',
  [FileMessage.DOWNLOAD_FILE_AUDIO]: 'audio',
  [FileMessage.DOWNLOAD_FILE_CAPTION]: 'caption',
}

export function downloadHandlers({
  downloads,
  createDownload,
  organisations,
}: {
  downloads: DownloadStore
  createDownload: ReturnType<typeof createDownloads>
  organisations: Organisations
}): Handlers<typeof DownloadServiceService> {
  return {
    async createDownload(request, call) {
      const scope = getScope(requireUser(call.principal))
      if (!isId(request.videoId)) throw notFound('video', request.videoId)
      return await createDownload(scope, request, call)
    },
    async reportDownloads({ reportId, counts }, { principal, signal }) {
      requireService(principal)
      const tooMany = counts.length > MAX_COUNTS ? [{ field: 'counts', message: `must have at most ${MAX_COUNTS} counts` }] : []
      requireValid([...checkText('report_id', reportId, { min: 1, max: 100 }), ...tooMany])
      const valid = counts.map(({ videoId, file, count }, index) => {
        const name = FILES[file]
        if (!isId(videoId) || name === undefined || count < 1) throw invalid([{ field: `counts[${index}]`, message: 'is malformed' }])
        return { videoId, file: name, count }
      })
      await downloads.add(reportId, valid, signal)
      return {}
    },
    async listDownloadDays({ organisationId: requestedId, videoId, dateStart, dateEnd }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, requireUser(principal), requestedId, signal)
      requireValid([...checkDay('date_start', dateStart), ...checkDay('date_end', dateEnd)])
      // An unknown video has no downloads, like in other reports.
      if (videoId !== '' && !isId(videoId)) return { days: [] }
      const days = await downloads.listDays({ organisationId, videoId: videoId || undefined, dateStart, dateEnd }, signal)
      return {
        days: days.map(({ day, counts: { original, mp4, audio, caption } }) => ({
          day,
          originals: original,
          mp4,
          audio,
          captions: caption,
        })),
      }
    },
  }
}

function checkDay(field: string, day: string) {
  return isDay(day) ? [] : [{ field, message: 'must be a day as YYYY-MM-DD' }]
}

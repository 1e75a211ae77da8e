import { expect, test } from '@jest/globals'
import { DownloadFile, type ReportDownloadsRequest } from '@vitascope/proto/catalogue/v1/download'
import { testLog, waitFor } from '@vitascope/testing'
import { createDownloadCounts } from '../src/download-counts.ts'

test('downloads are reported together, and a failed report is sent again with the same id', async () => {
  const sent: ReportDownloadsRequest[] = []
  let isDown = true
  const client = {
    async reportDownloads(request: ReportDownloadsRequest) {
      sent.push(structuredClone(request))
      if (isDown) throw new Error('the catalogue of this test is down')
      return {}
    },
  }
  const counts = createDownloadCounts({ client, log: testLog, reportEveryMs: 20 })
  counts.add('1', { name: 'a.mp4', path: 'h264_100.mp4' })
  counts.add('1', { name: 'a.mp4', path: 'h264_800.mp4' })
  counts.add('1', { name: 'a.mov', object: 'source/1/2-a/a.mov' })
  await waitFor(() => sent.length > 1, { describe: 'the second try' })
  counts.add('1', { name: 'a.m4a', path: 'audio.m4a' })
  counts.add('2', { name: 'a.vtt', path: 'hls/captions/7.vtt' })
  isDown = false
  await waitFor(() => new Set(sent.map(({ reportId }) => reportId)).size === 2, { describe: 'the next report' })
  await counts.close()
  const reports = [...new Map(sent.map((report) => [report.reportId, report.counts])).values()]
  expect(reports).toEqual([
    [
      { videoId: '1', file: DownloadFile.DOWNLOAD_FILE_MP4, count: 2 },
      { videoId: '1', file: DownloadFile.DOWNLOAD_FILE_ORIGINAL, count: 1 },
    ],
    [
      { videoId: '1', file: DownloadFile.DOWNLOAD_FILE_AUDIO, count: 1 },
      { videoId: '2', file: DownloadFile.DOWNLOAD_FILE_CAPTION, count: 1 },
    ],
  ])
})

test('the last downloads are reported when the process stops', async () => {
  const sent: ReportDownloadsRequest[] = []
  const client = {
    async reportDownloads(request: ReportDownloadsRequest) {
      sent.push(request)
      return {}
    },
  }
  const counts = createDownloadCounts({ client, log: testLog, reportEveryMs: 60_000 })
  counts.add('1', { name: 'a.mp4', path: 'h264_100.mp4' })
  await counts.close()
  expect(sent).toMatchObject([{ counts: [{ videoId: '1', count: 1 }] }])
})

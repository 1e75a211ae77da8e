import { expect, jest, test } from '@jest/globals'
import type { Client } from '@vitascope/grpc'
import type { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { createPreviewFiles } from './preview-files.ts'

let now = 1_000_000
jest.spyOn(Date, 'now').mockImplementation(() => now)

/** Encoding with one track. Its second segment is in another folder than the first one. */
function startEncoding() {
  const state = { lastSegment: 1, calls: 0 }
  const client = {
    async getPreviewTrackPlaylist() {
      state.calls++
      const numbers = Array.from({ length: state.lastSegment }, (_, index) => index + 1)
      return {
        playlist: `#EXTM3U\n${numbers.map((number) => `seg-0000${number}.m4s\n`).join('')}`,
        initObject: 'work/7/1/a/init.mp4',
        segments: numbers.map((first) => ({ first, folder: `work/7/${first}/a` })),
      }
    },
  }
  // It has the only method that is called.
  return { state, files: createPreviewFiles(client as unknown as Client<typeof PreviewPlaylistServiceService>) }
}

test('a segment that is newer than the cached playlist is found, because another replica may have listed it', async () => {
  const { state, files } = startEncoding()
  expect(await files.getObjectName('7', 'hls/a/seg-00001.m4s')).toBe('work/7/1/a/seg-00001.m4s')
  state.lastSegment = 2
  now += 100
  expect(await files.getObjectName('7', 'hls/a/seg-00002.m4s')).toBe('work/7/2/a/seg-00002.m4s')
  expect(state.calls).toBe(2)
})

test('encoding is called once for segments of the cached playlist, and rarely for others', async () => {
  const { state, files } = startEncoding()
  for (let nth = 0; nth < 100; nth++) {
    now += 1
    await files.getObjectName('7', 'hls/a/seg-00001.m4s')
  }
  expect(state.calls).toBe(1)
  for (let nth = 0; nth < 100; nth++) {
    now += 1
    await files.getObjectName('7', 'hls/a/seg-00009.m4s')
  }
  expect(state.calls).toBeLessThan(5)
})

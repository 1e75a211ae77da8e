import { afterEach, expect, test } from '@jest/globals'
import { DetailsSync, type UploadedVideo } from './details-sync.ts'
import type { VideoDetails } from './video-details.ts'

const suggested: VideoDetails = { title: 'sea', description: '', visibility: 'public' }
const video: UploadedVideo = { videoId: '1', access: () => ({ key: 'the key', organisationId: '' }) }
const realFetch = globalThis.fetch

afterEach(() => {
  globalThis.fetch = realFetch
})

function createDetails(): DetailsSync {
  return new DetailsSync(suggested, suggested, new AbortController().signal)
}

test('details that were changed before the creation of the upload are saved when the video exists', () => {
  const details = createDetails()
  details.change({ title: 'Noise of the sea' })
  expect(details.state).toEqual({ kind: 'after upload' })
  details.stored = details.wanted
  details.attach(video)
  expect(details.state).toEqual({ kind: 'saved' })
})

test('details without changes have no state', () => {
  const details = createDetails()
  details.attach(video)
  expect(details.state).toEqual({ kind: 'unchanged' })
})

test('a rejected change that is undone counts as saved', async () => {
  globalThis.fetch = async () => new Response('{}', { status: 403 })
  const details = createDetails()
  details.attach(video)
  const failed = new Promise<void>((resolve) => {
    details.onChange = () => {
      if (details.state.kind === 'failed') resolve()
    }
  })
  details.change({ visibility: 'private' })
  await failed
  details.change({ visibility: 'public' })
  expect(details.state).toEqual({ kind: 'saved' })
})

import { expect, test } from '@jest/globals'
import { Video, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { ownVideosJson } from './video-list-json.ts'
import { ownVideoResponse } from './video-response.ts'

const urls = { publicUrl: 'https://video.example.org', mediaUrl: 'https://files.example.org' }
const status = { state: VideoState.VIDEO_STATE_ENCODING, progress: 5, code: 2, message: '' }

const build = (title: string) =>
  Video.create({ videoId: '1', title, descriptionPrivate: 'internal', status, createTime: new Date(0), updateTime: new Date(0) })
const encode = (video: Video) => Buffer.from(Video.encode(video).finish())
const list = (videos: Video[], encodedVideos: Buffer[], of = urls) => JSON.parse(ownVideosJson({ videos, encodedVideos }, of)) as unknown

test('encoded videos have the response of decoded ones, also when they are listed again', () => {
  const videos = ['Launch', 'Start ✨ “quoted"', ''].map(build)
  const expected = videos.map((video) => ownVideoResponse(video, urls))
  for (let nth = 0; nth < 2; nth++) expect(list([], videos.map(encode))).toEqual(expected)
  expect(list(videos, [])).toEqual(expected)
  expect(list([], [])).toEqual([])
})

test('a change of the video or of the URLs changes the response', () => {
  const video = build('Launch')
  const other = { ...urls, publicUrl: 'https://other.example.org' }
  expect(list([], [encode(video)])).toEqual([ownVideoResponse(video, urls)])
  expect(list([], [encode({ ...video, title: 'Landing' })])).toEqual([ownVideoResponse({ ...video, title: 'Landing' }, urls)])
  expect(list([], [encode(video)], other)).toEqual([ownVideoResponse(video, other)])
})

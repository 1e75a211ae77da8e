import { expect, test } from '@jest/globals'
import { Media } from '@vitascope/proto/catalogue/v1/media'
import { mediaDetailsResponse, mediaResponse } from './media-response.ts'

const media = Media.create({
  mediaId: '4611686018427387905',
  organisationId: '2',
  title: 'Launch day',
  originalFilename: 'launch.mov',
  encodedFilenames: ['h264_100.mp4'],
  gifStatus: 1,
})

test('the media response has the documented fields', () => {
  expect(mediaResponse(media)).toEqual({
    media_id: '4611686018427387905',
    original_filename: 'launch.mov',
    encoded_filename: ['h264_100.mp4'],
    token_required_platform: false,
  })
})

test('the media details response has the changeable fields', () => {
  expect(mediaDetailsResponse(media)).toEqual({
    title: 'Launch day',
    gif_status: '1',
    original_filename: 'launch.mov',
    token_required_platform: false,
  })
})

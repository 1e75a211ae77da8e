import { expect, test } from '@jest/globals'
import { VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { newOverlay, overlayChanges, overlayMask, overlayMessage } from './overlay-changes.ts'
import { OverlayResponse, overlayResponse, VideoOverlayResponse, videoOverlayResponse } from './overlay-response.ts'

const listInvalidFields = (result: ReturnType<typeof newOverlay.safeParse>) => result.error?.issues.map(({ path }) => path.join('.')) ?? []

test('an overlay with only a title has every other field empty', () => {
  const overlay = overlayMessage(newOverlay.parse({ title: 'Tickets' }), { overlayId: '3' })
  const response = overlayResponse({ ...overlay, organisationId: '2' })
  expect(response).toEqual({
    id: '3',
    in_player_ad_id: '3',
    overlay_id: '3',
    associated_with_media_id: '',
    organisation_id: '2',
    disabled: '0',
    show: { at_end: '0', during: { start: '', end: '' } },
    title: 'Tickets',
    ...{ description: '', image_path: '', link_text: '', link_action: '', link_url: '', link_target: '', link_javascript_code: '' },
    ...{ language: '', width: '', height: '', time_created: '', time_last_modified: '' },
  })
  expect(OverlayResponse.strict().safeParse(response).error).toBeUndefined()
})

test('the response returns the sent values, including minutes above 59', () => {
  const sent = {
    ...{ title: 'Tickets', associated_with_media_id: '11', disabled: '1', description: 'd', image_path: '/a.png', link_text: 't' },
    ...{
      link_action: 'a',
      link_url: 'https://example.org/',
      link_target: '_blank',
      link_javascript_code: '<x>',
      width: '320',
      height: 180,
    },
    ...{ language: 'en_GB', show: '{"at_end":1,"during":{"start":"1:05","end":"61:00"}}' },
  }
  const response = overlayResponse(overlayMessage(newOverlay.parse(sent), { overlayId: '3' }))
  expect(response).toMatchObject({
    ...sent,
    ...{ width: '320', height: '180', language: 'en-GB', show: { at_end: '1', during: { start: '01:05', end: '61:00' } } },
  })
})

test('the overlay in a video has no media, owner or time fields', () => {
  const response = videoOverlayResponse(VideoOverlay.fromPartial({ overlayId: '3', title: 'a' }))
  expect(VideoOverlayResponse.strict().safeParse(response).error).toBeUndefined()
})

test.each([
  [{}, ['title']],
  [{ title: ' ' }, ['title']],
  [{ title: 'a', show: { during: { start: '00:10', end: '00:09' } } }, ['show.during']],
  [{ title: 'a', show: { during: { start: '00:60' } } }, ['show.during.start', 'show.during.end']],
  [{ title: 'a', show: { during: { start: '', end: '00:01' } } }, ['show.during.start']],
  [{ title: 1, link_url: 'ftp://a/', image_path: 'data:x' }, ['title', 'image_path', 'link_url']],
  [{ title: 'a', show: { during: { start: '1000:00', end: '٠٠:٠١' } } }, ['show.during.start', 'show.during.end']],
  [{ title: 'a', show: { later: 1 }, width: 8_193, height: 0, link_text: 'a'.repeat(256) }, ['show', 'link_text', 'width', 'height']],
  [{ title: 'a', overlay_id: '3', in_player_ad_id: '3' }, ['']],
])('rejects %j with errors in %j', (sent, names) => {
  expect(listInvalidFields(newOverlay.safeParse(sent))).toEqual(names)
})

test('the update mask names each sent field', () => {
  const mask = (sent: object) => overlayMask(overlayChanges.parse(sent))
  expect(mask({ title: 'a', associated_with_media_id: null, width: null })).toEqual(['title', 'width', 'media_id'])
  expect(mask({ show: { at_end: 0 } })).toEqual(['at_end'])
  expect(mask({ show: { during: '' } })).toEqual(['during'])
  expect(mask({ show: { during: { start: '', end: '' } } })).toEqual(['during'])
})

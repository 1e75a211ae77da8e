import { expect, test } from '@jest/globals'
import { VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { newOverlay, overlayChanges, overlayMask, overlayMessage } from './overlay-changes.ts'
import { OverlayRecord, overlayView, VideoOverlayRecord, videoOverlayView } from './overlay-view.ts'

const namesOf = (result: ReturnType<typeof newOverlay.safeParse>) => result.error?.issues.map(({ path }) => path.join('.')) ?? []

test('an overlay that says nothing but its title has every field in its empty form', () => {
  const overlay = overlayMessage(newOverlay.parse({ title: 'Tickets' }), { overlayId: '3' })
  const view = overlayView({ ...overlay, organisationId: '2' })
  expect(view).toEqual({
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
  expect(OverlayRecord.strict().safeParse(view).error).toBeUndefined()
})

test('what came in comes out, minutes past 59 too', () => {
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
  const view = overlayView(overlayMessage(newOverlay.parse(sent), { overlayId: '3' }))
  expect(view).toMatchObject({
    ...sent,
    ...{ width: '320', height: '180', language: 'en-GB', show: { at_end: '1', during: { start: '01:05', end: '61:00' } } },
  })
})

test('the video record shows nothing of the media, the owner or the times', () => {
  const view = videoOverlayView(VideoOverlay.fromPartial({ overlayId: '3', title: 'a' }))
  expect(VideoOverlayRecord.strict().safeParse(view).error).toBeUndefined()
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
])('%j is refused for %j', (sent, names) => {
  expect(namesOf(newOverlay.safeParse(sent))).toEqual(names)
})

test('the mask names what was sent, of the times each for itself', () => {
  const mask = (sent: object) => overlayMask(overlayChanges.parse(sent))
  expect(mask({ title: 'a', associated_with_media_id: null, width: null })).toEqual(['title', 'width', 'media_id'])
  expect(mask({ show: { at_end: 0 } })).toEqual(['at_end'])
  expect(mask({ show: { during: '' } })).toEqual(['during'])
  expect(mask({ show: { during: { start: '', end: '' } } })).toEqual(['during'])
})

import { expect, test } from '@jest/globals'
import { readVideoRecord } from '../video/video-record.ts'
import { withLook } from './previewed-look.ts'

const stored = readVideoRecord({
  uri: { download_link: '', http: { h264_500: 'small.mp4' } },
  player_settings: { allow_sharing: '0', show_title_bar: '1' },
  theme: { text_colour: '#112233', skin: 'pug' },
})

test('a previewed theme replaces the colours and the skin only', () => {
  const theme = { text_colour: '', control_bar_colour: '#445566', icon_colour: 'red;x', skin: '' }
  expect(withLook(stored, { theme })).toEqual({ ...stored, theme: { '--bar': '#445566' }, skin: '' })
})

test('a previewed profile replaces the settings, and decides whether there is a download link', () => {
  const shown = withLook(stored, { player_settings: { allow_sharing: '1', show_title_bar: '0', allow_download: '1' } })
  expect(shown).toMatchObject({ settings: { sharing: true, titleBar: false }, downloadLink: 'small.mp4' })
  expect([shown.theme, shown.skin]).toEqual([stored.theme, 'pug'])
  expect(withLook({ ...stored, downloadLink: 'big.mp4' }, { player_settings: { allow_download: '0' } }).downloadLink).toBe('')
})

test('without a previewed theme or profile, the record is unchanged', () => {
  expect(withLook(stored, {})).toEqual(stored)
})

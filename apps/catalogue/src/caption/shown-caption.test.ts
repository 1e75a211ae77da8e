import { expect, test } from '@jest/globals'
import { findInitialCaption, nameCaptions } from './shown-caption.ts'

const captions = [
  { captionId: '11', title: 'Deutsch', language: 'de' },
  { captionId: '12', title: 'English', language: 'en-GB' },
  { captionId: '13', title: 'English', language: 'en' },
  { captionId: '14', title: 'English (2)', language: 'pt-BR' },
]

test.each([
  ['', undefined],
  ['0', undefined],
  ['false', undefined],
  ['1', '11'],
  [' TRUE ', '11'],
  ['en', '13'],
  ['EN_gb', '12'],
  ['pt', '14'],
  ['pt-PT', '14'],
  ['english (2)', '14'],
  ['fr', undefined],
  ['e', undefined],
  ['99', undefined],
])('show_on_load %j shows %s', (showOnLoad, id) => {
  expect(findInitialCaption(captions, { showOnLoad, defaultOn: false })).toBe(id)
})

test('a profile with captions on by default applies if the video has no setting', () => {
  const findInitial = (showOnLoad: string) => findInitialCaption(captions, { showOnLoad, defaultOn: true })
  expect([findInitial(''), findInitial('0'), findInitial('fr'), findInitial('en')]).toEqual(['11', undefined, undefined, '13'])
  expect(findInitialCaption([], { showOnLoad: '1', defaultOn: true })).toBeUndefined()
})

test('each caption has a unique name', () => {
  const named = nameCaptions([...captions, { captionId: '15', title: 'English', language: 'en-US' }], {
    showOnLoad: 'en',
    defaultOn: false,
  })
  expect(named.map(({ name }) => name)).toEqual(['Deutsch', 'English', 'English (2)', 'English (2) (2)', 'English (3)'])
  expect(named.filter(({ showsOnLoad }) => showsOnLoad).map(({ captionId }) => captionId)).toEqual(['13'])
})

import { z } from 'zod'
import { field, reject } from '../../server/schema/field.ts'
import { flag, oneOf, text } from '../../server/schema/fields.ts'

const length = (description: string) =>
  text(
    4,
    { min: 1, pattern: /^(?:[1-9]\d{0,3}|(?:100|[1-9]\d?)%)$/, message: 'must be 1 to 9999 (pixels) or 1% to 100%' },
    { description: `${description} in pixels, or in percent of the surrounding element.`, example: '640' },
  )

const webAddress = field(readWebAddress, z.string().meta({ description: 'An http or https URL.', example: 'https://www.example.org/news' }))

/** Query parameters of every embed code. */
export const frameQuery = {
  width: length('Width').optional(),
  height: length('Height').optional(),
  token: text(2_000, { min: 1 }, { description: 'A token of the video. The player uses it to play a protected video.' }).optional(),
}

export const positionQuery = {
  element_id: text(
    64,
    { pattern: /^[A-Za-z_][\w-]*$/, message: 'must be an identifier: a letter or _, then letters, digits, _ and -' },
    { description: '`js` only. Id of the page element that the player fills. Without it, the player appears where the code is.' },
  ).optional(),
  referrer_url: webAddress.optional(),
  player: oneOf(['akita', 'poodle', 'pug'], {
    description: 'Design of the controls: `akita` (default), `poodle` (a rounded bar above the picture) or `pug` (a compact bar).',
  }).optional(),
}

export const slidesQuery = {
  show_presentation: flag({ description: '`js` and `facade` only. `true` shows the slides next to the video.' }).optional(),
}

function readWebAddress(value: unknown) {
  const message = 'must be an http or https URL without a user name'
  if (typeof value !== 'string' || value.length > 2_000 || !value.isWellFormed() || !URL.canParse(value)) return reject(message)
  const { protocol, username, password, href } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : reject(message)
}

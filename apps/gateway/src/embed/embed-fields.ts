import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { flag, oneOf, text } from '../fields.ts'

const length = (description: string) =>
  text(
    4,
    { min: 1, pattern: /^(?:[1-9]\d{0,3}|(?:100|[1-9]\d?)%)$/, message: 'must be 1 to 9999 (pixels) or 1% to 100%' },
    { description: `${description}: pixels, or percent of the place where it stands.`, example: '640' },
  )

const webAddress = field(
  readWebAddress,
  z.string().meta({ description: 'An http or https address.', example: 'https://www.example.org/news' }),
)

/** What every code takes. */
export const frameQuery = {
  width: length('Width').optional(),
  height: length('Height').optional(),
  token: text(2_000, { min: 1 }, { description: 'A token of the video: the player shows a protected video with it.' }).optional(),
}

export const placeQuery = {
  element_id: text(
    64,
    { pattern: /^[A-Za-z_][\w-]*$/, message: 'must be an identifier: a letter or _, then letters, digits, _ and -' },
    { description: '`js` only: the element of the page that the player fills; without it the player stands where the code does.' },
  ).optional(),
  referrer_url: webAddress.optional(),
  player: oneOf(['akita', 'poodle', 'pug'], {
    description: '`js` only: names of older players; all are the one player of today.',
  }).optional(),
}

export const slidesQuery = {
  show_presentation: flag({ description: '`js` only: true shows the slides beside the video.' }).optional(),
}

function readWebAddress(value: unknown) {
  const message = 'must be an http or https address without a user name'
  if (typeof value !== 'string' || value.length > 2_000 || !value.isWellFormed() || !URL.canParse(value)) return refuse(message)
  const { protocol, username, password, href } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : refuse(message)
}

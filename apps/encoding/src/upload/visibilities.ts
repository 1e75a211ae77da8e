/** Visibilities of new videos, as in `Video.visibility` of the catalogue. */
export const VISIBILITIES = ['public', 'unlisted', 'private'] as const

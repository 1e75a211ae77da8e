/** Who can find and watch a video. */
export const VISIBILITIES = ['public', 'unlisted', 'private'] as const

import type { OverlayFields } from '../src/overlay/overlay.ts'

/** Returns an overlay with a title only. */
export function createOverlay(fields: Partial<OverlayFields> = {}): OverlayFields {
  return {
    mediaId: '',
    disabled: false,
    atEnd: false,
    startSeconds: undefined,
    endSeconds: undefined,
    title: 'Tickets',
    description: '',
    imagePath: '',
    linkText: '',
    linkAction: '',
    linkUrl: '',
    linkTarget: '',
    linkJavascriptCode: '',
    language: '',
    width: undefined,
    height: undefined,
    ...fields,
  }
}

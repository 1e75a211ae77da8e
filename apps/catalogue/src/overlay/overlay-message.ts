import type { Overlay as Message } from '@vitascope/proto/catalogue/v1/overlay'
import type { Overlay, OverlayFields } from './overlay.ts'

export function toMessage({ organisationId, mediaId, disabled, createTime, updateTime, ...fields }: Overlay): Message {
  return { organisationId, mediaId, disabled, shown: fields, createTime, updateTime }
}

/** Returns the changeable fields of a message. Missing fields become empty. */
export function fromMessage({ mediaId, disabled, shown }: Message): OverlayFields {
  return {
    mediaId,
    disabled,
    atEnd: shown?.atEnd ?? false,
    startSeconds: shown?.startSeconds,
    endSeconds: shown?.endSeconds,
    title: shown?.title ?? '',
    description: shown?.description ?? '',
    imagePath: shown?.imagePath ?? '',
    linkText: shown?.linkText ?? '',
    linkAction: shown?.linkAction ?? '',
    linkUrl: shown?.linkUrl ?? '',
    linkTarget: shown?.linkTarget ?? '',
    linkJavascriptCode: shown?.linkJavascriptCode ?? '',
    language: shown?.language ?? '',
    width: shown?.width,
    height: shown?.height,
  }
}

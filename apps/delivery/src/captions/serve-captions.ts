import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendText } from '../response/send-text.ts'
import { PLAYLIST_TYPE } from '../response/serve-object.ts'
import type { CaptionTexts } from './caption-texts.ts'
import { type CaptionFile, type CaptionSettings, toSavedCaptions, withCaptions, writeCaptionPlaylist } from './hls-captions.ts'

export interface CaptionParts {
  texts: CaptionTexts
  /** Returns the master playlist of the set, without captions. */
  readMaster(): Promise<string>
}

/**
 * Sends the master playlist with the current captions, the playlist of one track, or its text.
 * Their URLs stay the same when captions change.
 */
export async function serveCaptions(
  request: IncomingMessage,
  response: ServerResponse,
  parts: CaptionParts,
  { file, settings, open, isSaved }: { file: CaptionFile; settings: CaptionSettings; open: boolean; isSaved: boolean },
): Promise<void> {
  const type = file.kind === 'text' ? 'text/vtt; charset=utf-8' : PLAYLIST_TYPE
  const text = await renderCaptionFile(parts, file, settings)
  sendText(request, response, isSaved ? toSavedCaptions(text) : text, { type, open })
}

async function renderCaptionFile({ texts, readMaster }: CaptionParts, file: CaptionFile, settings: CaptionSettings): Promise<Buffer> {
  if (file.kind === 'text') return await texts.get(file.track)
  if (file.kind === 'playlist') return Buffer.from(writeCaptionPlaylist(file.captionId, settings.durationSeconds))
  return Buffer.from(withCaptions(await readMaster(), settings.tracks))
}

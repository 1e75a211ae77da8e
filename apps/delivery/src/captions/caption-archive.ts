import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import type { CaptionTexts } from './caption-texts.ts'
import { type CaptionSettings, type CaptionTrack, toSavedCaptions } from './hls-captions.ts'

const NAME = 'captions.zip'
/** The same captions result in the same bytes. */
const MODIFIED = new Date('2020-01-01T00:00:00Z')

/** Returns whether a path denotes the archive of all captions. */
export function isCaptionArchive(file: string, { masterPath }: CaptionSettings): boolean {
  return masterPath !== '' && file === `${masterPath.slice(0, masterPath.lastIndexOf('/') + 1)}${NAME}`
}

/** Returns a ZIP file with the WebVTT text of each track: `LANGUAGE.vtt`, or `LANGUAGE-ID.vtt` if the language has several tracks. */
export async function buildCaptionArchive(texts: CaptionTexts, tracks: readonly CaptionTrack[]): Promise<Buffer> {
  const zip = new ZipFile()
  const languages = tracks.map(({ language }) => language)
  for (const track of tracks) {
    const { language, captionId } = track
    const isUnique = languages.indexOf(language) === languages.lastIndexOf(language)
    const name = `${language.replaceAll(/[^\w-]/g, '_')}${isUnique ? '' : `-${captionId}`}.vtt`
    zip.addBuffer(toSavedCaptions(await texts.get(track)), name, { mtime: MODIFIED, forceDosTimestamp: true })
  }
  zip.end()
  return await buffer(zip.outputStream)
}

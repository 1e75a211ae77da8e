import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Payload } from '@vitascope/sdk'
import { type Context, UsageError } from '../context.ts'
import { printObject } from '../output.ts'

const FORMATS = ['srt', 'sbv', 'sub', 'vtt'] as const satisfies Payload<'createCaptions'>['format'][]

export interface CaptionFlags {
  language: string
  title?: string
}

/** Adds the captions of a file to a video, and prints their id. The title is the name of the language by default. */
export async function addCaptions(videoId: string, file: string, { language, title }: CaptionFlags, context: Context): Promise<void> {
  const { vitascope, output, signal } = context
  const format = FORMATS.find((ending) => extname(file).toLowerCase() === `.${ending}`)
  if (format === undefined) throw new UsageError(`${file} has no ending of a caption file: ${FORMATS.map((one) => `.${one}`).join(', ')}`)
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${error.code ?? error.message}`)
  })
  const { media_id } = await vitascope.videos.get(videoId, { signal })
  const payload = { media_id, title: title ?? nameLanguage(language), language, format, content }
  const lines = await vitascope.call('createCaptions', { payload, signal })
  printObject(output, {
    video_id: videoId,
    caption_id: lines[0]?.caption_id ?? '',
    title: lines[0]?.title ?? payload.title,
    language,
    lines: lines.length,
  })
}

/** Returns the name of a language in that language, or its code if it has no name. */
function nameLanguage(language: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
  } catch (error) {
    if (error instanceof RangeError) return language
    throw error
  }
}

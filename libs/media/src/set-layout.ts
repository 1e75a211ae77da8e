import { basename } from 'node:path'

/** Folder of a finished set in the scratch folder. No tool writes to it. */
export const setFolder = 'set'

/**
 * Folder that tools write images and packaged files to. Its files are linked to their target when a
 * run has ended.
 */
export const outputFolder = 'made'

/** Returns the path where a tool writes a file, by the path of its target. */
export function outputFile(path: string): string {
  return `${outputFolder}/${basename(path)}`
}

/** Names in the folder of the set. */
export const setLayout = {
  mp4: (renditionKey: string) => `${renditionKey}.mp4`,
  hlsFolder: 'hls',
  master: 'hls/master.m3u8',
  playlist: (key: string) => `hls/${key}/index.m3u8`,
  imageFolder: 'images',
  image: (imageKey: string) => `images/${imageKey}.jpg`,
  /** The storyboard is in the same folder as its sprites. */
  storyboard: 'images/storyboard.vtt',
  preview: 'images/preview.gif',
  sound: 'sound.m4a',
}

/** The folder of a finished set inside the scratch folder, and the names in it. */
export const setFolder = 'set'

export const setLayout = {
  mp4: (renditionKey: string) => `${renditionKey}.mp4`,
  hlsFolder: 'hls',
  master: 'hls/master.m3u8',
  playlist: (key: string) => `hls/${key}/index.m3u8`,
  imageFolder: 'images',
  image: (imageKey: string) => `images/${imageKey}.jpg`,
  /** Beside the sprites that it names. */
  storyboard: 'images/storyboard.vtt',
  preview: 'images/preview.gif',
  sound: 'sound.m4a',
}

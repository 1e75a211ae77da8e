/** Settings of an image, which the Dockerfile and the release share. */
export interface ImageConfig {
  title: string
  description: string
  entrypoint: readonly string[]
  command: readonly string[]
}

export type ImageName = 'server' | 'encoding'

export const IMAGES: Readonly<Record<ImageName, ImageConfig>> = {
  server: {
    title: 'Vitascope',
    description: 'Every service of Vitascope; the argument says which',
    entrypoint: ['node', '--disable-warning=ExperimentalWarning'],
    command: ['apps/gateway/src/main.ts'],
  },
  encoding: {
    title: 'Vitascope encoding',
    description: 'Every service of Vitascope, and ffmpeg; workers unless the argument says another',
    entrypoint: ['tini', '--', 'node', '--disable-warning=ExperimentalWarning', '--single-threaded-gc'],
    command: ['apps/encoding/src/worker/main.ts'],
  },
}

/** User and group of the processes. They own the folders of `STATE_FOLDER`. */
export const USER = 10001
export const WORK_FOLDER = '/app'
export const STATE_FOLDER = 'var/lib/vitascope'
/** Folders of data, each of which is a volume. */
export const STATE_FOLDERS = ['scratch', 'spool', 'objects', 'backup'] as const

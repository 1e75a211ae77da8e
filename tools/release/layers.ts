import { readdirSync } from 'node:fs'
import { run } from './run.ts'

/** Owner and permissions of all entries of a layer. */
export interface LayerOptions {
  /** Numeric user and group, 0 by default. */
  owner?: number
  /**
   * Changes of permissions in the form of chmod. By default, all entries are readable, which does not
   * depend on the umask of the machine, and set-user-ID and set-group-ID bits are removed.
   */
  mode?: string
  /** Paths to include, all by default. Their parent folders are not part of the layer. */
  entries?: readonly string[]
}

/** Permissions of the project's files. */
export const READ_ONLY = 'a+rX,go-w,u-s,g-s'

/**
 * Writes the content of a folder as the layer of an image. Equal content results in equal bytes: entries
 * are sorted, their times are zero, and their owners are numeric.
 */
export async function writeLayer(
  folder: string,
  file: string,
  { owner = 0, mode = 'a+rX,u-s,g-s', entries }: LayerOptions = {},
): Promise<void> {
  await run(
    'tar',
    [
      '--create',
      `--file=${file}`,
      '--format=gnu',
      '--sort=name',
      '--mtime=@0',
      `--owner=${owner}`,
      `--group=${owner}`,
      '--numeric-owner',
      `--mode=${mode}`,
      // Without a name and a time in the header.
      '--use-compress-program=gzip --no-name',
      `--directory=${folder}`,
      '--',
      ...(entries ?? readdirSync(folder).sort()),
    ],
    { LC_ALL: 'C', TZ: 'UTC' },
  )
}

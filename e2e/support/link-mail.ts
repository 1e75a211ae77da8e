import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@vitascope/testing'
import PostalMime from 'postal-mime'
import type { Fixture } from './table-row.ts'

/** Waits for the mail with a sign-in link to an address. Returns its subject and the secret of the link. */
export async function readLinkMail({ platform }: Pick<Fixture, 'platform'>, email: string): Promise<{ subject: string; link: string }> {
  const folder = join(platform.dataDir, 'mail')
  return waitFor(
    async () => {
      const names = await readdir(folder).catch(() => [])
      for (const name of names.filter((file) => file.endsWith('.eml'))) {
        const { to, subject = '', text = '' } = await PostalMime.parse(await readFile(join(folder, name)))
        const [, link] = /\/console\/sign-in#link=([\w-]{43})\n/.exec(text) ?? []
        if (link !== undefined && to?.some(({ address }) => address === email)) return { subject, link }
      }
      return undefined
    },
    { timeout: 20_000, describe: `a mail to ${email}` },
  )
}

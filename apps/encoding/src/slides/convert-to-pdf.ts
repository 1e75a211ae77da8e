import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  createRunFolders,
  InvalidSource,
  isEncodeError,
  linkOutput,
  linkSource,
  sandboxFor,
  sourceName,
  withOutput,
} from '@vitascope/media'
import { runLibreOffice, SANDBOX_FOLDER } from './libreoffice-sandbox.ts'
import { slideLimits } from './slide-limits.ts'

export interface Conversion {
  /** Path of the presentation. */
  file: string
  format: 'pptx' | 'odp'
  /** An empty folder for LibreOffice. */
  folder: string
  /** Path of the resulting PDF. No tool writes to its folder. */
  pdf: string
  /** Path of LibreOffice. Undefined if there is none. */
  office: string | undefined
  signal: AbortSignal
}

/** The only import filter that LibreOffice may use for the file, whatever it detects. */
const FILTERS = { pptx: 'Impress MS PowerPoint 2007 XML', odp: 'impress8' } as const
const RESTART_REQUESTED = 'exit code 81'

/** Converts a presentation to PDF with LibreOffice in a sandbox. Throws `InvalidSource`. */
export async function convertToPdf({ file, format, folder, pdf, office, signal }: Conversion): Promise<void> {
  const kind = format.toUpperCase()
  if (office === undefined) {
    throw new InvalidSource(4002, `converting ${kind} files requires LibreOffice, which is not installed: upload the presentation as PDF`)
  }
  const sandbox = await sandboxFor(office, 'all')
  await linkSource(file, folder, sandbox)
  const source = `source.${format}`
  await rename(join(folder, sourceName), join(folder, source))
  await writeProfile(folder)
  await createRunFolders(sandbox, folder, ['.', 'profile', 'profile/user'])
  const convert = () =>
    runLibreOffice({
      office,
      args: [
        ...['--headless', '--invisible', '--norestore', '--nodefault', '--nolockcheck', '--nologo', '--nofirststartwizard'],
        `-env:UserInstallation=file://${SANDBOX_FOLDER}/profile`,
        `--infilter=${FILTERS[format]}`,
        ...['--convert-to', 'pdf', '--outdir', SANDBOX_FOLDER, `${SANDBOX_FOLDER}/${source}`],
      ],
      folder,
      limits: {
        cpuSeconds: slideLimits.convertSeconds,
        wallSeconds: slideLimits.convertSeconds,
        // LibreOffice prints nothing while it works.
        stallSeconds: slideLimits.convertSeconds,
        memoryBytes: slideLimits.convertMemoryBytes,
        fileBytes: slideLimits.fileBytes,
      },
      signal,
    })
  try {
    await convert().catch((error: unknown) => {
      // With a new profile, LibreOffice sets it up and requests a second start.
      if (isEncodeError(error) && error.message === RESTART_REQUESTED) return convert()
      throw error
    })
  } catch (error) {
    const isInternal = !isEncodeError(error) || error.kind === 'aborted' || error.kind === 'crashed'
    throw isInternal ? error : new InvalidSource(4002, `this ${kind} file cannot be converted within the limits of time and memory`, error)
  }
  const conversionFailed = (cause?: unknown) => new InvalidSource(4002, `LibreOffice could not convert this ${kind} file to PDF`, cause)
  await withOutput(folder, 'source.pdf', async (output) => {
    if (output.bytes > slideLimits.bytes) throw conversionFailed()
    await linkOutput(output, pdf)
  }).catch((error: unknown) => {
    throw isEncodeError(error) ? conversionFailed(error) : error
  })
}

/** Writes a profile that disables macros and active content. */
async function writeProfile(folder: string): Promise<void> {
  const path = join(folder, 'profile/user/registrymodifications.xcu')
  await mkdir(dirname(path), { recursive: true })
  const setting = (name: string, value: string) =>
    `<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`
  const settings = [setting('DisableMacrosExecution', 'true'), setting('MacroSecurityLevel', '3'), setting('DisableActiveContent', 'true')]
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${settings.join('\n')}
</oor:items>
`
  await writeFile(path, text, { mode: 0o666 })
}

import { chmod, copyFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { EncodeFailed, isEncodeFailed, lockedRun, SourceRefused } from '@vitascope/media'
import { slideLimits } from './slide-limits.ts'

export interface DrawnPage {
  page: number
  /** Pixels: RGBA in `page-N.raw`. */
  width: number
  height: number
}

export interface PageRun {
  /** Holds the PDF as `source`, and what `readyRenderer` put there. */
  folder: string
  from: number
  to: number
  /** For all of these pages, and for one of them. */
  wallSeconds: number
  pageSeconds: number
  onPage: () => void
  signal: AbortSignal
}

const RENDERER = 'page-renderer.mts'

/** Puts the program that draws into the folder in which it will be locked up. */
export async function readyRenderer(folder: string): Promise<void> {
  const require = createRequire(import.meta.url)
  const files = {
    [RENDERER]: join(import.meta.dirname, RENDERER),
    'pdfium.mjs': require.resolve('@hyzyla/pdfium/dist/index.esm.js'),
    'pdfium.wasm': require.resolve('@hyzyla/pdfium/dist/pdfium.wasm'),
  }
  for (const [name, file] of Object.entries(files)) {
    await copyFile(file, join(folder, name))
    await chmod(join(folder, name), 0o644)
  }
}

/**
 * Draws some pages of a PDF in a process of its own: PDFium as WebAssembly in Node, locked up as ffmpeg is, without network, environment or
 * another file than those of its folder. Answers how many pages there are and those that were drawn. Throws `SourceRefused` for a file that
 * cannot be drawn within the limits, and `EncodeFailed` when the process was ended by something else.
 */
export async function renderPages(run: PageRun): Promise<{ pages: number; drawn: DrawnPage[] }> {
  const { folder, from, to, signal } = run
  const said: Line[] = []
  const count = to - from + 1
  await lockedRun({
    tool: process.execPath,
    // A path through /proc leads to the folder itself: its parents may be closed to the user that this runs as.
    args: [
      ...['--preserve-symlinks', '--preserve-symlinks-main', '--disable-warning=ExperimentalWarning', '--max-old-space-size=256'],
      `/proc/self/cwd/${RENDERER}`,
      ...[from, to, slideLimits.side, slideLimits.pages].map(String),
    ],
    scratch: folder,
    limits: {
      cpuSeconds: run.wallSeconds,
      wallSeconds: run.wallSeconds,
      stallSeconds: run.pageSeconds,
      memoryBytes: slideLimits.drawMemoryBytes,
      fileBytes: slideLimits.fileBytes,
    },
    onLine: (text) => {
      // It says no more than this, unless it was made to.
      if (said.length > count + 2) return false
      const line = readLine(text)
      said.push(line)
      if (line.page !== undefined) run.onPage()
      return true
    },
    signal,
  }).catch((error: unknown) => {
    throw asRefusal(error, from + said.filter(({ page }) => page !== undefined).length)
  })
  return drawnOf(said, from, to)
}

/** What the renderer says; nothing of it is sure to be true. */
interface Line {
  pages?: number
  page?: number
  width?: number
  height?: number
  refused?: string
  done?: boolean
}

function readLine(text: string): Line {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line
  } catch {
    // Falls through.
  }
  throw new EncodeFailed('incomplete', 'the renderer says something else than what it did', text.slice(0, 500))
}

function drawnOf(said: readonly Line[], from: number, to: number): { pages: number; drawn: DrawnPage[] } {
  const refused = said.find((line) => line.refused !== undefined)?.refused
  if (refused !== undefined) throw new SourceRefused(4002, `no slides can be made of this file: ${String(refused).slice(0, 100)}`)
  const pages = said[0]?.pages ?? 0
  const drawn = said.flatMap(({ page, width, height }) => (isPixels(width) && isPixels(height) && page ? [{ page, width, height }] : []))
  const last = Math.min(to, pages)
  const isWhole = drawn.length === last - from + 1 && drawn.every(({ page }, index) => page === from + index)
  const isCount = Number.isInteger(pages) && pages >= 1 && pages <= slideLimits.pages
  if (!isCount || !isWhole || said.at(-1)?.done !== true) throw new EncodeFailed('incomplete', 'the renderer did not draw all pages')
  return { pages, drawn }
}

function isPixels(value: number | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= slideLimits.side
}

/** A renderer that was stopped by its limits was given a file that is not to be drawn; one that was killed can be tried again. */
function asRefusal(error: unknown, page: number): unknown {
  if (!isEncodeFailed(error)) return error
  const reasons: Partial<Record<EncodeFailed['kind'], string>> = {
    stalled: 'takes too long to draw',
    timeout: 'takes too long to draw',
    out_of_memory: 'needs too much memory',
    output_too_large: 'needs too much room',
  }
  const reason = reasons[error.kind]
  return reason ? new SourceRefused(4002, `no slides can be made of this file: page ${page} ${reason}`, error) : error
}

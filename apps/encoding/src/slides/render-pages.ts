import { chmod, copyFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { EncodeError, InvalidSource, isEncodeError, runSandboxed } from '@vitascope/media'
import { slideLimits } from './slide-limits.ts'

export interface RenderedPage {
  page: number
  /** Size of the RGBA pixels in `rawFile(page)`. */
  width: number
  height: number
}

export interface PageRun {
  /** Contains the PDF as `source`, and the files of `installRenderer`. */
  folder: string
  from: number
  to: number
  /** Time limits for all of these pages, and for each one. */
  wallSeconds: number
  pageSeconds: number
  onPage: () => void
  signal: AbortSignal
}

const RENDERER = 'page-renderer.mts'
/** Output folder of the renderer, emptied before each run. */
const RAW_FOLDER = 'raw'

/** Returns the path of a page's pixels, relative to the folder of the run. */
export function rawFile(page: number): string {
  return `${RAW_FOLDER}/page-${page}.raw`
}

/** Copies the renderer into the folder of its sandbox. */
export async function installRenderer(folder: string): Promise<void> {
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
 * Renders some pages of a PDF in a separate process: PDFium as WebAssembly in Node, in the same
 * sandbox as ffmpeg, without network, environment or files outside of its folder. Returns the
 * number of pages and the rendered ones. Throws `InvalidSource` for a file that cannot be rendered
 * within the limits, and `EncodeError` if the process ended for another reason.
 */
export async function renderPages(run: PageRun): Promise<{ pages: number; rendered: RenderedPage[] }> {
  const { folder, from, to, signal } = run
  const lines: Line[] = []
  const count = to - from + 1
  await rm(join(folder, RAW_FOLDER), { recursive: true, force: true })
  await runSandboxed({
    tool: process.execPath,
    // A path through /proc refers to the folder itself, because the sandbox user may have no access
    // to its parents.
    args: [
      ...['--preserve-symlinks', '--preserve-symlinks-main', '--disable-warning=ExperimentalWarning', '--max-old-space-size=256'],
      `/proc/self/cwd/${RENDERER}`,
      ...[from, to, slideLimits.side, slideLimits.pages].map(String),
    ],
    scratch: folder,
    writes: [RAW_FOLDER],
    limits: {
      cpuSeconds: run.wallSeconds,
      wallSeconds: run.wallSeconds,
      stallSeconds: run.pageSeconds,
      memoryBytes: slideLimits.renderMemoryBytes,
      fileBytes: slideLimits.fileBytes,
    },
    onLine: (text) => {
      // More lines than this come only from a compromised renderer.
      if (lines.length > count + 2) return false
      const line = readLine(text)
      lines.push(line)
      if (line.page !== undefined) run.onPage()
      return true
    },
    signal,
  }).catch((error: unknown) => {
    throw toSourceError(error, from + lines.filter(({ page }) => page !== undefined).length)
  })
  return checkOutput(lines, from, to)
}

/** A line of the renderer's output, which is untrusted. */
interface Line {
  pages?: number
  page?: number
  width?: number
  height?: number
  error?: string
  done?: boolean
}

function readLine(text: string): Line {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line
  } catch {
    // Rejected below.
  }
  throw new EncodeError('incomplete', 'the renderer wrote a malformed line', text.slice(0, 500))
}

function checkOutput(lines: readonly Line[], from: number, to: number): { pages: number; rendered: RenderedPage[] } {
  const error = lines.find((line) => line.error !== undefined)?.error
  if (error !== undefined) throw new InvalidSource(4002, `this file cannot be converted to slides: ${String(error).slice(0, 100)}`)
  const pages = lines[0]?.pages ?? 0
  const rendered = lines.flatMap(({ page, width, height }) =>
    isPixels(width) && isPixels(height) && page ? [{ page, width, height }] : [],
  )
  const last = Math.min(to, pages)
  const isComplete = rendered.length === last - from + 1 && rendered.every(({ page }, index) => page === from + index)
  const isCount = Number.isInteger(pages) && pages >= 1 && pages <= slideLimits.pages
  if (!isCount || !isComplete || lines.at(-1)?.done !== true) throw new EncodeError('incomplete', 'the renderer did not render all pages')
  return { pages, rendered }
}

function isPixels(value: number | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= slideLimits.side
}

/**
 * Returns `InvalidSource` for a renderer that exceeded its limits, because the file cannot be
 * rendered. Returns any other error unchanged. A retry may then succeed, for example after the
 * renderer was killed.
 */
function toSourceError(error: unknown, page: number): unknown {
  if (!isEncodeError(error)) return error
  const reasons: Partial<Record<EncodeError['kind'], string>> = {
    stalled: 'takes too long to render',
    timeout: 'takes too long to render',
    out_of_memory: 'needs too much memory',
    output_too_large: 'writes too much data',
  }
  const reason = reasons[error.kind]
  return reason ? new InvalidSource(4002, `this file cannot be converted to slides: page ${page} ${reason}`, error) : error
}

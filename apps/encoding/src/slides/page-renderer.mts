import { readFileSync, writeFileSync } from 'node:fs'

// Runs as a sandboxed process in a folder with `source`, `pdfium.mjs` and `pdfium.wasm` (see
// render-pages.ts). It writes the pixels of the pages FROM to TO to raw/page-N.raw, and reports its
// progress as lines of JSON. The file is untrusted: any error here is reported as a fault of the
// file. The parent process detects a crash.

const [from = 1, to = 1, side = 1, maxPages = 1] = process.argv.slice(2).map(Number)

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/**
 * Minimum side of a page in pixels. Thinner pages are widened, because a line of pixels is not a
 * usable image.
 */
const MIN_SIDE = 16

function fitIntoSide(width: number, height: number): { width: number; height: number } {
  const share = side / Math.max(width, height)
  const [w = 1, h = 1] = [width, height].map((length) => Math.min(side, Math.max(MIN_SIDE, Math.round(length * share))))
  return { width: w, height: h }
}

async function render(): Promise<void> {
  const moduleUrl = new URL('pdfium.mjs', import.meta.url).href
  // The package's own module, copied into this folder, because the sandbox user cannot read the
  // platform's folder.
  const { PDFiumLibrary } = (await import(moduleUrl)) as typeof import('@hyzyla/pdfium')
  const wasmBinary = new Uint8Array(readFileSync('pdfium.wasm')).buffer
  const pdfium = await PDFiumLibrary.init({ wasmBinary })
  const document = await pdfium.loadDocument(readFileSync('source'))
  const pages = document.getPageCount()
  if (pages < 1) return report({ error: 'it has no pages' })
  if (pages > maxPages) return report({ error: `it has ${pages} pages; the maximum is ${maxPages}` })
  report({ pages })
  for (let number = from; number <= Math.min(to, pages); number++) {
    const page = document.getPage(number - 1)
    const { originalWidth, originalHeight } = page.getOriginalSize()
    if (!(originalWidth > 0 && originalHeight > 0)) return report({ error: `page ${number} cannot be read` })
    const { width, height, data } = await page.render(fitIntoSide(originalWidth, originalHeight))
    writeFileSync(`raw/page-${number}.raw`, data, { flag: 'wx' })
    report({ page: number, width, height })
  }
  report({ done: true })
}

try {
  await render()
} catch (error) {
  const message = error instanceof Error ? error.message : ''
  report({ error: /password/i.test(message) ? 'it is protected by a password' : 'it cannot be read', detail: message.slice(0, 500) })
}

/**
 * What one file of slides may be, and may cost. Past any of it the file is refused with 4002: a file can be made that would keep a machine busy
 * for ever, and trying again changes nothing.
 */
export const slideLimits = {
  /** Of the file. */
  bytes: 100 * 2 ** 20,
  pages: 300,
  /** The longest side of a picture, in pixels, and of a thumbnail. */
  side: 1920,
  thumbnailSide: 320,
  /** For drawing all pages together. */
  drawSeconds: 900,
  /** For LibreOffice. */
  convertSeconds: 300,
  /** Of the process that draws: the engine of Node reserves some 600 MiB of it, without using them. */
  drawMemoryBytes: 1.5 * 2 ** 30,
  convertMemoryBytes: 2 * 2 ** 30,
  /** Of each file that is written on the way: pixels of one page, a PDF. */
  fileBytes: 200 * 2 ** 20,
  /** Of the scratch folder: the PDF, pages that are being drawn, and the pictures of all. */
  scratchBytes: 2 ** 30,
} as const

/** Pages drawn by one process: so many pictures of up to 15 MB lie in the scratch folder at once. */
export const PAGES_AT_ONCE = 10

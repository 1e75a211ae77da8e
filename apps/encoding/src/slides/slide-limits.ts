/**
 * Limits of a presentation. A file beyond any of them is rejected with 4002 and without a retry,
 * because a crafted file could occupy a worker forever.
 */
export const slideLimits = {
  /** Size of the file. */
  bytes: 100 * 2 ** 20,
  pages: 300,
  /** Longest side of an image and of a thumbnail, in pixels. */
  side: 1920,
  thumbnailSide: 320,
  /** Time limit for rendering all pages. */
  renderSeconds: 900,
  /** Time limit for LibreOffice. */
  convertSeconds: 300,
  /**
   * Address space of the renderer. V8 reserves about 600 MiB of it and does not use them.
   */
  renderMemoryBytes: 1.5 * 2 ** 30,
  convertMemoryBytes: 2 * 2 ** 30,
  /** Size of each intermediate file: the pixels of one page, or a PDF. */
  fileBytes: 200 * 2 ** 20,
  /** Scratch space that a task reserves: for the PDF, the pages in progress, and all images. It is not a limit of the file. */
  scratchBytes: 2 ** 30,
} as const

/**
 * Pages per renderer process, and so the number of raw images (up to 15 MB each) in the scratch
 * folder.
 */
export const PAGES_PER_RUN = 10

const MAX_WIDTH = 320
const TIMEOUT_MS = 10_000
/** The first picture of many videos is black. */
const PICTURE_SECONDS = 1

/** Returns a picture of a video file, or undefined if the browser cannot play the file. */
export async function drawPreview(file: File): Promise<HTMLCanvasElement | undefined> {
  if (!file.type.startsWith('video/')) return undefined
  const url = URL.createObjectURL(file)
  const video = document.createElement('video')
  try {
    video.muted = true
    video.preload = 'auto'
    video.src = url
    await once(video, 'loadeddata')
    if (video.duration > 2 * PICTURE_SECONDS) {
      video.currentTime = PICTURE_SECONDS
      await once(video, 'seeked')
    }
    return drawPicture(video)
  } catch {
    return undefined
  } finally {
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(url)
  }
}

function drawPicture(video: HTMLVideoElement): HTMLCanvasElement | undefined {
  if (video.videoWidth === 0) return undefined
  const canvas = document.createElement('canvas')
  canvas.width = Math.min(video.videoWidth, MAX_WIDTH)
  canvas.height = Math.round((canvas.width * video.videoHeight) / video.videoWidth)
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
  return canvas
}

function once(video: HTMLVideoElement, event: 'loadeddata' | 'seeked'): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { once: true, signal: AbortSignal.timeout(TIMEOUT_MS) }
    options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true })
    video.addEventListener('error', () => reject(video.error), options)
    video.addEventListener(event, () => resolve(), options)
  })
}

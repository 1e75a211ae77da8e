import { useInViewport } from '@mantine/hooks'
import { IconVideo } from '@tabler/icons-react'
import type { Schemas } from '@vitascope/sdk'
import { useEffect, useState } from 'react'
import { formatDuration } from '../layout/format.ts'
import { usePlaybackToken, withToken } from '../player/use-playback-token.ts'

/** Each still of the preview is shown this long while the pointer is over the picture. */
const PREVIEW_MS = 700

/**
 * Picture of a video. While the pointer is over it, it shows stills at a quarter, half and three quarters. For a private
 * or protected video it creates a token once the picture is in the visible part of the page.
 */
export function VideoThumbnail({ video }: { video: Schemas['Video'] }) {
  const [isHovered, setHovered] = useState(false)
  const [still, setStill] = useState(0)
  /** Address of the last picture that could not be loaded. */
  const [failed, setFailed] = useState<string>()
  const { ref, inViewport } = useInViewport<HTMLSpanElement>()
  const { isRequired, token } = usePlaybackToken(video, inViewport)
  const { thumbnail, all_thumbnails } = video.uri
  const stills = [all_thumbnails['25'], all_thumbnails['50'], all_thumbnails['75']].filter((url) => url !== '')
  useEffect(() => {
    if (!isHovered || stills.length === 0) return
    setStill(0)
    const timer = setInterval(() => setStill((shown) => shown + 1), PREVIEW_MS)
    return () => clearInterval(timer)
  }, [isHovered, stills.length])
  const source = withToken((isHovered && stills[still % stills.length]) || thumbnail, token)
  const isShown = source !== '' && source !== failed && !(isRequired && token === undefined)
  return (
    <span ref={ref} className="thumbnail" onPointerEnter={() => setHovered(true)} onPointerLeave={() => setHovered(false)}>
      {isShown ? (
        <img src={source} alt="" loading="lazy" decoding="async" onError={() => setFailed(source)} />
      ) : (
        <IconVideo size={36} stroke={1.2} aria-hidden="true" />
      )}
      {video.duration !== '' && <span className="thumbnail-duration">{formatDuration(video.duration)}</span>}
    </span>
  )
}

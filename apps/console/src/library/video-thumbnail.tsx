import { IconVideo } from '@tabler/icons-react'
import type { Schemas } from '@vitascope/sdk'
import { useEffect, useState } from 'react'
import { formatDuration } from '../layout/format.ts'

/** Each still of the preview is shown this long while the pointer is over the picture. */
const PREVIEW_MS = 700

/** Picture of a video. While the pointer is over it, it shows stills at a quarter, half and three quarters. */
export function VideoThumbnail({ video }: { video: Schemas['Video'] }) {
  const [isHovered, setHovered] = useState(false)
  const [still, setStill] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  const { thumbnail, all_thumbnails } = video.uri
  const stills = [all_thumbnails['25'], all_thumbnails['50'], all_thumbnails['75']].filter((url) => url !== '')
  useEffect(() => {
    if (!isHovered || stills.length === 0) return
    setStill(0)
    const timer = setInterval(() => setStill((shown) => shown + 1), PREVIEW_MS)
    return () => clearInterval(timer)
  }, [isHovered, stills.length])
  const source = (isHovered && stills[still % stills.length]) || thumbnail
  return (
    <span className="thumbnail" onPointerEnter={() => setHovered(true)} onPointerLeave={() => setHovered(false)}>
      {source === '' || hasFailed ? (
        <IconVideo size={36} stroke={1.2} aria-hidden="true" />
      ) : (
        <img src={source} alt="" loading="lazy" decoding="async" onError={() => setFailed(true)} />
      )}
      {video.duration !== '' && <span className="thumbnail-duration">{formatDuration(video.duration)}</span>}
    </span>
  )
}

'use client'

import { createElement, type ReactElement, useEffect, useRef } from 'react'
import type { VitascopePlayerElement } from './element.ts'
import './element.ts'
import type { EventMessage, Player, PlayerEventName } from './player.ts'

type Listener = (event: EventMessage) => void

export interface VitascopePlayerProps {
  /** URL of the platform. */
  host: string
  /** Id of a video or playlist. */
  video: string
  title?: string
  token?: string
  autoplay?: boolean
  muted?: boolean
  loop?: boolean
  presentation?: boolean
  /** Seconds, or `1m30s`. */
  start?: number | string
  end?: number | string
  lang?: string
  /** Design of the controls. */
  player?: 'akita' | 'poodle' | 'pug'
  className?: string
  /** Called with the controls of the player when it accepts commands. */
  onReady?: (player: Player) => void
  onPlay?: Listener
  onPause?: Listener
  onTimeUpdate?: Listener
  onEnded?: Listener
  onError?: Listener
  onTrackChange?: Listener
  onChapterChange?: Listener
  onQualityChange?: Listener
  onVolumeChange?: Listener
  onRateChange?: Listener
  /** Called when the player refuses a command, with the reason. */
  onRefused?: Listener
}

/** Shows a video of the platform. */
export function VitascopePlayer(props: VitascopePlayerProps): ReactElement {
  const { host, video, title, token, autoplay, muted, loop, presentation, start, end, lang, player, className } = props
  const element = useRef<VitascopePlayerElement>(null)
  const current = useRef(props)
  current.current = props
  useEffect(() => {
    const target = element.current
    if (!target) return
    const stop = new AbortController()
    const listen = (event: PlayerEventName, read: () => Listener | undefined) =>
      target.addEventListener(event, (dispatched) => dispatched instanceof CustomEvent && read()?.(dispatched.detail), {
        signal: stop.signal,
      })
    listen('play', () => current.current.onPlay)
    listen('pause', () => current.current.onPause)
    listen('timeupdate', () => current.current.onTimeUpdate)
    listen('ended', () => current.current.onEnded)
    listen('error', () => current.current.onError)
    listen('trackchange', () => current.current.onTrackChange)
    listen('chapterchange', () => current.current.onChapterChange)
    listen('qualitychange', () => current.current.onQualityChange)
    listen('volumechange', () => current.current.onVolumeChange)
    listen('ratechange', () => current.current.onRateChange)
    listen('refused', () => current.current.onRefused)
    target.addEventListener('ready', () => target.controller && current.current.onReady?.(target.controller), { signal: stop.signal })
    return () => stop.abort()
  }, [])
  // React 18 would set the attribute `false`.
  const flag = (isOn: boolean | undefined) => isOn || undefined
  return createElement('vitascope-player', {
    ref: element,
    ...{ host, video, title, token, start, end, lang, player, class: className },
    ...{ autoplay: flag(autoplay), muted: flag(muted), loop: flag(loop), presentation: flag(presentation) },
  })
}

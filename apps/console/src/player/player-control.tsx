import { createPlayer, type Player, PlayerError } from '@vitascope/player'
import { createContext, type ReactNode, type RefCallback, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError, notifyWarning } from '../layout/notify.ts'

interface Connection {
  /** Undefined while no player is shown. */
  player: Player | undefined
  frame: HTMLIFrameElement | undefined
  /** Reference of the frame of the player. */
  attach: RefCallback<HTMLIFrameElement>
}

const PlayerContext = createContext<Connection | undefined>(undefined)

/** Connects the player of a page with the components that control it. */
export function PlayerProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ player: Player; frame: HTMLIFrameElement }>()
  const attach = useCallback((frame: HTMLIFrameElement) => {
    const created = createPlayer(frame)
    setShown({ player: created, frame })
    return () => {
      created.destroy()
      setShown(undefined)
    }
  }, [])
  const connection = useMemo<Connection>(
    () => ({ player: shown?.player, frame: shown?.frame, attach: attach as RefCallback<HTMLIFrameElement> }),
    [shown, attach],
  )
  return <PlayerContext value={connection}>{children}</PlayerContext>
}

/** Returns the connection to the player. It may be called only below `PlayerProvider`. */
export function usePlayerConnection(): Connection {
  const connection = useContext(PlayerContext)
  if (!connection) throw new Error('there is no player provider above this component')
  return connection
}

/** Actions of the player that show a message if the player cannot execute them. */
export function usePlayerActions() {
  const { t } = useTranslation()
  const { player } = usePlayerConnection()
  const run = async <T,>(action: (connected: Player) => Promise<T>): Promise<T | undefined> => {
    if (!player) {
      notifyWarning(t('player.unavailable'))
      return undefined
    }
    try {
      return await action(player)
    } catch (error) {
      if (error instanceof PlayerError) notifyWarning(t('player.unavailable'))
      else notifyError(error)
      return undefined
    }
  }
  return {
    /** Moves to a time in seconds, and pauses there. */
    jump: (seconds: number) =>
      run(async (connected) => {
        await connected.pause()
        await connected.seek(seconds)
      }),
    /** Returns the current time in seconds, or undefined if there is none. */
    readTime: () => run(async (connected) => (await connected.getState()).currentTime),
  }
}

/** Returns the current time of the player in seconds. It changes four times a second during playback. */
export function usePlayerTime(): number {
  const { player } = usePlayerConnection()
  const [time, setTime] = useState(0)
  useEffect(() => player?.on('timeupdate', ({ state }) => setTime(state?.currentTime ?? 0)), [player])
  return time
}

import { useSessionStorage } from '@mantine/hooks'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Result, Schemas, Vitascope } from '@vitascope/sdk'
import { VitascopeError } from '@vitascope/sdk'
import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react'
import { createClient, guestClient } from './client.ts'

/** Who has signed in, and the organisation whose content is shown. */
export interface Session {
  user: Schemas['User']
  api: Vitascope
  /** Id of the organisation that is shown. System users can select another one than their own. */
  organisationId: string
  selectOrganisation: (organisationId: string) => void
  mayManageUsers: boolean
  isSystem: boolean
}

/** Sends the id of the user who has signed in to the other tabs of this browser, or an empty text after a sign-out. */
const tabs = new BroadcastChannel('vitascope-session')

const SessionContext = createContext<Session | undefined>(undefined)
export const SESSION_KEY = ['session']
/** Statuses of a request without a session. */
const NO_SESSION = new Set([401, 404])

/** Reads the session of the cookie. The result is null without a session, or if the organisation of its user is inactive. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      try {
        return await guestClient.call('getOwnSession', { signal })
      } catch (error) {
        if (error instanceof VitascopeError && (NO_SESSION.has(error.status) || error.code === 'organisation_inactive')) return null
        throw error
      }
    },
  })
}

type OwnSession = Result<'getOwnSession'> | null

/** Stores that a user has signed in, or out with null, and reports it to the other tabs of this browser. */
export function storeSession(queryClient: QueryClient, session: OwnSession): void {
  showSession(queryClient, session)
  tabs.postMessage(session?.user.user_id ?? '')
}

/** Shows the pages of a session, or the sign-in page with null. Records that were loaded for another user are removed. */
export function showSession(queryClient: QueryClient, session: OwnSession): void {
  const before = queryClient.getQueryData<OwnSession>(SESSION_KEY)
  queryClient.setQueryData(SESSION_KEY, session)
  if (before?.user.user_id !== session?.user.user_id) removeRecords(queryClient)
}

/** Removes everything that was loaded, except the session. */
function removeRecords(queryClient: QueryClient): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
}

/** Calls `onOther` when another tab of this browser has signed out, or signed in another user than this one. */
export function useSessionOfOtherTabs(userId: string, onOther: () => void): void {
  useEffect(() => {
    const onMessage = ({ data }: MessageEvent<unknown>) => {
      if (data !== userId) onOther()
    }
    tabs.addEventListener('message', onMessage)
    return () => tabs.removeEventListener('message', onMessage)
  }, [userId, onOther])
}

/** Provides the session to the pages below. */
export function SessionProvider({ user, children }: { user: Schemas['User']; children: ReactNode }) {
  const isSystem = user.user_type === 'system'
  // The selection of a system user is kept for the tab.
  const [selectedId, setSelectedId] = useSessionStorage({
    key: `vitascope-organisation:${user.user_id}`,
    defaultValue: user.organisation_id,
    getInitialValueInEffect: false,
  })
  const organisationId = isSystem ? selectedId : user.organisation_id
  const queryClient = useQueryClient()
  const session = useMemo<Session>(
    () => ({
      user,
      organisationId,
      api: createClient(organisationId),
      selectOrganisation(id) {
        setSelectedId(id)
        removeRecords(queryClient)
      },
      mayManageUsers: user.user_type !== 'uploader',
      isSystem,
    }),
    [user, isSystem, organisationId, setSelectedId, queryClient],
  )
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}

/** Returns the session. It may be called only below `SessionProvider`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session above this component')
  return session
}

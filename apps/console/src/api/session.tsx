import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas, Vitascope } from '@vitascope/sdk'
import { VitascopeError } from '@vitascope/sdk'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
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

const SessionContext = createContext<Session | undefined>(undefined)
export const SESSION_KEY = ['session']

/** Reads the session of the cookie. The result is null without a session. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      try {
        return await guestClient.call('getOwnSession', { signal })
      } catch (error) {
        if (error instanceof VitascopeError && (error.status === 401 || error.status === 404)) return null
        throw error
      }
    },
  })
}

/** Provides the session to the pages below. */
export function SessionProvider({ user, children }: { user: Schemas['User']; children: ReactNode }) {
  const [organisationId, setOrganisationId] = useState(user.organisation_id)
  const queryClient = useQueryClient()
  const session = useMemo<Session>(
    () => ({
      user,
      organisationId,
      api: createClient(organisationId),
      selectOrganisation(id) {
        setOrganisationId(id)
        queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
      },
      mayManageUsers: user.user_type !== 'uploader',
      isSystem: user.user_type === 'system',
    }),
    [user, organisationId, queryClient],
  )
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}

/** Returns the session. It may be called only below `SessionProvider`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session above this component')
  return session
}

import { useUsers } from '../people/use-users.ts'

/** Returns the names of the users of an organisation by their ids. The map is empty until they arrive. */
export function useUserNames(organisationId: string): ReadonlyMap<string, string> {
  const { data } = useUsers(organisationId)
  return new Map(data?.map(({ user_id, first_name, last_name }) => [user_id, `${first_name} ${last_name}`.trim()]))
}

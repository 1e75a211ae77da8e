import { type LibrarySearch, readLibrarySearch } from './library-search.ts'

/** Filters, order and layout of the library with a name. */
export interface SavedView {
  name: string
  search: LibrarySearch
}

export const MAX_SAVED_VIEWS = 50
export const MAX_VIEW_NAME_LENGTH = 60

/** Views are stored in this browser, for each user and organisation. */
function storageName(userId: string, organisationId: string): string {
  return `vitascope-views:${userId}:${organisationId}`
}

/** Returns the stored views, sorted by name. Invalid ones are omitted. */
export function readSavedViews(userId: string, organisationId: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName(userId, organisationId)) ?? '[]')
    return (Array.isArray(stored) ? stored : [])
      .filter(isSavedView)
      .map(({ name, search }) => ({ name, search: readLibrarySearch(search) }))
  } catch {
    return []
  }
}

/** Stores a view. It replaces one of the same name. Throws if the browser stores nothing. */
export function saveView(userId: string, organisationId: string, { name, search: { page: _, ...search } }: SavedView): SavedView[] {
  const others = readSavedViews(userId, organisationId).filter((view) => view.name !== name)
  return store(userId, organisationId, [...others, { name, search }])
}

/** Deletes a view. */
export function deleteView(userId: string, organisationId: string, name: string): SavedView[] {
  return store(
    userId,
    organisationId,
    readSavedViews(userId, organisationId).filter((view) => view.name !== name),
  )
}

function store(userId: string, organisationId: string, views: readonly SavedView[]): SavedView[] {
  const sorted = views.toSorted((a, b) => a.name.localeCompare(b.name))
  localStorage.setItem(storageName(userId, organisationId), JSON.stringify(sorted))
  return sorted
}

function isSavedView(value: unknown): value is { name: string; search: Record<string, unknown> } {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Record<string, unknown>
  return typeof name === 'string' && typeof search === 'object' && search !== null
}

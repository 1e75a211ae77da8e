import { notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import { Theme as Message, type ThemeServiceService } from '@vitascope/proto/catalogue/v1/theme'
import { isId, requireUnchanged, toTokenPage } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { changeTheme, DEFAULT_THEME, THEME_PATHS, type Theme, type ThemeFields } from './theme.ts'
import type { ThemeKey, ThemeStore } from './theme-store.ts'

const DEFAULT_PAGE_SIZE = 10
const MAX_PAGE_SIZE = 1_000
const ALL_PATHS = [...THEME_PATHS.keys()]

export function themeHandlers(themes: ThemeStore, organisations: Organisations): Handlers<typeof ThemeServiceService> {
  const requireTheme = async (key: ThemeKey, signal: AbortSignal): Promise<Theme> => {
    const theme = isId(key.themeId) ? await themes.find(key, signal) : undefined
    if (!theme) throw notFound('theme', key.themeId)
    return theme
  }
  return {
    async createTheme({ organisationId: requestedId, theme: input = Message.create() }, call) {
      const { userId } = requireUser(call.principal)
      const fields = changeTheme(DEFAULT_THEME, toFields(input), ALL_PATHS)
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      return { theme: await themes.create({ organisationId, userId, fields }, call) }
    },
    async getTheme({ themeId }, { principal, signal }) {
      return { theme: await requireTheme({ scope: getScope(principal), themeId }, signal) }
    },
    async listThemes({ organisationId: requestedId, ...page }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      return themes.list(organisationId, toTokenPage(page, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE), signal)
    },
    async listThemeVideos({ themeId, ...page }, { principal, signal }) {
      const theme = await requireTheme({ scope: getScope(principal), themeId }, signal)
      return themes.listVideos(theme, toTokenPage(page, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE), signal)
    },
    async updateTheme({ theme: input = Message.create(), updateMask = [] }, call) {
      const { principal, signal } = call
      const { userId } = requireUser(principal)
      const key = { scope: getScope(principal), themeId: input.themeId }
      if (!isId(key.themeId)) throw notFound('theme', key.themeId)
      const change = (current: Theme) => {
        requireUnchanged(call, current.updateTime)
        return changeTheme(current, toFields(input), updateMask)
      }
      return { theme: await themes.update(key, userId, change, signal) }
    },
    async deleteTheme({ themeId }, { principal, signal }) {
      const scope = getScope(principal)
      if (!isId(themeId)) throw notFound('theme', themeId)
      await themes.remove({ scope, themeId }, signal)
      return {}
    },
  }
}

function toFields({ themeId: _, organisationId: __, ...fields }: Message): ThemeFields {
  return fields
}

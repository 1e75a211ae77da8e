import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import { Setting as Message, type SettingServiceService, ViewerContactForm } from '@vitascope/proto/catalogue/v1/setting'
import { isId, requireUnchanged, toTokenPage } from '@vitascope/request'
import type { TokenKeyFile } from '@vitascope/security'
import type { ContactFormStore } from '../contact-form/contact-form-store.ts'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import type { ThemeStore } from '../theme/theme-store.ts'
import { createAccessTokens } from './access-token.ts'
import type { PasswordHasher } from './password-hash.ts'
import { DEFAULT_SETTING, type Setting } from './setting.ts'
import { changeSetting, isSha1, type PasswordChange, type RequestedSetting } from './setting-change.ts'
import type { PasswordHash, SettingStore } from './setting-store.ts'

/** Returns the organisation of a video. Throws `not_found` if the caller must not see the video. */
export type FindVisibleVideo = (
  principal: Principal,
  video: { videoId: string; token?: string },
  signal: AbortSignal,
) => Promise<{ organisationId: string }>

export interface SettingParts {
  settings: SettingStore
  themes: ThemeStore
  contactForms: Pick<ContactFormStore, 'findOfVideo'>
  findVisibleVideo: FindVisibleVideo
  organisations: Organisations
  passwordHasher: PasswordHasher
  tokenKeys: TokenKeyFile
}

const DEFAULT_PAGE_SIZE = 10
/** Maximum page size. A profile can have 40 KiB of texts, and a message has at most 4 MiB. */
const MAX_PAGE_SIZE = 50

export function settingHandlers({
  settings,
  themes,
  contactForms,
  findVisibleVideo,
  organisations,
  passwordHasher,
  tokenKeys,
}: SettingParts): Handlers<typeof SettingServiceService> {
  const createAccessToken = createAccessTokens({ passwordHasher, tokenKeys })
  /**
   * Returns the hash to store. It is computed before rows are locked, because it is slow. Password checks
   * of guests use another group of the queue.
   */
  const hashPassword = async (password: PasswordChange, organisationId: string, signal: AbortSignal): Promise<PasswordHash> => {
    if (password.kind !== 'set' || !isSha1(password.sha1)) return password.kind === 'remove' ? null : undefined
    return passwordHasher.hash(password.sha1, `set ${organisationId}`, signal)
  }
  return {
    async createSetting({ organisationId: requestedId, setting: message, mask = [], validateOnly }, call) {
      const input = fromMessage(message)
      const { userId } = requireUser(call.principal)
      const { fields, password } = changeSetting({ ...DEFAULT_SETTING, passwordProtected: false }, input, mask)
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      if (validateOnly) return { settingId: '' }
      const passwordHash = (await hashPassword(password, organisationId, call.signal)) ?? null
      return { settingId: await settings.create({ organisationId, userId, fields, passwordHash }, call) }
    },
    async getSetting({ settingId }, { principal, signal }) {
      const scope = getScope(principal)
      const setting = isId(settingId) ? await settings.find({ scope, settingId }, signal) : undefined
      if (!setting) throw notFound('setting', settingId)
      return { setting: toMessage(setting) }
    },
    async listSettings({ organisationId: requestedId, ...request }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      const page = await settings.list(organisationId, toTokenPage(request, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE), signal)
      return { settings: page.settings.map(toMessage), nextPageToken: page.nextPageToken }
    },
    async updateSetting({ setting: message, updateMask = [], validateOnly }, call) {
      const { principal, signal } = call
      const input = fromMessage(message)
      const { userId } = requireUser(principal)
      const key = { scope: getScope(principal), settingId: input.settingId }
      if (!isId(key.settingId)) throw notFound('setting', key.settingId)
      const current = await settings.find(key, signal)
      if (!current) throw notFound('setting', key.settingId)
      const { password } = changeSetting(current, input, updateMask)
      if (validateOnly) return { setting: toMessage(current) }
      const passwordHash = await hashPassword(password, current.organisationId, signal)
      const change = (locked: Setting) => {
        requireUnchanged(call, locked.updateTime)
        return { fields: changeSetting(locked, input, updateMask).fields, passwordHash }
      }
      return { setting: toMessage(await settings.update(key, userId, change, signal)) }
    },
    async deleteSetting({ settingId }, { principal, signal }) {
      const scope = getScope(principal)
      if (!isId(settingId)) throw notFound('setting', settingId)
      await settings.remove({ scope, settingId }, signal)
      return {}
    },
    async findVideoSetting({ videoId, token }, { principal, signal }) {
      await findVisibleVideo(principal, { videoId, token }, signal)
      const [setting, theme, contactForm] = await Promise.all([
        settings.findOfVideo(videoId, signal),
        themes.findOfVideo(videoId, signal),
        contactForms.findOfVideo(videoId, signal),
      ])
      // Viewers do not see the internal name of the form and its creator.
      return { setting: setting && toMessage(setting), theme, contactForm: contactForm && ViewerContactForm.fromPartial(contactForm) }
    },
    async checkVideoPassword({ videoId, password }, { principal, signal }) {
      const { organisationId } = await findVisibleVideo(principal, { videoId }, signal)
      const storedHash = await settings.findPasswordOfVideo(videoId, signal)
      if (storedHash === undefined || !isSha1(password)) return { matches: false }
      return { matches: await passwordHasher.matches(storedHash, password, `try ${organisationId}`, signal) }
    },
    async createAccessToken({ videoId, password, token }, { principal, signal }) {
      const { organisationId } = await findVisibleVideo(principal, { videoId }, signal)
      const storedHash = await settings.findPasswordOfVideo(videoId, signal)
      return createAccessToken({ videoId, organisationId, storedHash, password, token }, signal)
    },
  }
}

function fromMessage(message: Message = Message.create()): RequestedSetting & { settingId: string } {
  return { ...message, monetizationId: message.monetizationId, maxSessions: message.maxSessions }
}

function toMessage(setting: Setting): Message {
  return Message.create({ ...setting, password: '' })
}

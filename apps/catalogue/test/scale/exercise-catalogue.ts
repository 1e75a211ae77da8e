import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { type Call, type Principal, serviceCall } from '@vitascope/grpc'
import { CaptionFileFormat, UpdateCaptionRequest } from '@vitascope/proto/catalogue/v1/caption'
import { ContactForm } from '@vitascope/proto/catalogue/v1/contact_form'
import { DownloadFile } from '@vitascope/proto/catalogue/v1/download'
import { UpdateFolderRequest } from '@vitascope/proto/catalogue/v1/folder'
import { JobState, ListJobsRequest } from '@vitascope/proto/catalogue/v1/job'
import { UpdateMediaRequest } from '@vitascope/proto/catalogue/v1/media'
import { ApplyOrganisationRequest } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { CreateOverlayRequest, UpdateOverlayRequest } from '@vitascope/proto/catalogue/v1/overlay'
import { PlaybackKey } from '@vitascope/proto/catalogue/v1/playback_key'
import { ExplainPlaybackRequest, PlaybackRules } from '@vitascope/proto/catalogue/v1/playback_rules'
import { UpdatePlaylistRequest } from '@vitascope/proto/catalogue/v1/playlist'
import { UpdatePresentationRequest } from '@vitascope/proto/catalogue/v1/presentation'
import { CreateSettingRequest, UpdateSettingRequest } from '@vitascope/proto/catalogue/v1/setting'
import { CreateThemeRequest, UpdateThemeRequest } from '@vitascope/proto/catalogue/v1/theme'
import { ListVideosRequest, UpdateVideoRequest, UploadVideoRequest, VideoOrder, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { buildRenditionSet } from '../builders.ts'
import { FOLDERS, type SeedSize, toMediaId, toPlaylistId, toPresentationId, toVideoId } from '../seed/seed-catalogue.ts'
import type { CatalogueClients } from './catalogue-clients.ts'

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
const toUserCall = (userType: 'standard' | 'system') => toCall({ kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType })
export const owner = toUserCall('standard')
const system = toUserCall('system')
const guest = toCall({ kind: 'guest' })
const internal = serviceCall('encoding', 'r')

/** The maximum of `start`. */
const DEEP = 9_999

/**
 * Makes every call that a route makes, with parameters that reach every statement. Videos whose
 * index is a multiple of `size.organisations` belong to organisation 1.
 */
export async function exerciseCatalogue(send: CatalogueClients, size: SeedSize): Promise<void> {
  const own = (nth: number) => nth * size.organisations
  const [videoId, mediaId] = [toVideoId(own(3)), toMediaId(own(3))]
  await exerciseVideoLists(send)
  await exerciseVideos(send, own(5))
  for await (const _ of send.videos.watchPublicChanges({}, internal)) break
  await exerciseCaptions(send, toMediaId(own(50)))
  await exerciseContactForms(send, videoId)
  await exerciseEncodingFormats(send, mediaId)
  await exerciseFolders(send, videoId)
  await exerciseMetadata(send, videoId)
  await exerciseOverlays(send, mediaId)
  await exercisePlaylists(send, videoId)
  await exercisePosters(send, videoId)
  await exercisePresentations(send, videoId)
  await exerciseSettings(send, videoId)
  await exerciseTags(send, videoId)
  await exerciseThemes(send)
  await exerciseWebhooks(send)
  const mail = { signInLinkId: '6d1a9a3e-6a0c-4f0e-9d5b-1f1f6a1c7e52', organisationId: '1', userId: '7' }
  for (let repeated = 0; repeated < 2; repeated++) await send.mails.queueSignInLink(mail, internal)
  await send.policies.getPlaybackPolicy({ videoId }, internal)
  await send.videoSummaries.listVideoSummaries(
    { videoIds: Array.from({ length: 40 }, (_, nth) => toVideoId(nth)), withTexts: false },
    internal,
  )
  // It has no slides yet; only the lookup matters here.
  const policy = send.policies.getPresentationPolicy({ presentationId: toPresentationId(50) }, internal)
  await policy.catch((error: { reason?: string }) => {
    if (error.reason !== 'PRESENTATION_NOT_FOUND') throw error
  })
  for (const target of [
    { $case: 'videoId', value: videoId },
    { $case: 'organisationId', value: '1' },
  ] as const) {
    const rules = PlaybackRules.fromPartial({ rules: [{ allows: true }] })
    await send.playbackRules.setPlaybackRules({ target, rules, validateOnly: false }, owner)
    await send.playbackRules.getPlaybackRules({ target }, owner)
  }
  await send.playbackRules.decidePage({ videoId, address: '192.0.2.1', referrer: '', token: '' }, guest)
  await send.playbackRules.decidePlaylistPage({ playlistId: toPlaylistId(1), address: '192.0.2.1', referrer: '' }, guest)
  await send.playbackRules.explainPlayback(ExplainPlaybackRequest.fromPartial({ videoId, kind: 'page', address: '192.0.2.1' }), owner)
  const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const { key } = await send.playbackKeys.createPlaybackKey({ organisationId: '1', name: '', publicKey, active: true }, owner)
  const keyId = key?.keyId ?? ''
  await send.playbackKeys.listPlaybackKeys({ organisationId: '1' }, owner)
  const changedKey = PlaybackKey.fromPartial({ keyId, name: 'changed' })
  await send.playbackKeys.updatePlaybackKey({ key: changedKey, updateMask: ['name'], organisationId: '1' }, owner)
  await send.playbackKeys.deletePlaybackKey({ keyId, organisationId: '1' }, owner)
  const session = { videoId, tokenId: '', sessionId: 'one', maxSessions: 1, address: '192.0.2.1', userAgent: '', firstRequestAgeMs: 0 }
  await send.playbackSessions.reportPlaybackSessions({ sessions: [session] }, internal)
  await send.playbackSessions.listPlaybackSessions({ videoId }, owner)
  await send.playbackSessions.endPlaybackSession({ videoId, sessionId: 'one' }, owner)
  const counts = [{ videoId, file: DownloadFile.DOWNLOAD_FILE_MP4, count: 1 }]
  await send.downloads.reportDownloads({ reportId: randomUUID(), counts }, internal)
  await send.downloads.listDownloadDays({ organisationId: '1', videoId, dateStart: '2020-01-01', dateEnd: '2099-12-31' }, owner)
  await send.downloads.createDownload(
    { videoId, file: { $case: 'rendition', value: 'h264_100' }, expiresInSeconds: 60, address: '' },
    owner,
  )
  await send.security.checkAddress({ address: '192.0.2.1', videoIds: Array.from({ length: 40 }, (_, nth) => toVideoId(nth)) }, system)
  for (const country of ['NL', '']) await send.locations.lookUpPostcode({ postcode: '1012', country }, owner)
  for (const place of [
    { $case: 'country', value: 'nl' },
    { $case: 'city', value: 'Berlin' },
  ] as const) {
    await pages(({ pageToken, skip }) =>
      send.locations.listVideosByPlace({ organisationId: '', place, pageSize: 1_000, pageToken, skip }, owner),
    )
  }
  await send.ids.nextId({}, guest)
  await send.ids.randomId({ length: 7 }, system)
  const organisation = ApplyOrganisationRequest.fromPartial({ organisationId: '1', active: true, quota: {} })
  await send.organisationReplica.applyOrganisation({ ...organisation, revision: 2 }, internal)
  await send.quotas.getUsage({ organisationId: '1' }, owner)
  const reservationId = randomUUID()
  const reservation = { reservationId, organisationId: '1', bytes: 1, isOpen: true, lifetimeSeconds: 60, replacesId: '' }
  await send.quotas.reserveUpload(reservation, internal)
  await send.quotas.releaseUpload({ reservationId }, internal)
}

/** No server listens at this URL. Later changes of videos of organisation 1 queue events for it. */
async function exerciseWebhooks({ webhooks, events }: CatalogueClients): Promise<void> {
  const url = 'http://127.0.0.1:65000/hook'
  const created = await webhooks.createWebhook({ organisationId: '', url, events: ['video.created', 'key.expiring'], enabled: true }, owner)
  const webhook = created.webhook ?? raise('no webhook')
  const { webhookId } = webhook
  await webhooks.getWebhook({ webhookId }, owner)
  await pages(({ pageToken, skip }) => webhooks.listWebhooks({ organisationId: '1', pageSize: 100, pageToken, skip }, system))
  await webhooks.rotateSecret({ webhookId }, owner)
  await webhooks.updateWebhook({ webhook: { ...webhook, enabled: true }, updateMask: ['enabled'] }, owner)
  const event = { eventId: 'scale', type: 'key.expiring', organisationId: '1', objectKey: 'key:1', dataJson: '{}' }
  for (let repeated = 0; repeated < 2; repeated++) await events.addEvent(event, internal)
  const { deliveryId } = await webhooks.testWebhook({ webhookId }, owner)
  await webhooks.resendDelivery({ webhookId, deliveryId }, owner).catch((error: { reason?: string }) => {
    if (error.reason !== 'DELIVERY_WAITING') throw error
  })
  await pages(({ pageToken, skip }) => webhooks.listDeliveries({ webhookId, pageSize: 1_000, pageToken, skip }, owner))
  const second = await webhooks.createWebhook({ organisationId: '', url, events: ['video.ready'], enabled: false }, owner)
  await webhooks.deleteWebhook({ webhookId: second.webhook?.webhookId ?? '' }, owner)
}

async function exerciseEncodingFormats({ encodingFormats }: CatalogueClients, mediaId: string): Promise<void> {
  const organisationId = '1'
  await encodingFormats.listProfiles({}, system)
  await encodingFormats.addMediaFormat({ mediaId, profileId: 21 }, system)
  await encodingFormats.listMediaFormats({ mediaId }, system)
  const { formats } = await encodingFormats.addOrganisationFormat({ organisationId, profileId: 21 }, system)
  await encodingFormats.listOrganisationFormats({ organisationId }, system)
  const organisationFormatId = String(formats[0]?.organisationFormatId)
  await encodingFormats.removeOrganisationFormat({ organisationFormatId }, system)
}

function raise(message: string): never {
  throw new Error(message)
}

/** Reads the first page, the next one, and the one at the maximum of `start`. */
async function pages(send: (place: { pageToken: string; skip: number }) => Promise<{ nextPageToken: string }>): Promise<void> {
  const { nextPageToken } = await waitLong(() => send({ pageToken: '', skip: 0 }))
  if (nextPageToken !== '') await waitLong(() => send({ pageToken: nextPageToken, skip: 0 }))
  await waitLong(() => send({ pageToken: '', skip: DEEP }))
}

/** Retries a read up to twice. It can time out while caches are cold or the machine is busy. */
async function waitLong<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      if (attempt === 3 || (error as { kind?: string }).kind !== 'unavailable') throw error
    }
  }
}

async function exerciseVideoLists(send: CatalogueClients): Promise<void> {
  const narrowings: Partial<ListVideosRequest>[] = [
    {},
    { tag: 'featured' },
    { tag: 'nobody-has-it' },
    { folderId: '1' },
    { folderId: String(FOLDERS) },
    { folderId: '1', tag: 'featured' },
    { query: 'the' },
    { query: 'the and of' },
    { query: 'rocket wniter' },
    { query: 'introdcution' },
    { query: 'introduct' },
    { query: 'quar' },
    { query: 'zzzz yyyy xxxx' },
    { query: 'of '.repeat(60) },
    { query: 'the', tag: 'featured' },
    { query: 'the', folderId: '1' },
  ]
  const orders = [VideoOrder.VIDEO_ORDER_CREATE_TIME, VideoOrder.VIDEO_ORDER_TITLE, VideoOrder.VIDEO_ORDER_RELEVANCE]
  const states = [VideoState.VIDEO_STATE_UNSPECIFIED, VideoState.VIDEO_STATE_FAILED]
  for (const narrowing of narrowings) {
    for (const order of narrowing.query ? orders : orders.slice(0, 2)) {
      for (const state of states) {
        for (const call of [owner, system]) {
          const request = { ...narrowing, order, state, descending: true, pageSize: 20, count: true }
          await pages((position) => send.videos.listVideos(ListVideosRequest.fromPartial({ ...request, ...position }), call))
        }
      }
    }
  }
  await waitLong(() => send.videos.listVideos(ListVideosRequest.fromPartial({ organisationId: '2', pageSize: 1_000 }), system))
}

async function exerciseVideos(send: CatalogueClients, index: number): Promise<void> {
  const [videoId, mediaId] = [toVideoId(index), toMediaId(index)]
  for (const call of [owner, system]) await send.videos.getVideo({ videoId }, call)
  await send.videos.findPublicVideo({ videoId, token: '' }, guest)
  for (const query of ['', 'the'])
    await send.publicVideos.listPublicVideos({ organisationId: '2', pageSize: 0, pageToken: '', query, address: '192.0.2.1' }, internal)
  const video = { videoId, title: 'Another title', tags: ['featured', 'new-here'], description: 'As it is now', mediaTitle: 'Master' }
  const updateMask = ['title', 'tags', 'description', 'media_title']
  await send.videos.updateVideo(UpdateVideoRequest.fromPartial({ video, updateMask }), owner)
  const bound = { videoId, tokenRequired: true, enabled: false, allowedIps: ['192.0.2.0/24'] }
  for (const fields of [bound, { videoId, tokenRequired: false, enabled: true, allowedIps: [] }]) {
    const mask = ['token_required', 'enabled', 'allowed_ips']
    await send.videos.updateVideo(UpdateVideoRequest.fromPartial({ video: fields, updateMask: mask }), owner)
  }
  await send.videos.createVideoToken({ videoId, expiresInSeconds: 60, address: '' }, owner)
  await send.media.getMedia({ mediaId }, owner)
  await send.media.updateMedia(UpdateMediaRequest.fromPartial({ media: { mediaId, title: 'Reel' }, updateMask: ['title'] }), owner)
  const publish = await send.media.publishMedia({ mediaId }, owner)
  await send.videos.deleteVideo({ videoId: publish.videoId }, system)

  const request = { organisationId: '1', sourceUrl: 'https://example.org/a.mp4', name: 'Fresh', tags: ['featured'] }
  const upload = await send.videos.uploadVideo(UploadVideoRequest.fromPartial(request), owner)
  for (const call of [owner, system]) await send.jobs.getJob({ jobId: upload.jobId }, call)
  const jobs = ListJobsRequest.fromPartial({ mediaId: upload.mediaId })
  const failed = ListJobsRequest.fromPartial({ states: [JobState.JOB_STATE_FAILED] })
  const named = ListJobsRequest.fromPartial({ jobIds: [upload.jobId, '1'] })
  for (const filter of [jobs, failed, named, ListJobsRequest.create()]) {
    for (const call of [owner, system]) await send.jobs.listJobs(filter, call)
  }
  await send.jobs.reportJob({ jobId: upload.jobId, revision: 1, update: { $case: 'progress', value: { percent: 40 } } }, internal)
  await send.jobs.reportJob(
    { jobId: upload.jobId, revision: 2, update: { $case: 'published', value: { renditions: buildRenditionSet(upload.jobId) } } },
    internal,
  )
  await send.jobs.checkJobs({ jobIds: Array.from({ length: 100 }, (_, nth) => String(nth + 1)) }, internal)
  await send.jobs.checkSets({ jobIds: Array.from({ length: 100 }, (_, nth) => String(nth + 1)) }, internal)
  const source = { mediaId: upload.mediaId, sourceUrl: 'https://example.org/b.mp4', organisationId: '', startsWaiting: false }
  const { jobId } = await send.media.replaceSource(source, owner)
  await send.jobs.cancelJob({ jobId }, owner)
  await send.jobs.retryJob({ jobId }, owner)
  await send.media.deleteMedia({ mediaId: upload.mediaId, userId: '', notes: '' }, owner)
}

async function exerciseCaptions(send: CatalogueClients, mediaId: string): Promise<void> {
  const format = CaptionFileFormat.CAPTION_FILE_FORMAT_SRT
  const content = '1\n00:00:01,000 --> 00:00:02,000\nHello\n'
  const { captionId } = await send.captions.createCaption(
    { mediaId, title: 'Deutsch', language: 'de', source: { content, format, url: '' } },
    owner,
  )
  for await (const part of send.captions.readCaption({ captionId }, internal)) void part
  const caption = { captionId, title: 'Dutch' }
  await send.captions.updateCaption(
    UpdateCaptionRequest.fromPartial({ caption, updateMask: ['title'], source: { content, format } }),
    owner,
  )
  await send.captions.deleteCaption({ captionId }, owner)
}

async function exerciseContactForms(send: CatalogueClients, videoId: string): Promise<void> {
  await pages((position) => send.contactForms.listContactForms({ organisationId: '', pageSize: 1_000, ...position }, owner))
  const contactForm = ContactForm.fromPartial({ organisationId: '1', primaryText: 'Hello', captureNames: true })
  const { contactForm: created } = await send.contactForms.createContactForm({ contactForm }, owner)
  const contactFormId = created?.contactFormId ?? ''
  for (const call of [owner, system]) await send.contactForms.getContactForm({ contactFormId }, call)
  await send.contactForms.submitContactForm(
    { contactFormId, videoId, name: 'A', companyName: '', email: 'a@example.org', optIn: false, validateOnly: false },
    guest,
  )
  await pages((position) => send.contactForms.listSubmissions({ contactFormId: '1', pageSize: 100, ...position }, owner))
  const { submissions } = await send.contactForms.listSubmissions({ contactFormId: '1', pageSize: 1, pageToken: '', skip: 0 }, owner)
  await send.contactForms.deleteSubmission({ contactFormId: '1', submissionId: submissions[0]?.submissionId ?? '' }, owner)
  await send.contactForms.deleteContactForm({ contactFormId }, owner)
}

async function exerciseFolders(send: CatalogueClients, videoId: string): Promise<void> {
  await pages((position) => send.folders.listFolders({ organisationId: '1', pageSize: 1_000, ...position }, owner))
  const { folder: created } = await send.folders.createFolder({ organisationId: '1', name: 'New', description: '' }, owner)
  const folderId = created?.folderId ?? ''
  await send.folders.updateFolder(UpdateFolderRequest.fromPartial({ folder: { folderId, name: 'Newer' }, updateMask: ['name'] }), owner)
  await send.folders.addFolderVideo({ folderId, videoId }, owner)
  for (const id of [folderId, '1']) {
    await pages((position) => send.folders.listFolderVideos({ folderId: id, pageSize: 1_000, ...position }, owner))
  }
  await send.folders.removeFolderVideo({ folderId, videoId }, owner)
  await send.folders.deleteFolder({ folderId, organisationId: '1' }, owner)
}

async function exerciseMetadata(send: CatalogueClients, videoId: string): Promise<void> {
  await send.metadata.createMetadata({ videoId, entries: [{ name: 'colour', value: 'red', private: false, readOnly: false }] }, owner)
  await send.metadata.updateMetadata({ videoId, changes: [{ name: 'colour', value: 'blue' }] }, owner)
  await send.metadata.deleteMetadata({ videoId, names: ['colour'] }, owner)
}

async function exerciseOverlays(send: CatalogueClients, mediaId: string): Promise<void> {
  await pages((position) => send.overlays.listOverlays({ organisationId: '1', pageSize: 100, ...position }, owner))
  const overlay = { organisationId: '1', mediaId, shown: { title: 'Tickets' } }
  const { overlay: created } = await send.overlays.createOverlay(CreateOverlayRequest.fromPartial({ overlay }), owner)
  const overlayId = created?.shown?.overlayId ?? ''
  for (const call of [owner, system]) await send.overlays.getOverlay({ overlayId }, call)
  const changed = { ...overlay, shown: { overlayId, title: 'Seats' } }
  await send.overlays.updateOverlay(UpdateOverlayRequest.fromPartial({ overlay: changed, updateMask: ['title'] }), owner)
  await send.overlays.deleteOverlay({ overlayId }, owner)
}

async function exercisePlaylists(send: CatalogueClients, videoId: string): Promise<void> {
  const playlistId = toPlaylistId(0)
  for (const call of [owner, system]) await send.playlists.getPlaylist({ playlistId, skip: 0 }, call)
  await send.playlists.findPublicPlaylist({ playlistId, skip: 0 }, guest)
  await pages((position) => send.playlists.listPlaylists({ organisationId: '1', pageSize: 100, ...position }, owner))
  const { playlistId: own } = await send.playlists.createPlaylist({ organisationId: '1', title: 'New', description: '' }, owner)
  await send.playlists.addVideoToPlaylist({ playlistId: own, videoId }, owner)
  const playlist = { playlistId: own, title: 'Newer', videoIds: [videoId, videoId] }
  await send.playlists.updatePlaylist(UpdatePlaylistRequest.fromPartial({ playlist, updateMask: ['title', 'video_ids'] }), owner)
  await send.playlists.removeVideoFromPlaylist({ playlistId: own, videoId, position: 0 }, owner)
}

async function exercisePosters(send: CatalogueClients, videoId: string): Promise<void> {
  const source = { $case: 'sourceUrl', value: 'https://example.org/picture.png' } as const
  for (const call of [owner, system]) await send.posters.setPoster({ videoId, source, waitSeconds: 1 }, call)
  await send.posters.deletePoster({ videoId }, owner)
}

async function exercisePresentations(send: CatalogueClients, videoId: string): Promise<void> {
  const request = { organisationId: '1', userId: '7', title: 'New', description: '', videoId }
  const { presentation: created } = await send.presentations.createPresentation(request, system)
  const presentationId = created?.presentationId ?? ''
  for (const call of [owner, system]) await send.presentations.getPresentation({ presentationId }, call)
  await send.presentations.findPublicPresentation({ presentationId }, guest)
  const presentation = { presentationId, title: 'Newer' }
  await send.presentations.updatePresentation(UpdatePresentationRequest.fromPartial({ presentation, updateMask: ['title'] }), system)
  const sourceObject = `upload/1/${presentationId}.pdf`
  const slides = { presentationId, organisationId: '1', userId: '7', filename: 'a.pdf', sourceObject, sourceBytes: 10, uploadId: '' }
  await send.presentations.addSlides(slides, internal)
  await send.presentations.deletePresentation({ presentationId }, system)
}

async function exerciseSettings(send: CatalogueClients, videoId: string): Promise<void> {
  const request = { organisationId: '1', setting: { title: 'New' }, mask: ['title'] }
  const { settingId } = await send.settings.createSetting(CreateSettingRequest.fromPartial(request), owner)
  for (const call of [owner, system]) await send.settings.getSetting({ settingId }, call)
  await pages((position) => send.settings.listSettings({ organisationId: '1', pageSize: 100, ...position }, owner))
  const password = '0123456789abcdef0123456789abcdef01234567'
  const setting = { settingId, title: 'Newer', password, passwordProtected: true }
  await send.settings.updateSetting(
    UpdateSettingRequest.fromPartial({ setting, updateMask: ['title', 'password', 'password_protected'] }),
    owner,
  )
  await send.settings.findVideoSetting({ videoId, token: '' }, guest)
  const named = { video: { videoId, settingId }, updateMask: ['setting_id'] }
  await send.videos.updateVideo(UpdateVideoRequest.fromPartial(named), owner)
  await send.settings.checkVideoPassword({ videoId, password: 'wrong' }, guest)
  // `password` is the SHA-1 of the password.
  await send.settings.createAccessToken({ videoId, password, token: '' }, guest)
  await send.videos.updateVideo(UpdateVideoRequest.fromPartial({ video: { videoId }, updateMask: ['setting_id'] }), owner)
  const open = { setting: { settingId, passwordProtected: false }, updateMask: ['password_protected'] }
  await send.settings.updateSetting(UpdateSettingRequest.fromPartial(open), owner)
  await send.settings.deleteSetting({ settingId }, owner)
}

async function exerciseTags(send: CatalogueClients, videoId: string): Promise<void> {
  await pages((position) => send.tags.listTags({ organisationId: '1', pageSize: 1_000, ...position }, owner))
  for (const organisationId of ['1', '2']) {
    for (const [tags, any] of [
      [['featured'], false],
      [['featured', 'the-1'], false],
      [['featured', 'the-1'], true],
    ] as const) {
      const request = { organisationId, tags: [...tags], any, pageSize: 1_000 }
      await pages((position) => send.tags.listTaggedVideos({ ...request, ...position }, organisationId === '1' ? owner : system))
    }
  }
  await send.tags.addTags({ videoId, tags: ['quite-new', 'featured'] }, owner)
  await send.tags.deleteTags({ videoId, tags: ['quite-new'] }, owner)
}

async function exerciseThemes(send: CatalogueClients): Promise<void> {
  await pages((position) => send.themes.listThemes({ organisationId: '1', pageSize: 100, ...position }, owner))
  const { theme: created } = await send.themes.createTheme(
    CreateThemeRequest.fromPartial({ organisationId: '1', theme: { title: 'New' } }),
    owner,
  )
  const themeId = created?.themeId ?? ''
  for (const call of [owner, system]) await send.themes.getTheme({ themeId }, call)
  await send.themes.updateTheme(UpdateThemeRequest.fromPartial({ theme: { themeId, title: 'Newer' }, updateMask: ['title'] }), owner)
  await pages((position) => send.themes.listThemeVideos({ themeId, pageSize: 100, ...position }, owner))
  await send.themes.deleteTheme({ themeId }, owner)
}

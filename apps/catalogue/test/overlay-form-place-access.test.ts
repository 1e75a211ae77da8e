import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Call, type Principal, serviceCall } from '@vitascope/grpc'
import { ContactForm } from '@vitascope/proto/catalogue/v1/contact_form'
import { Overlay } from '@vitascope/proto/catalogue/v1/overlay'
import { contactFormHandlers } from '../src/contact-form/contact-form-rpc.ts'
import { createContactFormStore } from '../src/contact-form/contact-form-store.ts'
import { createSubmissionStore } from '../src/contact-form/submission-store.ts'
import { locationHandlers } from '../src/location/location-rpc.ts'
import { createPlacedVideoStore } from '../src/location/placed-video-store.ts'
import { createPostcodeStore } from '../src/location/postcode-store.ts'
import { createOrganisations } from '../src/organisation-replica/organisation.ts'
import { overlayHandlers } from '../src/overlay/overlay-rpc.ts'
import { createOverlayStore } from '../src/overlay/overlay-store.ts'
import { requirePublicVideo } from '../src/video/visible-video.ts'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'

let catalogue: CatalogueDatabase
let services: ReturnType<typeof makeServices>
let overlayId: string
let contactFormId: string

function makeServices({ db, videos, organisations: store }: CatalogueDatabase) {
  const organisations = createOrganisations(store, async () => undefined)
  return {
    overlays: overlayHandlers(createOverlayStore(db), organisations),
    forms: contactFormHandlers({
      forms: createContactFormStore(db),
      submissions: createSubmissionStore(db),
      requirePublicVideo: requirePublicVideo.bind(undefined, videos),
      organisations,
    }),
    places: locationHandlers({ postcodes: createPostcodeStore(db), videos: createPlacedVideoStore(db), organisations }),
  }
}

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), signal: new AbortController().signal, principal })
const user = (organisationId: string, userType: 'uploader' | 'system' = 'uploader') =>
  toCall({ kind: 'user', keyId: '3', userId: '7', organisationId, userType })
const [owner, foreignCaller, system, guest] = [user('1'), user('2'), user('1', 'system'), toCall({ kind: 'guest' })]
const page = { pageSize: 0, pageToken: '', skip: 0 }

beforeAll(async () => {
  catalogue = await catalogueDatabase()
  services = makeServices(catalogue)
  const { overlay } = await services.overlays.createOverlay({ overlay: Overlay.fromPartial({ shown: { title: 'a' } }) }, owner)
  const { contactForm } = await services.forms.createContactForm({ contactForm: ContactForm.fromPartial({ reference: 'a' }) }, owner)
  overlayId = overlay?.shown?.overlayId ?? ''
  contactFormId = contactForm?.contactFormId ?? ''
})
afterAll(() => catalogue.close())

type MakeCall = (call: Call) => Promise<unknown>
/** Returns every call about one record. */
const listRecordCalls = (ids = { overlayId, contactFormId }): MakeCall[] => {
  const overlay = Overlay.fromPartial({ shown: { overlayId: ids.overlayId, title: 'mine' } })
  return [
    (call) => services.overlays.getOverlay(ids, call),
    (call) => services.overlays.updateOverlay({ overlay, updateMask: [] }, call),
    (call) => services.overlays.updateOverlay({ overlay, updateMask: ['title'] }, call),
    (call) => services.overlays.deleteOverlay(ids, call),
    (call) => services.forms.getContactForm(ids, call),
    (call) => services.forms.listSubmissions({ ...ids, ...page }, call),
    (call) => services.forms.deleteContactForm(ids, call),
  ]
}
/** Returns every call that names an organisation. */
const listOrganisationCalls = (organisationId: string): MakeCall[] => [
  (call) => services.overlays.listOverlays({ organisationId, ...page }, call),
  (call) => services.overlays.createOverlay({ overlay: Overlay.fromPartial({ organisationId, shown: { title: 'a' } }) }, call),
  (call) => services.forms.listContactForms({ organisationId, ...page }, call),
  (call) => services.forms.createContactForm({ contactForm: ContactForm.fromPartial({ organisationId, reference: 'a' }) }, call),
  (call) => services.places.listVideosByPlace({ organisationId, place: { $case: 'city', value: 'Delft' }, ...page }, call),
]
/** Makes the calls one after another and returns the outcome of each: `done` or the error. */
async function collectOutcomes(calls: MakeCall[], call: Call): Promise<string[]> {
  const output: string[] = []
  for (const makeCall of calls) {
    output.push(
      await makeCall(call).then(
        () => 'done',
        (error) => `${error.reason} ${error.message.replaceAll(/\d+/g, '')}`,
      ),
    )
  }
  return output
}

describe('the access checks of the handlers', () => {
  test('a record of another organisation returns the same error as a missing one', async () => {
    const foreign = await collectOutcomes(listRecordCalls(), foreignCaller)
    expect(foreign).toEqual(await collectOutcomes(listRecordCalls({ overlayId: '999999', contactFormId: '999999' }), foreignCaller))
    expect(foreign.every((reason) => /^(OVERLAY|CONTACT_FORM)_NOT_FOUND/.test(reason))).toBe(true)
    expect(await collectOutcomes(listRecordCalls({ overlayId: 'x', contactFormId: '0' }), owner)).toEqual(
      foreign.map((reason) => expect.stringContaining(reason.split(' ')[0] ?? '')),
    )
  })
  test('another organisation is forbidden, whether it exists or not', async () => {
    for (const organisationId of ['1', '999999', 'x']) {
      const output = await collectOutcomes(listOrganisationCalls(organisationId), foreignCaller)
      expect(output.every((reason) => reason.startsWith('FOREIGN_ORGANISATION'))).toBe(true)
    }
    expect(
      (await collectOutcomes(listOrganisationCalls('999999'), system)).every((reason) => reason.startsWith('ORGANISATION_NOT_FOUND')),
    ).toBe(true)
    expect((await collectOutcomes(listOrganisationCalls(''), system)).every((reason) => reason.startsWith('INVALID_INPUT'))).toBe(true)
  })
  test('guests and services are rejected, except for submissions', async () => {
    const all = [
      ...listRecordCalls(),
      ...listOrganisationCalls('1'),
      (call: Call) => services.places.lookUpPostcode({ postcode: '1012', country: '' }, call),
    ]
    expect((await collectOutcomes(all, guest)).every((reason) => reason.startsWith('KEY_REQUIRED'))).toBe(true)
    expect((await collectOutcomes(all, serviceCall('encoding', 'r'))).every((reason) => reason.startsWith('USERS_ONLY'))).toBe(true)
    const submission = {
      contactFormId,
      videoId: '',
      name: '',
      companyName: '',
      email: 'ada@example.org',
      optIn: false,
      validateOnly: false,
    }
    expect(Object.keys(await services.forms.submitContactForm(submission, guest))).toEqual(['submissionId'])
  })
  test('the owner may make every call', async () => {
    expect(await collectOutcomes([...listOrganisationCalls('1'), ...listRecordCalls()], owner)).toEqual(Array(12).fill('done'))
  })
})

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import { checkState } from './support/page-state.ts'
import { makePicture, probePicture } from './support/pictures.ts'
import { makeSource } from './support/sources.ts'
import { SYSTEM_KEY, type TestPlatform } from './support/test-platform.ts'
import {
  chooseFiles,
  countLoginPrompts,
  enterKey,
  findInUploads,
  holdParts,
  openUploadPage,
  startUploadSetup,
  type UploadSetup,
  uploadedId,
} from './support/upload-page.ts'
import { createTenant, createUser, type Tenant, type VideoRecord } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const VTT = 'WEBVTT\n\n00:00.000 --> 00:02.000\nGood evening\n'

let setup: UploadSetup
let folder: string
let platform: TestPlatform
let tenant: Tenant
let page: Page
let pageErrors: string[]

describeInBrowser('the upload page', () => {
  beforeAll(async () => {
    setup = await startUploadSetup(browserFile ?? '')
    folder = setup.folder
    platform = setup.platform
    tenant = setup.tenant
    await makeSource(folder, 'small.mp4')
    await writeFile(join(folder, 'talk.en.vtt'), VTT)
    await writeFile(join(folder, 'broken.de.srt'), 'no captions at all')
    const picture = await makePicture('png', 'red')
    await writeFile(join(folder, 'cover.png'), picture)
    await writeFile(join(folder, 'broken.png'), picture.subarray(0, picture.length / 2))
  }, 120_000)
  afterAll(() => setup?.close())
  beforeEach(async () => {
    const opened = await openUploadPage(setup.browser)
    page = opened.page
    pageErrors = opened.errors
  })
  afterEach(async () => {
    await page.context().close()
    expect(pageErrors).toEqual([])
  })

  test('a dropped file survives a broken connection and plays while it is encoded', async () => {
    // The host name differs from that of the URLs that the server returns.
    await page.goto(`${platform.url.replace('127.0.0.1', 'localhost')}/upload`)
    const content = (await readFile(join(folder, 'small.mp4'))).toString('base64')
    // Passed as text, because the tests do not have the types of the DOM.
    await page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${content}'), (character) => character.charCodeAt(0))
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([bytes], 'Launch Ω.mp4', { type: 'video/mp4' }))
      document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    })()`)
    await shown('Waiting for your access key').waitFor()
    let breaks = 1
    await page.route('**/v2/upload/tus/*', (route) =>
      route.request().method() === 'PATCH' && breaks-- > 0 ? route.abort('connectionreset') : route.continue(),
    )
    await enterKey(page, tenant.key)
    await shown('Connection lost. The upload continues by itself').waitFor()
    await page.locator('vitascope-player').waitFor()
    await shown('Ready to watch.').waitFor({ timeout: extendTimeout(90_000) })
    const { body } = await platform.guest.get(`/video/${await uploadedId(page, 'Launch Ω')}`)
    expect(body).toMatchObject({ video_title: 'Launch Ω', media_title: 'Launch Ω', status: { status: 'ok' } })
  }, 240_000)

  test('an upload survives a killed gateway and a killed encoding service', async () => {
    await writeFile(join(folder, 'noise.mp4'), randomBytes(16 * 2 ** 20))
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, tenant.key)
    await page.getByText('Access key accepted').waitFor()
    const kills = ['gateway', 'encoding']
    let parts = 0
    await page.route('**/v2/upload/tus/*', async (route) => {
      const name = route.request().method() === 'PATCH' && ++parts >= 2 ? kills.shift() : undefined
      const pid = name === undefined ? undefined : platform.pid(name)
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      await route.continue()
    })
    await choose('noise.mp4')
    await shown('The upload continues by itself').waitFor()
    await uploadedId(page, 'noise')
    expect(kills).toEqual([])
    const { body } = await platform.withKey(tenant.key).get<VideoRecord[]>(`/video/organisation/${tenant.organisationId}`)
    expect(body.filter(({ video_title }) => video_title === 'noise')).toHaveLength(1)
  }, 120_000)

  test('a rejected key opens no login dialog of the browser, and its files wait for another key', async () => {
    const prompts = await countLoginPrompts(page)
    await page.goto(`${platform.url}/upload`)
    await choose('small.mp4')
    await enterKey(page, 'key-of-no-user-at-all')
    await page.getByRole('alert').getByText('This access key is not valid.').waitFor()
    await shown('Waiting for your access key').waitFor()
    expect(prompts()).toBe(0)
    // The same counter detects a dialog: that of an address that the user opens.
    const other = await page.context().newPage()
    const otherPrompts = await countLoginPrompts(other)
    await other.goto(`${platform.url}/v2/user`)
    expect([prompts(), otherPrompts()]).toEqual([0, 1])
    await other.close()
    await enterKey(page, tenant.key)
    await uploadedId(page, 'small')
  }, 120_000)

  test('a key that is revoked during an upload opens no login dialog, and the upload continues with another key', async () => {
    const user = await createUser(platform.system, tenant.organisationId, 'uploader')
    const prompts = await countLoginPrompts(page)
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, user.key)
    await page.getByText('Access key accepted').waitFor()
    const release = await holdParts(page)
    await choose('small.mp4')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    expect((await platform.system.delete(`/user/${user.userId}`)).status).toBeLessThan(300)
    await waitFor(async () => (await platform.withKey(user.key).get('/upload/config')).status === 401, {
      describe: 'the key to be rejected',
    })
    await release()
    await page.getByRole('alert').getByText('This access key is not valid.').waitFor()
    expect(prompts()).toBe(0)
    await enterKey(page, tenant.key)
    await uploadedId(page, 'small')
  }, 120_000)

  test('a key of several organisations requires the number of one', async () => {
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, SYSTEM_KEY)
    const number = page.getByLabel('Number of the organisation')
    await number.fill('999999')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').getByText('There is no organisation with this number.').waitFor()
    await number.fill(tenant.organisationId)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Access key accepted').waitFor()
    await choose('small.mp4')
    const { body } = await platform.guest.get(`/video/${await uploadedId(page, 'small')}`)
    expect(body['organisation_id']).toBe(tenant.organisationId)
  }, 120_000)

  test('a quota that is used up is explained, also after a lost response, and the same file is accepted later', async () => {
    const poor = await createTenant(platform.system)
    const api = platform.withKey(poor.key)
    const source = { url: `${platform.url}/none.mp4`, organisation_id: poor.organisationId }
    const setQuota = async (bytes: number, result: number) => {
      expect((await platform.system.put(`/organisation/${poor.organisationId}`, { quota: { bytes } })).status).toBe(200)
      await waitFor(async () => (await api.post('/video/upload', source)).status === result, { describe: 'the quota to take effect' })
    }
    await setQuota(0, 413)
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, poor.key)
    await page.getByText('Access key accepted').waitFor()
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await choose('small.mp4')
    const rejected = () => shown('Your organisation has no space left for this file.').waitFor()
    await rejected()
    let losses = 1
    await page.route('**/v2/upload/tus', async (route) => {
      if (route.request().method() !== 'POST' || losses-- <= 0) return route.continue()
      // The server rejects the upload, and the response does not arrive.
      expect((await route.fetch()).status()).toBe(413)
      await route.abort('connectionreset')
    })
    const retry = () => page.getByRole('button', { name: 'Try again: small' }).click()
    await retry()
    await shown('Connection lost').waitFor()
    await rejected()
    await setQuota(1_000_000_000, 200)
    await retry()
    await uploadedId(page, 'small')
    // One upload was rejected, one lost its response and was retried, one was accepted.
    expect(posts.filter((url) => url.endsWith('/upload/tus'))).toHaveLength(4)
  }, 120_000)

  test('title, description, visibility and captions that are set during the upload belong to the video, and one broken file fails alone', async () => {
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, tenant.key)
    await page.getByText('Access key accepted').waitFor()
    const release = await holdParts(page)
    await choose('small.mp4')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByLabel('Title').fill('Summer meeting')
    await page.getByLabel('Description').fill('With all teams')
    await page.getByRole('radio', { name: 'Only my organisation' }).check()
    await page.getByLabel('Add caption files').setInputFiles([join(folder, 'talk.en.vtt'), join(folder, 'broken.de.srt')])
    await shown('Saved when the upload is complete').waitFor()
    await expect(page.getByLabel('Language of talk.en.vtt').inputValue()).resolves.toBe('en')
    await release()
    const videoId = await uploadedId(page, 'Summer meeting')
    await shown('Saved', { exact: true }).waitFor()
    await shown('Added', { exact: true }).waitFor()
    await shown('Not added. No captions were found in this file.').waitFor()
    const readVideo = async () => (await platform.withKey(tenant.key).get<VideoRecord & Captioned>(`/video/${videoId}`)).body
    const video = await readVideo()
    expect(video).toMatchObject({ video_title: 'Summer meeting', description: 'With all teams', visibility: 'private' })
    expect(video.captions.data).toEqual([expect.objectContaining({ title: 'English', language: 'en' })])
    expect((await platform.guest.get(`/video/${videoId}`)).status).toBe(404)

    await page.getByLabel('Language of talk.en.vtt').selectOption('cy')
    await page.getByRole('radio', { name: 'Everyone with the link' }).check()
    await waitFor(async () => (await readVideo())['visibility'] === 'unlisted', { describe: 'the visibility to be saved' })
    await waitFor(async () => (await readVideo()).captions.data[0]?.title === 'Welsh', { describe: 'the language to be saved' })
    await page.locator('vitascope-player').waitFor()
    await page.getByRole('button', { name: 'Remove talk.en.vtt' }).click()
    await waitFor(async () => (await readVideo()).captions.data.length === 0, { describe: 'the captions to be deleted' })
  }, 120_000)

  test('a picture that is chosen during the upload is the poster of the video, and can be replaced and removed', async () => {
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, tenant.key)
    await page.getByText('Access key accepted').waitFor()
    const release = await holdParts(page)
    await choose('small.mp4')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByLabel('Title').fill('With a picture')
    await page.getByLabel('Choose a picture').setInputFiles(join(folder, 'talk.en.vtt'))
    await page.getByRole('alert').getByText('“talk.en.vtt” is not a picture of a known kind. Choose a JPEG, PNG or WebP file.').waitFor()
    await page.getByLabel('Choose a picture').setInputFiles(join(folder, 'cover.png'))
    await shown('Set when the upload is complete').waitFor()
    await waitFor(async () => (await page.locator('.poster-preview').getAttribute('width')) === '320', { describe: 'the preview' })
    await release()
    const videoId = await uploadedId(page, 'With a picture')
    await shown('Set', { exact: true }).waitFor()
    const readVideo = async () =>
      (await platform.withKey(tenant.key).get<VideoRecord & { poster: { status: string } | null }>(`/video/${videoId}`)).body
    const { poster, uri } = await readVideo()
    expect(poster?.status).toBe('ok')
    const bytes = Buffer.from(await (await fetch(uri.poster_frame)).arrayBuffer())
    expect(await probePicture(bytes)).toEqual({ size: 'mjpeg,1280,720', rgb: [3, 0, 0] })

    await page.getByLabel('Choose another picture').setInputFiles(join(folder, 'broken.png'))
    await shown('Not set. This picture cannot be read. Save it again as JPEG or PNG, and choose the new file.').waitFor()
    await page.getByRole('button', { name: 'Remove broken.png' }).click()
    await waitFor(async () => (await readVideo()).poster === null, { describe: 'the picture to be removed' })
    await waitFor(async () => (await page.locator('.choose-poster input:focus').count()) === 1, {
      describe: 'the file field to have the focus',
    })
  }, 120_000)

  test('a video has the selected visibility of new videos from its creation', async () => {
    // The key may only upload, so the page cannot change the video after its creation.
    const uploader = await createUser(platform.system, tenant.organisationId, 'uploader', ['upload::post'])
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, uploader.key)
    await page.getByText('Access key accepted').waitFor()
    await page.getByLabel('Who can watch new videos').selectOption('private')
    const release = await holdParts(page)
    await choose('small.mp4')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByLabel('Description').fill('Of no use')
    await release()
    const videoId = await uploadedId(page, 'small')
    await page.getByRole('alert').getByText('This access key may not change videos.').waitFor()
    const { body } = await platform.withKey(tenant.key).get(`/video/${videoId}`)
    expect(body).toMatchObject({ visibility: 'private', video_title: 'small', description: '' })
  }, 120_000)

  test('several files upload two at a time, and a paused or cancelled one makes place for the next', async () => {
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, tenant.key)
    await page.getByText('Access key accepted').waitFor()
    const release = await holdParts(page)
    for (const name of ['one.mp4', 'two.mp4', 'three.mp4', 'four.mp4']) {
      await writeFile(join(folder, name), await readFile(join(folder, 'small.mp4')))
    }
    await choose('one.mp4', 'two.mp4', 'three.mp4', 'four.mp4')
    const waiting = (count: number) =>
      waitFor(async () => (await shown('Waiting for its turn').count()) === count, { describe: `${count} files to wait` })
    await waiting(2)
    await page.getByRole('button', { name: 'Pause: one' }).click()
    await waiting(1)
    await page.getByRole('button', { name: 'Cancel: two' }).click()
    await waiting(0)
    await release()
    await page.getByRole('button', { name: 'Continue: one' }).click()
    await shown('3 of 3 uploaded').waitFor()
  }, 120_000)

  test('each state has no accessibility violations in light and dark, and works with the keyboard', async () => {
    await page.goto(`${platform.url}/upload`)
    await checkState(page, 'empty')
    await page.keyboard.press('Tab')
    await page.keyboard.type('key-of-no-user-at-all')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await checkState(page, 'wrong-key')
    // The field has the focus again.
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(tenant.key)
    await page.keyboard.press('Enter')
    await page.getByText('Access key accepted').waitFor()
    await waitFor(async () => (await page.locator('#file:focus').count()) === 1, { describe: 'the file field to have the focus' })
    await checkState(page, 'ready')

    const release = await holdParts(page, 1)
    await writeFile(
      join(folder, 'Summer meeting.mp4'),
      Buffer.concat([await readFile(join(folder, 'small.mp4')), Buffer.alloc(12 * 2 ** 20)]),
    )
    await choose('Summer meeting.mp4')
    await shown(/^1\.0 MB of/).waitFor()
    await choose('small.mp4')
    await page.getByLabel('Description').first().fill('Talks of all teams, and the plans for next year.')
    await page
      .getByLabel('Add caption files')
      .first()
      .setInputFiles([join(folder, 'talk.en.vtt'), join(folder, 'broken.de.srt')])
    for (const name of ['cover.png', 'broken.png']) {
      await page.getByLabel('Choose a picture').first().setInputFiles(join(folder, name))
    }
    await checkState(page, 'uploading')
    await page.getByRole('button', { name: 'Pause: Summer meeting' }).focus()
    await page.keyboard.press('Enter')
    await shown('Paused.').waitFor()
    await checkState(page, 'paused')
    await release()
    await page.context().setOffline(true)
    await page.keyboard.press('Enter')
    await shown('Connection lost.').first().waitFor()
    await checkState(page, 'connection-lost')
    await page.context().setOffline(false)
    await uploadedId(page, 'Summer meeting')
    await shown('Not added.').waitFor()
    await checkState(page, 'preparing')
    await shown('2 of 2 uploaded').waitFor()
    await shown('Ready to watch.')
      .nth(1)
      .waitFor({ timeout: extendTimeout(120_000) })
    await checkState(page, 'done')

    await page.getByRole('button', { name: 'Remove from the list: small' }).click()
    await page.getByRole('button', { name: 'Remove from the list: Summer meeting' }).click()
    await waitFor(async () => (await page.locator('#file:focus').count()) === 1, { describe: 'the file field to have the focus' })
    const problem = { status: 413, code: 'quota_bytes', detail: 'the quota is used up' }
    await page.route('**/v2/upload/tus', (route) => route.fulfill({ status: 413, json: problem }))
    await writeFile(join(folder, 'empty.mp4'), '')
    await choose('small.mp4', 'empty.mp4')
    await shown('This file is empty.').waitFor()
    await shown('Your organisation has no space left for this file.').waitFor()
    await checkState(page, 'failed')
  }, 240_000)
})

interface Captioned {
  captions: { data: { title: string; language: string }[] }
}

const choose = (...names: string[]) => chooseFiles(page, folder, ...names)
const shown = (text: string | RegExp, options: { exact?: boolean } = {}) => findInUploads(page, text, options)

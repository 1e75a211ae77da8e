import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { testLog } from '@vitascope/testing'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { buildRenditionSet, createCall } from '../../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import { createMailStore, type MailStore } from './mail-store.ts'
import { createMailTransport, type MailSettings } from './mail-transport.ts'
import { createMailer, type FindRecipient, type IssueSignInLink } from './mailer.ts'

const from = { email: 'no-reply@videos.example', name: 'Vitascope' }
let catalogue: CatalogueDatabase
let mails: MailStore
let folder: string
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  mails = createMailStore(catalogue.db)
  folder = await mkdtemp(join(tmpdir(), 'vitascope-mail-'))
})
const servers: SMTPServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise<void>((resolve) => server.close(resolve))))
  await catalogue.db.query('delete from mail')
})
afterAll(async () => {
  await catalogue.close()
  await rm(folder, { recursive: true })
})

/** A mail server that records accepted mails. `refuse` returns the SMTP status for a recipient. */
async function smtp(refuse: (address: string) => number | undefined = () => undefined) {
  const received: { to: string[]; raw: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _, done) => {
      const responseCode = refuse(address)
      done(responseCode === undefined ? null : Object.assign(new Error('no'), { responseCode }))
    },
    onData(stream, { envelope }, done) {
      text(stream).then((raw) => {
        received.push({ to: envelope.rcptTo.map(({ address }) => address), raw })
        done()
      }, done)
    },
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, received }
}

const uploader: FindRecipient = async (userId) => (userId === '7' ? { email: 'uma@uploads.example', name: 'Uma Upton' } : undefined)
const run = async (settings: Partial<MailSettings>, findRecipient = uploader, issueSignInLink: IssueSignInLink = async () => undefined) => {
  const send = createMailTransport({ smtpUrl: undefined, folder: undefined, from, ...settings }, testLog)
  if (!send) throw new Error('there is no way for mail')
  await createMailer({ store: mails, send, findRecipient, issueSignInLink, publicUrl: 'https://videos.example', log: testLog }).run(
    new AbortController().signal,
  )
}
const rows = () =>
  catalogue.db.query<{ state: string; attempt: number; wait: number }>(
    'select state, attempt, extract(epoch from next_time - now())::float8 as wait from mail order by mail_id',
  )
const makeDue = () => catalogue.db.query(`update mail set next_time = now() - interval '1 second'`)

test('the success message is sent to the mail server', async () => {
  const server = await smtp()
  const { videoId } = await catalogue.play({ title: 'Über <b>Äpfel</b> & "Birnen"' })
  await run({ smtpUrl: server.url })
  const [letter, ...more] = server.received
  expect([letter?.to, more]).toEqual([['uma@uploads.example'], []])
  const mail = await PostalMime.parse(letter?.raw ?? '')
  expect(mail).toMatchObject({
    from: { address: 'no-reply@videos.example', name: 'Vitascope' },
    to: [{ address: 'uma@uploads.example', name: 'Uma Upton' }],
    subject: 'Your video is ready: Über <b>Äpfel</b> & "Birnen"',
    messageId: expect.stringMatching(/^<[0-9a-f-]{36}@videos\.example>$/),
  })
  expect(mail.text).toContain(`“Über <b>Äpfel</b> & "Birnen"” has been encoded`)
  expect(mail.text).toContain(`https://videos.example/player/${videoId}`)
  expect(mail.html).toContain('Über &lt;b&gt;Äpfel&lt;/b&gt; &amp; &quot;Birnen&quot;')
  expect(mail.html).toContain(`href="https://videos.example/player/${videoId}"`)
  expect(mail.html).not.toContain('<b>')
  expect((await rows()).map(({ state }) => state)).toEqual(['sent'])
})

test.each([
  ['a line break in the title', { title: 'A\r\nBcc: eve@evil.example\r\n\r\n<script>' }, 'Uma'],
  ['Unicode line breaks in the title', { title: 'A\u2028Bcc: eve@evil.example\u0085Bcc: eve@evil.example' }, 'Uma'],
  ['a line break in the name', { title: 'A' }, 'Uma\r\nBcc: eve@evil.example'],
  ['an address in the name', { title: 'A' }, 'Uma <eve@evil.example>,'],
])('%s adds no header and no recipient', async (_, fields, name) => {
  const server = await smtp()
  await catalogue.play(fields)
  await run({ smtpUrl: server.url }, async () => ({ email: 'uma@uploads.example', name }))
  expect(server.received.map(({ to }) => to)).toEqual([['uma@uploads.example']])
  const mail = await PostalMime.parse(server.received[0]?.raw ?? '')
  expect([mail.bcc, mail.cc, mail.to?.length]).toEqual([undefined, undefined, 1])
  expect(mail.headers.map(({ key }) => key).toSorted()).toEqual(
    ['from', 'to', 'message-id', 'auto-submitted', 'subject', 'date', 'mime-version', 'content-type'].toSorted(),
  )
  expect(mail.html).not.toContain('<script')
})

test.each(['uma@uploads.example, eve@evil.example', 'uma@uploads.example\r\nRCPT TO:<eve@evil.example>', '<eve@evil.example>', 'x', ''])(
  'sends nothing to the invalid address %j',
  async (email) => {
    const server = await smtp()
    await catalogue.play()
    await run({ smtpUrl: server.url }, async () => ({ email, name: '' }))
    expect([server.received, (await rows()).map(({ state }) => state)]).toEqual([[], ['dropped']])
  },
)

test('sends no mail to users who disabled it, for a replacement or for a failure', async () => {
  await catalogue.play({}, { notify: false })
  const { jobId } = await catalogue.upload()
  await catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: 'no video' }, 1)
  const { mediaId } = await catalogue.play({}, { notify: false })
  const second = await catalogue.media.replace(
    { scope: '1', mediaId },
    { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false },
    createCall(),
  )
  await catalogue.jobs.apply(second.jobId, { kind: 'published', renditions: buildRenditionSet(second.jobId) }, 1)
  expect(await rows()).toEqual([])
})

test('a replacement of a failed upload sends the success mail if the uploader wants it', async () => {
  for (const notify of [true, false]) {
    const { jobId, mediaId } = await catalogue.upload({}, { notify })
    await catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: 'no video' }, 1)
    const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
    const second = await catalogue.media.replace({ scope: '1', mediaId }, source, createCall())
    await catalogue.jobs.apply(second.jobId, { kind: 'published', renditions: buildRenditionSet(second.jobId) }, 1)
    expect((await rows()).map(({ state }) => state)).toEqual(['waiting'])
  }
})

test('sends no mail for a deleted video or user', async () => {
  const server = await smtp()
  const { mediaId } = await catalogue.play()
  await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
  await catalogue.play({}, { userId: '8' })
  await run({ smtpUrl: server.url })
  expect([server.received, (await rows()).map(({ state }) => state)]).toEqual([[], ['dropped', 'dropped']])
})

test('retries an unavailable server for a day with the same Message-ID', async () => {
  const unavailableServer = await smtp(() => 451)
  await catalogue.play()
  for (let attempt = 1; attempt <= 12; attempt++) {
    await run({ smtpUrl: unavailableServer.url })
    const [row] = await rows()
    const middle = Math.min(3_600, 5 * 2 ** Math.min(attempt, 10))
    expect(row).toMatchObject({ state: 'waiting', attempt })
    expect(row?.wait).toBeGreaterThan(middle * 0.7 - 5)
    expect(row?.wait).toBeLessThan(middle * 1.3)
    await makeDue()
  }
  const server = await smtp()
  const [first] = await catalogue.db.query<{ message_id: string }>('select message_id from mail')
  await run({ smtpUrl: server.url })
  expect(server.received[0]?.raw).toContain(`<${first?.message_id}@videos.example>`)

  await catalogue.play()
  await catalogue.db.query(`update mail set create_time = now() - interval '25 hours' where state = 'waiting'`)
  await run({ smtpUrl: unavailableServer.url })
  expect((await rows()).map(({ state }) => state)).toEqual(['sent', 'failed'])
}, 60_000)

test('does not retry a permanently rejected address', async () => {
  const server = await smtp(() => 550)
  await catalogue.play()
  await run({ smtpUrl: server.url })
  expect((await rows()).map(({ state, attempt }) => [state, attempt])).toEqual([['failed', 1]])
})

test('a sender whose lease expired changes nothing', async () => {
  await catalogue.play()
  const dead = await mails.lease()
  if (!dead) throw new Error('nothing was due')
  expect(await mails.lease()).toBeUndefined()
  await makeDue()
  const alive = await mails.lease()
  expect(alive).toMatchObject({ messageId: dead.messageId, attempt: 2 })
  await mails.end(dead, 'failed')
  expect((await rows()).map(({ state }) => state)).toEqual(['waiting'])
})

test('writes the mail to a file without a server', async () => {
  await catalogue.play({ title: 'To a file' })
  await run({ folder })
  const files = await readdir(folder)
  expect(files).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\.eml$/)])
  const mail = await PostalMime.parse(await readFile(join(folder, files[0] ?? '')))
  expect(mail).toMatchObject({ subject: 'Your video is ready: To a file', to: [{ address: 'uma@uploads.example' }] })
})

describe('a link that signs a user in', () => {
  const link = { secret: 'secret-of-the-link', email: 'ina@invited.example', name: 'Ina <b>', expireTime: new Date('2026-12-05T14:00:00Z') }
  const queue = (signInLinkId: string) =>
    mails.queueSignInLink({ signInLinkId, organisationId: '1', userId: '7' }, new AbortController().signal)

  test.each([
    ['invitation', 'Your invitation to videos.example', 'Choose a password'],
    ['password_reset', 'New password for videos.example', 'If you did not request it'],
  ] as const)('is sent once for the purpose %s', async (purpose, subject, sentence) => {
    const server = await smtp()
    const signInLinkId = randomUUID()
    for (let i = 0; i < 2; i++) await queue(signInLinkId)
    const issued: string[] = []
    await run({ smtpUrl: server.url }, uploader, async (id) => {
      issued.push(id)
      return { ...link, purpose }
    })
    expect([issued, server.received.map(({ to }) => to)]).toEqual([[signInLinkId], [['ina@invited.example']]])
    const mail = await PostalMime.parse(server.received[0]?.raw ?? '')
    expect(mail.subject).toBe(subject)
    for (const body of [mail.text, mail.html]) {
      expect(body).toContain('https://videos.example/console/sign-in#link=secret-of-the-link')
      expect(body).toContain('until Sat, 05 Dec 2026 14:00:00 GMT')
      expect(body).toContain(sentence)
    }
    expect(mail.html).toContain('Ina &lt;b&gt;')
    // The database does not contain the secret.
    expect(JSON.stringify(await catalogue.db.query('select * from mail'))).not.toContain('secret')
  })

  test('is not sent if it was used or has expired', async () => {
    const server = await smtp()
    await queue(randomUUID())
    await run({ smtpUrl: server.url })
    expect([server.received, (await rows()).map(({ state }) => state)]).toEqual([[], ['dropped']])
  })

  test('gets a new secret when sending is repeated', async () => {
    let isDown = true
    const server = await smtp(() => (isDown ? 450 : undefined))
    await queue(randomUUID())
    let count = 0
    const issue: IssueSignInLink = async () => ({ ...link, purpose: 'invitation', secret: `secret-${++count}` })
    await run({ smtpUrl: server.url }, uploader, issue)
    isDown = false
    await makeDue()
    await run({ smtpUrl: server.url }, uploader, issue)
    expect(server.received.map(({ raw }) => /secret-\d/.exec(raw)?.[0])).toEqual(['secret-2'])
  })

  test('has another Message-ID when the result of an attempt was lost', async () => {
    const server = await smtp()
    await queue(randomUUID())
    for (let attempt = 0; attempt < 2; attempt++) {
      await catalogue.db.query(`update mail set state = 'waiting', next_time = now()`)
      await run({ smtpUrl: server.url }, uploader, async () => ({ ...link, purpose: 'invitation' }))
    }
    const messages = await Promise.all(server.received.map(({ raw }) => PostalMime.parse(raw)))
    expect(messages).toHaveLength(2)
    expect(messages[0]?.messageId).not.toBe(messages[1]?.messageId)
  })
})

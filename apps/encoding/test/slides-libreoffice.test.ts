import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { slidesUnderTest, twoPages, waitLong } from './slides-under-test.ts'

const slides = slidesUnderTest()

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/** Creates a fake LibreOffice that runs a script. `MADE` in the script is a PDF as base64. */
async function fakeOffice(body: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-office-fake-'))
  folders.push(folder)
  await chmod(folder, 0o755)
  const file = join(folder, 'soffice.bin')
  await writeFile(file, `#!/bin/bash\n${body.replaceAll('MADE', twoPages().toString('base64'))}\n`, { mode: 0o755 })
  return file
}
const pptx = () => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('ppt/presentation.xml')])

test('a PPTX is converted first, and the PDF is kept', async () => {
  // With a new profile, LibreOffice must be started twice.
  const office = await fakeOffice(
    `test -e profile/again || { touch profile/again; exit 81; }
     test -r "\${@: -1}" && test "\${@: -1}" = /office/source.pptx && test -f profile/user/registrymodifications.xcu &&
     echo MADE | base64 -d > source.pdf`,
  )
  await slides.startWorker(await slides.start(), { VITASCOPE_LIBREOFFICE: office })
  const set = await slides.expectSlides(await slides.create(pptx()), 2)
  expect((await slides.environment.storage.stat(`${set.prefix}/${set.documentPath}`))?.bytes).toBe(twoPages().length)
})

test('LibreOffice can only read system programs and its own folder', async () => {
  const listFiles =
    'ls -d / /*; for name in tmp home root proc sys; do ls -A /$name 2>/dev/null; done; cat /etc/passwd /etc/hostname 2>/dev/null; env | grep VITASCOPE'
  const office =
    await fakeOffice(`(${listFiles}) > seen.txt 2>/dev/null; (exec 3<>/dev/tcp/127.0.0.1/${new URL(slides.environment.origin.url('/')).port}) 2>/dev/null && echo connected >> seen.txt
    unshare --mount true 2>/dev/null && echo mounted >> seen.txt; unshare --user true 2>/dev/null && echo created a user namespace >> seen.txt
    { echo '%PDF-1.7'; cat seen.txt; } > source.pdf; cat seen.txt >&2; exit 3`)
  const worker = await slides.startWorker(await slides.start({ VITASCOPE_RETRY_MS: '1' }), { VITASCOPE_LIBREOFFICE: office })
  const jobId = await slides.create(pptx())
  await waitLong(() => slides.environment.catalogue.failed(jobId)[0]?.code === 5002)
  const detail = String(worker.lines.find((line) => line['msg'] === 'task failed')?.['detail'])
  const allowed = /^\/(bin|sbin|lib\d*|usr|opt|etc|var|dev|tmp|office)?$/
  expect(detail.split('\n').filter((line) => line !== '' && !allowed.test(line) && line !== basename(dirname(office)))).toEqual([])
  expect(detail).toContain('/office')
})

test('a file that LibreOffice cannot convert is rejected', async () => {
  await slides.startWorker(await slides.start(), { VITASCOPE_LIBREOFFICE: await fakeOffice('exit 0') })
  await slides.expectRejected(await slides.create(pptx()), /LibreOffice could not convert/)
})

test.each([
  ['a symbolic link', 'ln -s /etc/passwd source.pdf; mkfifo source.pdf; exit 0'],
  ['a hard link', "echo '%PDF-1.7' > other; ln other source.pdf"],
  ['a folder', 'mkdir source.pdf'],
])('%s in place of the converted PDF is not read', async (_, body) => {
  await slides.startWorker(await slides.start(), { VITASCOPE_LIBREOFFICE: await fakeOffice(body) })
  await slides.expectRejected(await slides.create(pptx()), /LibreOffice could not convert/)
})

import { expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { buildOrganisation } from '../test/builders.ts'
import { catalogueDatabase } from '../test/catalogue-database.ts'
import { registerBacklogGauges } from './backlog-gauges.ts'
import { createMailStore } from './notification/mail/mail-store.ts'

test('mails count as waiting only if there is a server or a folder for them', async () => {
  const catalogue = await catalogueDatabase()
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '1' }))
  const link = { signInLinkId: '7d444840-9dc0-41d1-b245-5ffdce74fad2', organisationId: '1', userId: '7' }
  await createMailStore(catalogue.db).queueSignInLink(link, AbortSignal.timeout(10_000))
  const readWaiting = async (sendsMails: boolean) => {
    const metrics = createMetrics('test')
    registerBacklogGauges(metrics, catalogue.db, { sendsMails })
    return /^vitascope_catalogue_mails_waiting\{.*\} (\d+)$/m.exec(await metrics.text())?.[1]
  }
  expect([await readWaiting(true), await readWaiting(false)]).toEqual(['1', '0'])
  await catalogue.close()
})

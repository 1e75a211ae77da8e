import { openChannel } from '@vitascope/grpc'
import { freePort, masterKeyFile, testLog, testTokenKeys } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startCatalogue } from '../../src/service.ts'
import { authStandIn, encodingStandIn } from '../stand-ins.ts'
import { openClients } from './catalogue-clients.ts'

/** Starts the catalogue on a filled database, with its clients. */
export async function startScaleCatalogue(databaseUrl: string) {
  const auth = await authStandIn()
  const encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  await encoding.start()
  const service = await startCatalogue(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      databaseUrl,
      principalKeys: testKeyFiles('catalogue'),
      masterKeyFile: masterKeyFile('a master key of these tests, long enough'),
      tokenKeysFile: testTokenKeys().tokenKeysFile,
      encodingAddress: encoding.address,
      authAddress: auth.address,
      sourceAllow: ['127.0.0.0/8'],
      uploadsPerOrganisation: 100,
      mail: { smtpUrl: undefined, folder: undefined, from: { email: 'no-reply@localhost', name: '' } },
      publicUrl: 'http://localhost:8080',
      reconcile: { everyMs: 1_000, staleSeconds: 30, resultSeconds: 600 },
    },
    testLog,
  )
  const channel = openChannel(service.address, { service: 'catalogue', principals: testPrincipals() })
  return {
    ...openClients(channel),
    async stop() {
      channel.close()
      await service.stop()
      await encoding.stop()
      await auth.stop()
    },
  }
}

import pg from 'pg'

/** One connection for a command. It has no limits of time; one that ends is noticed by the statement after. */
export async function connectOnce(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: 'vitascope-command',
  })
  // Without a listener a connection that dies would end the process before its statement can say why.
  client.on('error', () => {})
  await client.connect()
  return client
}

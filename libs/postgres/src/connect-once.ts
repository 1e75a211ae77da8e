import pg from 'pg'

/**
 * Returns a single connection for a command. Connecting fails after 10 s. Statements have no
 * timeouts. The statement after a lost connection throws its error.
 */
export async function connectOnce(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: 'vitascope-command',
    // The role may have timeouts, for services behind a transaction pooler.
    options: '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0',
  })
  // Without a listener, a lost connection would end the process before its statement can report the
  // reason.
  client.on('error', () => {})
  await client.connect()
  return client
}

import cluster from 'node:cluster'
import express from 'express'
import pg from 'pg'

// Baseline of `bench reads`: a bare Express with prepared statements, without keys, limits, logs or
// validation. It has two processes, as many as gateway and catalogue. Arguments: port, database URL.
// Sends the ids of its processes to its parent when it listens.

const PROCESSES = 2
/** More connections were slower. */
const POOL_SIZE = 4
const COLUMNS = 'v.*, m.renditions'
const FROM = 'catalogue.video v join catalogue.media m using (media_id)'

const [port, databaseUrl] = process.argv.slice(2)
if (cluster.isPrimary) {
  let listening = 0
  cluster.on('listening', () => {
    if (++listening === PROCESSES) process.send?.(Object.values(cluster.workers ?? {}).map((worker) => worker?.process.pid))
  })
  process.on('disconnect', () => process.exit())
  for (let nth = 0; nth < PROCESSES; nth++) cluster.fork()
} else {
  const pool = new pg.Pool({ connectionString: `${databaseUrl}`, max: POOL_SIZE })
  const app = express()
  app.disable('etag')
  app.disable('x-powered-by')
  app.get('/video/:id', async (request, response) => {
    const text = `select ${COLUMNS} from ${FROM} where video_id = $1`
    const { rows } = await pool.query({ name: 'video', text, values: [request.params.id] })
    response.json(rows[0])
  })
  app.get('/organisation/:id', async (request, response) => {
    const text = `select ${COLUMNS} from ${FROM} where v.organisation_id = $1 order by v.create_time, v.video_id limit 20`
    const { rows } = await pool.query({ name: 'list', text, values: [request.params.id] })
    response.json(rows)
  })
  app.listen(Number(port), '127.0.0.1')
}

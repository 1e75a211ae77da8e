import { createServer } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type Listening, listenOnManySockets } from './listen.ts'

let listening: Listening[] = []
afterEach(async () => {
  await Promise.all(listening.map((each) => each.close()))
  listening = []
})

const host = '127.0.0.1'
async function start(port = 0, server = createServer((_, response) => void response.end('ok'))) {
  const started = await listenOnManySockets(server, { host, port })
  listening.push(started)
  return { server, port: started.port }
}

test('a busy process accepts several connections per turn of its event loop', async () => {
  const { server, port } = await start()
  let turns = 0
  let accepted = 0
  server.on('connection', (socket) => {
    accepted++
    socket.on('error', () => {})
  })
  const sockets = Array.from({ length: 320 }, () => connect(port, host).on('error', () => {}))
  const turn = () => {
    if (accepted === sockets.length) return
    turns++
    setImmediate(turn)
  }
  turn()
  await waitFor(() => accepted === sockets.length)
  // Accepting one per turn would take 320 turns. The kernel distributes connections unevenly.
  expect(turns).toBeLessThan(200)
  for (const socket of sockets) socket.destroy()
})

test('listening on a port in use fails with EADDRINUSE', async () => {
  const { port } = await start()
  await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('close waits for running requests, then frees the port', async () => {
  let finish = () => {}
  const { server, port } = await start(
    0,
    createServer((_, response) => {
      finish = () => void response.end('late')
    }),
  )
  const pending = fetch(`http://${host}:${port}/`).then((response) => response.text())
  await new Promise((resolve) => server.once('request', resolve))
  const [running] = listening.splice(0)
  let closed = false
  const closing = running?.close().then(() => {
    closed = true
  })
  await expect(fetch(`http://${host}:${port}/`)).rejects.toThrow()
  expect(closed).toBe(false)
  finish()
  expect(await pending).toBe('late')
  server.closeIdleConnections()
  await closing
  expect((await start(port)).port).toBe(port)
})

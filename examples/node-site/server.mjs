import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listPage, messagePage, watchPage } from './pages.mjs'
import { createTicket, createToken, listVideos, platformUrl, protectVideo } from './vitascope.mjs'
import { verifyEvent } from './webhook.mjs'

const secret = process.env.WEBHOOK_SECRET ?? ''
/** A real site would check here that the visitor is signed in. */
const mayUse = () => true
/** Ids of handled events, because an event can arrive more than once. A real site would store them. */
const handled = new Set()

const server = createServer((request, response) => {
  respond(request, response).catch((error) => {
    console.error(error.message)
    if (error.status === 404) sendHtml(response, 404, messagePage('There is no such video.'))
    else sendHtml(response, 502, messagePage('The video platform is not available now.'))
  })
})
server.listen(Number(process.env.PORT ?? 3000), () => console.log(`http://localhost:${server.address().port}`))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())

async function respond(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost')
  if (request.method === 'POST' && pathname === '/webhook') return receiveEvent(request, response)
  if (!mayUse(request)) return sendHtml(response, 403, messagePage('Sign in first.'))
  if (request.method === 'POST' && pathname === '/uploads') {
    const name = new URLSearchParams(await text(request)).get('name') ?? 'video'
    return sendJson(response, 201, { url: await createTicket(name.slice(0, 255)) })
  }
  if (pathname === '/') return sendHtml(response, 200, listPage(await listVideos()))
  if (pathname === '/upload.js') return sendScript(response, await readFile(new URL('upload.js', import.meta.url)))
  const [, id] = /^\/watch\/(\d+)$/.exec(pathname) ?? []
  if (id !== undefined) return sendHtml(response, 200, watchPage(platformUrl, id, await createToken(id)))
  return sendHtml(response, 404, messagePage('There is no page here.'))
}

/** Handles an event before the response, so that the platform sends it again if that fails. */
async function receiveEvent(request, response) {
  const event = verifyEvent(secret, request.headers, await text(request))
  if (event === undefined) return sendJson(response, 401, { error: 'the signature is not valid' })
  if (!handled.has(event.id)) {
    console.log(`${event.type} ${event.data.video_id}`)
    if (event.type === 'video.created') await protectVideo(event.data.video_id)
    handled.add(event.id)
  }
  return sendJson(response, 200, {})
}

function sendHtml(response, status, html) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(html)
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function sendScript(response, code) {
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(code)
}

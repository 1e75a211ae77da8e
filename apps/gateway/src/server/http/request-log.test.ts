import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import { createMetrics, type Logger } from '@vitascope/telemetry'
import { requestContext } from './request-context.ts'
import { requestLog } from './request-log.ts'

test.each([
  ['/delivery/:id', 206, 'debug'],
  ['/v2/analytics/events', 200, 'debug'],
  ['/v2/analytics/cmcd', 204, 'debug'],
  ['/v2/analytics/cmcd', 429, 'info'],
  ['/v2/analytics/events-report', 200, 'info'],
  ['/v2/video', 200, 'info'],
])('a response of %s with the status %i is logged at the level %s', (template, status, level) => {
  const levels: string[] = []
  const log = { debug: () => levels.push('debug'), info: () => levels.push('info') } as unknown as Logger
  const logRequest = requestLog({ log, metrics: createMetrics('test'), trusted: [], publicUrl: () => 'http://localhost' })
  const request = { headers: {}, socket: {}, method: 'GET', url: '/' } as IncomingMessage
  const response = Object.assign(new EventEmitter(), {
    setHeader: () => {},
    writableFinished: true,
    statusCode: status,
  }) as unknown as ServerResponse
  logRequest(request, response)
  requestContext(response).template = template
  response.emit('close')
  expect(levels).toEqual([level])
})

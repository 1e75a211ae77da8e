import type { ServerResponse } from 'node:http'
import type { Logger } from '@vitascope/telemetry'
import { opensPage, sendErrorPage } from './error-page.ts'
import { toProblem } from './problem.ts'
import { requestContext } from './request-context.ts'
import { sendJson } from './response.ts'

/** Answers a request with the problem document of a thrown error, or with a page if a browser opens a page. */
export type ProblemSender = (error: unknown, response: ServerResponse) => void

/** Returns a sender that answers with the problem of an error and logs internal errors. */
export function problemSender({ publicUrl, log }: { publicUrl: () => string; log: Logger }): ProblemSender {
  return (error, response) => {
    const context = requestContext(response)
    const { problem, headers, isInternal } = toProblem(error, context, publicUrl())
    if (response.destroyed) return
    if (isInternal) log.error({ err: error, request_id: context.requestId, path: context.template }, 'request failed')
    // The connection is closed so that a client cannot mistake a partial response for a complete
    // one.
    if (response.headersSent) return void response.destroy()
    response.statusCode = problem.status
    if (opensPage(response.req)) sendErrorPage(response, problem, headers)
    else sendJson(response, problem, headers)
  }
}

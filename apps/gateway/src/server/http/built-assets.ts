import { existsSync } from 'node:fs'
import { join } from 'node:path'
import express, { type RequestHandler } from 'express'
import { domainError } from './problem.ts'

/** Serves files whose names contain a content hash, so that clients can cache them permanently. Clients that accept gzip receive the compressed copy. */
export function builtAssets(folder: string): RequestHandler {
  const serve = express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', immutable: true, maxAge: '1y' })
  return (request, response, next) => {
    const { path } = request
    const isCompressible = /\.(js|css)$/.test(path)
    if (isCompressible) response.vary('Accept-Encoding')
    if (isCompressible && request.acceptsEncodings('gzip') && /^[\w./@-]+$/.test(path) && existsSync(join(folder, `${path}.gz`))) {
      response.type(path.endsWith('.js') ? 'text/javascript' : 'text/css')
      response.setHeader('Content-Encoding', 'gzip')
      request.url = `${path}.gz`
    }
    serve(request, response, (error?: unknown) => next(error ?? domainError('not_found', 'NOT_FOUND', 'no such file')))
  }
}

import { expect, test } from '@jest/globals'
import { Reply } from '../route/reply.ts'
import { findCreatedId } from './created-id.ts'

test.each([
  ['/video/upload', {}, { id: '9', job_id: '5', status: {} }, '9'],
  ['/folder', {}, { created: '4' }, '4'],
  ['/setting/:organisationId', { organisationId: '2' }, { status: 'Created', message: { created: '12' } }, '12'],
  ['/metadata/:videoId', { videoId: '3' }, { message: { id: '3', created: '2030-01-01 00:00:00' } }, ''],
  ['/contact-form/:contactFormId/submission', { contactFormId: '1' }, { submission_id: '8' }, '8'],
  ['/organisation', {}, { organisation_id: '7', name: 'A' }, '7'],
  ['/media/:mediaId/publish', { mediaId: '6' }, { video_id: '5', media_id: '6' }, ''],
  ['/queue-job', {}, ['31'], '31'],
  ['/apikey/:userId/generate', { userId: '7' }, { key: 'vs_secret', user_id: '7' }, ''],
  ['/video/:videoId/token', { videoId: '3' }, { token: 'secret' }, ''],
])('id of the record that POST %s created', (path, params, body, id) => {
  for (const answered of [body, new Reply(body, { status: 201 })])
    expect(findCreatedId({ verb: 'post', paths: [path] }, params, answered)).toBe(id)
  expect(findCreatedId({ verb: 'put', paths: [path] }, params, body)).toBe('')
})

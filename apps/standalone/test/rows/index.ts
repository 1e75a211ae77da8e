import type { NounRows } from '../support/table-row.ts'
import { apiKeyRows } from './api-key.ts'
import { idRows } from './id.ts'
import { jobRows } from './job.ts'
import { mediaRows } from './media.ts'
import { organisationRows } from './organisation.ts'
import { userRows } from './user.ts'
import { videoRows } from './video.ts'

/** A file for each noun: what shows its endpoints to work. */
export const nouns: readonly NounRows[] = [apiKeyRows, userRows, organisationRows, videoRows, mediaRows, jobRows, idRows]

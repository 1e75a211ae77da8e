import type { Db, Transaction } from '@vitascope/postgres'

/** A mail that this process has leased for sending. */
export interface Mail {
  mailId: string
  /** A UUID that is the same for every attempt. Mails with a sign-in link do not use it. */
  messageId: string
  userId: string
  attempt: number
  createTime: Date
  subject: MailSubject
}

/** What a mail is about: a video that is ready, or a link that signs a user in. */
export type MailSubject =
  | {
      kind: 'video'
      videoId: string
      /** The current title of the video. Undefined if the video was deleted. */
      title: string | undefined
    }
  | { kind: 'sign-in-link'; signInLinkId: string }

export interface MailStore {
  /** Queues the mail with a link that signs a user in. A link that is queued already changes nothing. */
  queueSignInLink(link: { signInLinkId: string; organisationId: string; userId: string }, signal: AbortSignal): Promise<void>
  /** Leases the next due mail for two minutes. */
  lease(signal?: AbortSignal): Promise<Mail | undefined>
  /** Sets the final state, unless another process has leased the mail in the meantime. */
  end(mail: Mail, state: 'sent' | 'dropped' | 'failed', signal?: AbortSignal): Promise<void>
  /** Schedules the next attempt. A mail that is older than 24 hours fails instead. Returns whether it failed. */
  postpone(mail: Mail, signal?: AbortSignal): Promise<boolean>
  /** Removes up to `limit` mails that are older than seven days and returns their number. */
  sweep(limit: number): Promise<number>
}

/** Starts at 10 s, doubles with each attempt up to one hour, and varies by 25 percent. */
const BACKOFF = `least(3600, 5 * 2 ^ least($2::int, 10)) * (0.75 + random() / 2) * interval '1 second'`

export function createMailStore(db: Db): MailStore {
  return {
    async queueSignInLink({ signInLinkId, organisationId, userId }, signal) {
      signal.throwIfAborted()
      await db.query(
        `insert into mail (sign_in_link_id, organisation_id, user_id) values ($1, $2, $3) on conflict (sign_in_link_id) do nothing`,
        [signInLinkId, organisationId, userId],
      )
    },
    async lease(signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `update mail m set attempt = attempt + 1, next_time = now() + interval '2 minutes'
         where mail_id = (select mail_id from mail where state = 'waiting' and next_time <= now()
           order by next_time limit 1 for update skip locked)
         returning mail_id, message_id, video_id, sign_in_link_id, user_id, attempt, create_time,
           (select v.title from video v where v.video_id = m.video_id) as title`,
      )
      return row && toMail(row)
    },
    async end({ mailId, attempt }, state, signal) {
      signal?.throwIfAborted()
      await db.query(`update mail set state = $3 where mail_id = $1 and attempt = $2 and state = 'waiting'`, [mailId, attempt, state])
    },
    async postpone({ mailId, attempt }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<{ has_failed: boolean }>(
        `update mail set next_time = now() + ${BACKOFF},
           state = case when create_time < now() - interval '24 hours' then 'failed' else 'waiting' end
         where mail_id = $1 and attempt = $2 and state = 'waiting' returning state = 'failed' as has_failed`,
        [mailId, attempt],
      )
      return row?.has_failed ?? false
    },
    async sweep(limit) {
      const rows = await db.query(
        `delete from mail where mail_id in (select mail_id from mail where create_time < now() - interval '7 days' order by create_time limit $1)
         returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}

/**
 * Queues the success mail to the uploader in the transaction of the success, if the uploader
 * requested it. There is at most one mail per job. The message id derives from the job, so that mail
 * programs recognise a duplicate if the mail is sent again after a database failover.
 */
export async function queueSuccessMail(tx: Transaction, { jobId }: { jobId: string }): Promise<void> {
  await tx.query(
    `insert into mail (message_id, job_id, video_id, organisation_id, user_id)
     select md5(concat_ws('/', 'mail', job_id, video_id))::uuid, job_id, video_id, organisation_id, user_id from job where job_id = $1 and notify and user_id <> ''
     on conflict (job_id) do nothing`,
    [jobId],
  )
}

interface Row {
  mail_id: string
  message_id: string
  video_id: string | null
  sign_in_link_id: string | null
  user_id: string
  attempt: number
  create_time: Date
  title: string | null
}

function toMail(row: Row): Mail {
  return {
    mailId: row.mail_id,
    messageId: row.message_id,
    userId: row.user_id,
    attempt: row.attempt,
    createTime: row.create_time,
    subject:
      row.sign_in_link_id === null
        ? { kind: 'video', videoId: row.video_id ?? '', title: row.title ?? undefined }
        : { kind: 'sign-in-link', signInLinkId: row.sign_in_link_id },
  }
}

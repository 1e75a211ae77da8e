import type { Db, Transaction } from '@vitascope/postgres'

/** A message of success that this process may send until its lease ends. */
export interface Mail {
  mailId: string
  /** A UUID; the same at every try. */
  messageId: string
  videoId: string
  userId: string
  attempt: number
  createTime: Date
  /** Of the video as it is now; undefined when it is gone. */
  title: string | undefined
}

export interface MailStore {
  /** The next one that is due, leased for two minutes by the database's clock. */
  lease(signal?: AbortSignal): Promise<Mail | undefined>
  /** Ends one, unless somebody has tried it since. */
  end(mail: Mail, state: 'sent' | 'dropped' | 'failed', signal?: AbortSignal): Promise<void>
  /** Has one tried again later, or gives it up 24 hours after the success; answers whether it was given up. */
  postpone(mail: Mail, signal?: AbortSignal): Promise<boolean>
  /** Removes what is older than seven days. */
  sweep(signal?: AbortSignal): Promise<void>
}

/** From 10 s, doubled with each try up to an hour, a quarter more or less. */
const BACKOFF = `least(3600, 5 * 2 ^ least($2::int, 10)) * (0.75 + random() / 2) * interval '1 second'`
const SWEPT_AT_ONCE = 2_000

export function createMailStore(db: Db): MailStore {
  return {
    async lease(signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `update mail m set attempt = attempt + 1, next_time = now() + interval '2 minutes'
         where mail_id = (select mail_id from mail where state = 'waiting' and next_time <= now()
           order by next_time limit 1 for update skip locked)
         returning mail_id, message_id, video_id, user_id, attempt, create_time,
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
      const [row] = await db.query<{ late: boolean }>(
        `update mail set next_time = now() + ${BACKOFF},
           state = case when create_time < now() - interval '24 hours' then 'failed' else 'waiting' end
         where mail_id = $1 and attempt = $2 and state = 'waiting' returning state = 'failed' as late`,
        [mailId, attempt],
      )
      return row?.late ?? false
    },
    async sweep(signal) {
      for (;;) {
        signal?.throwIfAborted()
        const gone = await db.query(
          `delete from mail where mail_id in (select mail_id from mail where create_time < now() - interval '7 days' order by create_time limit $1)
           returning 1`,
          [SWEPT_AT_ONCE],
        )
        if (gone.length < SWEPT_AT_ONCE) return
      }
    },
  }
}

/**
 * Queues the message to the uploader in the transaction of the success, if he wants it; of one job once. Its id is made of the job, so that
 * mailboxes know it again when a database that went back in time has it sent twice.
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
  video_id: string
  user_id: string
  attempt: number
  create_time: Date
  title: string | null
}

function toMail(row: Row): Mail {
  return {
    mailId: row.mail_id,
    messageId: row.message_id,
    videoId: row.video_id,
    userId: row.user_id,
    attempt: row.attempt,
    createTime: row.create_time,
    title: row.title ?? undefined,
  }
}

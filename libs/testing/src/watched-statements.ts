import pg from 'pg'

/** A node of a PostgreSQL plan (EXPLAIN, format JSON). */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  /** Measured rows of one loop. */
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** An executed statement, including those inside functions and triggers. */
export interface WatchedStatement {
  text: string
  /** Duration in milliseconds. */
  duration: number
  plan: PlanNode
}

/**
 * Records every statement that this process runs in a database from now on, with its plan and the actual rows as
 * reported by PostgreSQL. Requires a superuser, and applies to connections that are opened afterwards.
 */
export async function watchStatements(url: string): Promise<{ statements: WatchedStatement[]; stop(): void }> {
  await logPlans(url)
  const statements: WatchedStatement[] = []
  const { connect } = pg.Client.prototype
  const listening = new WeakSet<pg.Client>()
  pg.Client.prototype.connect = function (this: pg.Client, ...input: Parameters<typeof connect>) {
    if (!listening.has(this)) {
      listening.add(this)
      this.on('notice', ({ message }) => {
        const statement = readNotice(message)
        if (statement) statements.push(statement)
      })
    }
    return connect.apply(this, input)
  } as typeof connect
  return {
    statements,
    stop() {
      pg.Client.prototype.connect = connect
    },
  }
}

/** Returns all nodes of a plan. */
export function planNodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(planNodes)]
}

async function logPlans(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name')
    const settings = {
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_analyze': 'on',
      // Timing single nodes costs more than executing them.
      'auto_explain.log_timing': 'off',
      'auto_explain.log_nested_statements': 'on',
      'auto_explain.log_format': 'json',
      'auto_explain.log_level': 'notice',
      'auto_explain.log_parameter_max_length': '0',
    }
    for (const [name, value] of Object.entries(settings)) {
      await client.query(`alter database ${rows[0]?.name} set ${name} = '${value}'`)
    }
  } finally {
    await client.end()
  }
}

function readNotice(message: string | undefined): WatchedStatement | undefined {
  const match = /^duration: ([\d.]+) ms {2}plan:\n(\{[\s\S]*\})$/.exec(message ?? '')
  if (!match?.[1] || !match[2]) return undefined
  const entry = JSON.parse(match[2]) as { 'Query Text': string; Plan: PlanNode }
  return { text: entry['Query Text'], duration: Number(match[1]), plan: entry.Plan }
}

/** Series of metrics with a value per minute, and whether an alert fires some time after their beginning. */
export interface AlertCase {
  name: string
  /** Values of each series in the notation of promtool: `a+bxn` begins at a, and increases n times by b. */
  series: Record<string, string>
  /** Time of the evaluation after the first value, which is at the Unix time 0. */
  at: string
  fires: boolean
}

const NAMESPACE = 'namespace="vitascope"'

/** Returns a series of a metric of the release. */
const of = (metric: string, labels = '') => `${metric}{${NAMESPACE}${labels === '' ? '' : `,${labels}`}}`
const http = (status: number, path = '/video/{video_id}') =>
  of('vitascope_http_request_duration_seconds_count', `service="gateway",method="GET",path="${path}",status="${status}"`)
const delivered = (status: number) => of('vitascope_delivery_request_duration_seconds_count', `service="delivery",status="${status}"`)
const missing = of('vitascope_delivery_missing_files_total', 'service="delivery"')
const reads = (le: string) =>
  of('vitascope_http_request_duration_seconds_bucket', `service="gateway",method="GET",path="/video",status="200",le="${le}"`)
const up = of('up', 'job="videos-vitascope-metrics",pod="videos-vitascope-gateway-0"')
const depth = (kind: string, state: string) => of('vitascope_encoding_queue_depth', `kind="${kind}",state="${state}"`)
const work = (pod: string) => of('vitascope_encoding_queue_work_seconds', `kind="source",pod="${pod}"`)
const rows = (kind: string) => of('vitascope_analytics_organisation_rows', `organisation_id="7",rows="${kind}"`)
const jobsEnded = (pod: string) => of('vitascope_encoding_kubernetes_jobs_ended_total', `outcome="FailedIndexes",pod="${pod}"`)
const storageRequests = (ok: string, failed: string) => ({
  [of('vitascope_storage_request_duration_seconds_count', 'operation="GetObject",outcome="ok"')]: ok,
  [of('vitascope_storage_request_duration_seconds_count', 'operation="GetObject",outcome="failed"')]: failed,
})
const hpa = (metric: string) => of(`kube_horizontalpodautoscaler_${metric}`, 'horizontalpodautoscaler="videos-vitascope-gateway"')
const backup = (metric: string) => of(`kube_cronjob_${metric}`, 'cronjob="videos-vitascope-backup"')
const volume = (metric: string) => of(`kubelet_volume_stats_${metric}`, 'persistentvolumeclaim="data-0"')

/** Returns a case in which the alert fires, and one in which it does not, for the same series with other values. */
function pair(series: string, at: string, firing: string, silent: string): AlertCase[] {
  return [
    { name: 'bad values', series: { [series]: firing }, at, fires: true },
    { name: 'good values', series: { [series]: silent }, at, fires: false },
  ]
}

export const ALERT_CASES: Record<string, AlertCase[]> = {
  VitascopeAnswersWithFaults: [
    { name: '3 % of the requests fail', series: { [http(500)]: '0+3x120', [http(200)]: '0+97x120' }, at: '70m', fires: true },
    { name: '0.5 % of the requests fail', series: { [http(500)]: '0+1x120', [http(200)]: '0+199x120' }, at: '70m', fires: false },
    { name: '6 of 30 requests an hour fail', series: { [http(500)]: '0+0.1x120', [http(200)]: '0+0.4x120' }, at: '70m', fires: false },
    { name: '3 % failed until an hour ago', series: { [http(500)]: '0+3x30 90x90', [http(200)]: '0+97x120' }, at: '75m', fires: false },
    {
      name: 'only files fail',
      series: { [http(503, '/delivery/*')]: '0+9x120', [http(200)]: '0+97x120' },
      at: '70m',
      fires: false,
    },
  ],
  VitascopeTurnsRequestsAway: pair(of('vitascope_http_requests_rejected_total', 'kind="read"'), '20m', '0+90x30', '0+30x30'),
  VitascopeAnswersSlowly: [
    {
      name: 'a tenth of the reads takes 2 s',
      series: { [reads('1')]: '0+90x30', [reads('2.5')]: '0+100x30', [reads('+Inf')]: '0+100x30' },
      at: '25m',
      fires: true,
    },
    {
      name: 'a hundredth of the reads takes 2 s',
      series: { [reads('1')]: '0+99x30', [reads('2.5')]: '0+100x30', [reads('+Inf')]: '0+100x30' },
      at: '25m',
      fires: false,
    },
  ],
  VitascopeDeliveryFails: [
    { name: 'delivery fails', series: { [delivered(503)]: '0+3x120', [delivered(200)]: '0+97x120' }, at: '70m', fires: true },
    {
      name: 'gateways cannot reach delivery',
      series: { [http(503, '/delivery/*')]: '0+9x120', [http(200, '/delivery/*')]: '0+91x120' },
      at: '70m',
      fires: true,
    },
    { name: 'few files fail', series: { [delivered(503)]: '0+1x120', [delivered(200)]: '0+299x120' }, at: '70m', fires: false },
    { name: 'files are rejected', series: { [delivered(403)]: '0+50x120', [delivered(200)]: '0+50x120' }, at: '70m', fires: false },
  ],
  VitascopeFilesMissing: [
    {
      name: 'a tenth of the files is missing',
      series: { [missing]: '0+10x40', [delivered(404)]: '0+10x40', [delivered(200)]: '0+90x40' },
      at: '30m',
      fires: true,
    },
    {
      name: 'a client guesses names',
      series: { [missing]: '0+10x40', [delivered(404)]: '0+10x40', [delivered(200)]: '0+990x40' },
      at: '30m',
      fires: false,
    },
    { name: 'few requests', series: { [missing]: '0+1x40', [delivered(404)]: '0+1x40' }, at: '30m', fires: false },
  ],
  VitascopeErrorBudgetBurns: [
    { name: '0.4 % of the requests fail', series: { [http(500)]: '0+4x300', [http(200)]: '0+996x300' }, at: '3h', fires: true },
    {
      name: 'a tenth of the jobs fails',
      series: {
        [of('vitascope_encoding_job_duration_seconds_count', 'outcome="5001"')]: '0+1x300',
        [of('vitascope_encoding_job_duration_seconds_count', 'outcome="ok"')]: '0+9x300',
      },
      at: '3h',
      fires: true,
    },
    {
      name: 'a tenth of the sources is faulty',
      series: {
        [of('vitascope_encoding_job_duration_seconds_count', 'outcome="4001"')]: '0+1x300',
        [of('vitascope_encoding_job_duration_seconds_count', 'outcome="ok"')]: '0+9x300',
      },
      at: '3h',
      fires: false,
    },
    { name: '0.05 % of the requests fail', series: { [http(500)]: '0+1x300', [http(200)]: '0+1999x300' }, at: '3h', fires: false },
  ],
  VitascopeOldRulesInUse: pair(of('vitascope_delivery_old_rules_total'), '10m', '0+60x20', '60x20'),
  VitascopeStorageReadsRejected: pair(of('vitascope_delivery_storage_reads_rejected_total'), '20m', '0+1x30', '9x30'),
  VitascopePodDown: pair(up, '10m', '0x20', '1x20'),
  VitascopeNotMonitored: [
    { name: 'without targets', series: {}, at: '15m', fires: true },
    { name: 'targets of another job', series: { [of('up', 'job="node"')]: '1x20' }, at: '15m', fires: true },
    { name: 'with a target', series: { [up]: '1x20' }, at: '15m', fires: false },
  ],
  VitascopePodRestarts: [
    ...pair(
      of('kube_pod_container_status_restarts_total', 'pod="videos-vitascope-worker-0",container="worker"'),
      '60m',
      '0+0.1x80',
      '0x20 1x60',
    ),
    ...pair(
      of('kube_pod_init_container_status_restarts_total', 'pod="videos-vitascope-auth-0",container="migrate"'),
      '60m',
      '0+0.1x80',
      '0x20 1x60',
    ),
  ],
  VitascopeVolumeFills: [
    { name: '5 % free', series: { [volume('available_bytes')]: '5x40', [volume('capacity_bytes')]: '100x40' }, at: '20m', fires: true },
    { name: '5 % of the inodes free', series: { [volume('inodes_free')]: '5x40', [volume('inodes')]: '100x40' }, at: '20m', fires: true },
    { name: 'no fixed number of inodes', series: { [volume('inodes_free')]: '0x40', [volume('inodes')]: '0x40' }, at: '20m', fires: false },
    { name: '20 % free', series: { [volume('available_bytes')]: '20x40', [volume('capacity_bytes')]: '100x40' }, at: '20m', fires: false },
  ],
  VitascopeAutoscalerAtMaximum: [
    {
      name: '10 of 10 pods',
      series: { [hpa('status_current_replicas')]: '10x60', [hpa('spec_max_replicas')]: '10x60' },
      at: '40m',
      fires: true,
    },
    {
      name: '9 of 10 pods',
      series: { [hpa('status_current_replicas')]: '9x60', [hpa('spec_max_replicas')]: '10x60' },
      at: '40m',
      fires: false,
    },
  ],
  VitascopeServiceFaults: pair(
    of('vitascope_grpc_call_duration_seconds_count', 'service="auth",method="GetUser",outcome="fault"'),
    '20m',
    '0+12x30',
    '0+3x30',
  ),
  VitascopeCallsRejected: pair(of('vitascope_tls_rejected_calls_total', 'service="auth"'), '20m', '0+1x30', '3x30'),
  VitascopeCertificateEnds: pair(of('vitascope_tls_not_after_timestamp_seconds', 'service="auth"'), '90m', '518400x120', '1209600x120'),
  VitascopeKeyFileRejected: pair(of('vitascope_key_file_rejected', 'service="delivery",file="s3-keys"'), '20m', '1x30', '0x30'),
  VitascopeDatabaseCallsWait: pair(of('vitascope_database_calls_waiting', 'service="catalogue",pool="queries"'), '20m', '1x30', '0x30'),
  VitascopeStorageFails: [
    { name: 'a tenth fails', series: storageRequests('0+60x60', '0+6x60'), at: '30m', fires: true },
    { name: 'one in a hundred fails', series: storageRequests('0+600x60', '0+6x60'), at: '30m', fires: false },
    { name: 'one request an hour fails', series: storageRequests('0x60', '0x20 1x40'), at: '30m', fires: false },
  ],
  VitascopeDatabaseWentBack: [
    { name: 'half an hour ago', series: { [of('vitascope_database_failovers_total')]: '0x5 1x200' }, at: '30m', fires: true },
    { name: 'two hours ago', series: { [of('vitascope_database_failovers_total')]: '0x5 1x200' }, at: '130m', fires: false },
  ],
  VitascopeBackupTooOld: [
    { name: 'a backup two days ago', series: { [backup('status_last_successful_time')]: '-180000x120' }, at: '90m', fires: true },
    { name: 'no backup ever', series: { [backup('created')]: '-180000x120' }, at: '90m', fires: true },
    {
      name: 'a backup yesterday',
      series: { [backup('status_last_successful_time')]: '-90000x120', [backup('created')]: '-180000x120' },
      at: '90m',
      fires: false,
    },
  ],
  VitascopeWorkWaits: [
    {
      name: 'no worker has a task',
      series: { [depth('encode', 'waiting')]: '5x30', [depth('encode', 'leased')]: '0x30' },
      at: '15m',
      fires: true,
    },
    {
      name: 'workers have tasks',
      series: { [depth('encode', 'waiting')]: '5x30', [depth('audio', 'leased')]: '1x30' },
      at: '15m',
      fires: false,
    },
    { name: 'sources wait', series: { [depth('fetch', 'waiting')]: '5x30', [depth('encode', 'leased')]: '0x30' }, at: '15m', fires: false },
  ],
  VitascopeWorkPilesUp: [
    { name: 'sources with five hours of work', series: { [work('a')]: '18000x60' }, at: '40m', fires: true },
    { name: 'the same three hours in two pods', series: { [work('a')]: '10800x60', [work('b')]: '10800x60' }, at: '40m', fires: false },
  ],
  VitascopeKubernetesJobErrors: pair(of('vitascope_encoding_kubernetes_errors_total'), '40m', '0+1x60', '0+0.2x60'),
  VitascopeJobsEndEarly: [
    ...pair(jobsEnded('a'), '30m', '0x10 1x3 2x3 3x60', '0x10 1x10 2x40'),
    {
      name: 'three Jobs, by two pods',
      series: { [jobsEnded('a')]: '0x10 1x50', [jobsEnded('b')]: '0x10 1x5 2x50' },
      at: '30m',
      fires: true,
    },
  ],
  VitascopeJobsFail: [
    {
      name: 'a job failed because of the platform',
      series: { [of('vitascope_encoding_job_duration_seconds_count', 'outcome="5001"')]: '0x10 1x50' },
      at: '30m',
      fires: true,
    },
    {
      name: 'a job failed because of its source',
      series: { [of('vitascope_encoding_job_duration_seconds_count', 'outcome="4001"')]: '0x10 1x50' },
      at: '30m',
      fires: false,
    },
  ],
  VitascopeOutboxLags: pair(of('vitascope_catalogue_outbox_lag_seconds'), '10m', '90x20', '30x20'),
  VitascopeWebhooksLag: pair(of('vitascope_catalogue_webhook_lag_seconds'), '15m', '700x40', '300x40'),
  VitascopeMailsWait: pair(of('vitascope_catalogue_mails_waiting'), '50m', '1x60', '1x20 0 1x40'),
  VitascopeOldRowsStay: pair(of('vitascope_retention_overdue_seconds', 'service="auth",table="audit"'), '20m', '30000x30', '1000x30'),
  VitascopeCountsDiffer: [
    ...pair(of('vitascope_analytics_count_differences'), '5m', '1x10', '0x10'),
    ...pair(of('vitascope_catalogue_usage_differences_total'), '30m', '0x20 1x40', '1x60'),
  ],
  VitascopeCountsNotCompared: pair(of('vitascope_analytics_last_comparison_timestamp_seconds'), '90m', '-180000x120', '-90000x120'),
  VitascopeOrganisationFlooded: [
    { name: 'six million rows', series: { [rows('events')]: '3e6x10', [rows('views')]: '3e6x10' }, at: '5m', fires: true },
    { name: 'four million rows', series: { [rows('events')]: '2e6x10', [rows('views')]: '2e6x10' }, at: '5m', fires: false },
  ],
  VitascopeEventsWait: [
    ...pair(of('vitascope_analytics_merge_lag_seconds'), '20m', '400x30', '100x30'),
    ...pair(of('vitascope_analytics_spool_bytes'), '20m', '500x30', '0x30'),
  ],
  VitascopeWatchdog: [{ name: 'always', series: {}, at: '5m', fires: true }],
}

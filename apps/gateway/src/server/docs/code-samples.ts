import type { Target } from '../route/route-index.ts'

/** Commands of packages/cli by the operations that they call. `packages/cli/test/samples.test.ts` checks their options. */
const COMMANDS: Readonly<Record<string, string>> = {
  listVideos: 'vitascope videos list --query launch',
  getVideo: 'vitascope videos show 42',
  updateVideo: 'vitascope videos update 42 --title "Launch day" --visibility unlisted',
  uploadVideo: 'vitascope upload clip.mp4 --title "Launch day" --wait',
  createTusUpload: 'vitascope upload clip.mp4',
  createReplacementUpload: 'vitascope upload better.mp4 --replace 43',
  deleteMedia: 'vitascope videos delete 42',
  createVideoToken: 'vitascope videos token 42 --expires-in 3600',
  createCaptions: 'vitascope captions add 42 english.vtt --language en-GB --title English',
  getJob: 'vitascope jobs watch 44',
  cancelJob: 'vitascope jobs cancel 44',
  retryJob: 'vitascope jobs retry 44',
  listWebhooks: 'vitascope webhooks list',
  createWebhook: 'vitascope webhooks listen --events video.ready --forward http://localhost:3000/hook',
  getViews: 'vitascope analytics --from 2030-01-01 --to 2030-01-31',
  listViewsByDay: 'vitascope analytics --per-day',
  explainPlaybackDecision: 'vitascope rules explain 42 --address 192.0.2.7 --kind manifest',
  listUserApiKeys: 'vitascope keys list 7',
  createApiKey: 'vitascope keys create 7 --name "Web site" --resource video::get video::post',
  revokeApiKey: 'vitascope keys revoke KEY',
  listUsers: 'vitascope users list',
}

/** Returns the sample of the command line tool for an operation. The page of the API generates the other samples. */
export function codeSamples({ route, documented }: Target): { 'x-codeSamples'?: { lang: string; label: string; source: string }[] } {
  const source = COMMANDS[route.operationId]
  return source === undefined || !documented ? {} : { 'x-codeSamples': [{ lang: 'shell', label: 'vitascope', source }] }
}

import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { addCaptions, type CaptionFlags } from './commands/captions.ts'
import { doctor } from './commands/doctor.ts'
import { INSTALLATION_COMMANDS, runInInstallation } from './commands/installation.ts'
import { cancelJob, retryJob, showJob, watchJob } from './commands/jobs.ts'
import { createKey, type KeyFlags, listKeys, listUsers, revokeKey } from './commands/keys.ts'
import { login } from './commands/login.ts'
import { type ExplainFlags, explain, type PeriodFlags, showViews } from './commands/reports.ts'
import { type UploadFlags, upload } from './commands/upload.ts'
import {
  createToken,
  deleteVideo,
  type ListFlags,
  listVideos,
  showVideo,
  type TokenFlags,
  type UpdateFlags,
  updateVideo,
} from './commands/videos.ts'
import { type ListenFlags, listen, listWebhooks } from './commands/webhooks.ts'
import { completionScript, SHELLS, type Shell } from './completion.ts'
import { type Context, createContext, EXIT, type GlobalOptions } from './context.ts'
import { serveMcp } from './mcp/serve.ts'
import { WRITE_RESOURCES, type WriteResource } from './mcp/tools.ts'
import { createOutput, printObject } from './output.ts'
import { deleteSettings } from './settings.ts'

/** What the commands use of the process. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  setExitCode(code: number): void
  version: string
}

const VISIBILITIES = ['public', 'unlisted', 'private']
const PRESETS = ['upload', 'playback', 'read', 'admin']
const KINDS = ['page', 'manifest', 'segment', 'mp4', 'image', 'caption', 'slide', 'download']

/** Builds the commands. */
export function createProgram({ env, signal, setExitCode, version }: Surroundings): Command {
  const program = new Command('vitascope')
    .description('Commands for a Vitascope platform')
    .version(version)
    .option('--url <url>', 'address of the platform (VITASCOPE_URL)')
    .option('--key <key>', 'API key (VITASCOPE_KEY). Other users of this machine can see options')
    .option('--organisation <id>', 'id of the organisation (VITASCOPE_ORGANISATION)')
    .option('--json', 'print results as JSON, a line for each')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  const options = () => program.opts<GlobalOptions>()
  const output = () => createOutput(options().json === true)
  const open = () => createContext(options(), { env, output: output(), signal })
  /** Runs a command that fails by its result. */
  const check = async (result: Promise<boolean>) => {
    if (!(await result)) setExitCode(EXIT.failed)
  }
  const group = (name: string, description: string) => inherit(program.command(name).description(description))
  const visibility = () => new Option('--visibility <visibility>', 'who finds the video').choices(VISIBILITIES)

  program
    .command('login')
    .description('check an API key and store it for later commands')
    .argument('<url>', 'address of the platform, such as https://video.example.org')
    .addHelpText('after', example('vitascope login https://video.example.org', 'cat key-file | vitascope login http://localhost:8080'))
    .action((url: string) => login(url, options(), { env, output: output() }))
  program
    .command('logout')
    .description('delete the stored address and key')
    .action(async () => {
      await deleteSettings(env)
      printObject(output(), { stored: false })
    })
  program
    .command('upload')
    .description('upload files, folders and URLs; an interrupted upload of a file continues when the command is repeated')
    .argument('<sources...>', 'paths or URLs')
    .option('--title <title>', 'title of the video')
    .addOption(visibility())
    .option('--replace <media-id>', 'replace the source of a media, instead of creating a video')
    .option('--wait', 'wait until the videos are encoded')
    .addHelpText(
      'after',
      example('vitascope upload clip.mp4 --title "Launch day" --wait', 'vitascope upload recordings/ --visibility private'),
    )
    .action(async (sources: string[], flags: UploadFlags) => check(upload(sources, flags, await open()).then((failures) => failures === 0)))

  const videos = group('videos', 'list, show, change, protect and delete videos')
  videos
    .command('list')
    .description('list videos, newest last')
    .option('--query <words>', 'search in titles, descriptions, tags and captions')
    .option('--tag <tag>', 'with this tag')
    .option('--limit <number>', 'maximum number', parseCount, 100)
    .action(async (flags: ListFlags) => listVideos(flags, await open()))
  videos
    .command('show')
    .description('show a video')
    .argument('<video>', 'id')
    .action(async (id: string) => showVideo(id, await open()))
  videos
    .command('update')
    .description('change a video')
    .argument('<video>', 'id')
    .option('--title <title>', 'title')
    .option('--description <text>', 'description')
    .addOption(visibility())
    .option('--require-token', 'viewers need a token')
    .option('--no-require-token', 'viewers need no token')
    .addHelpText('after', example('vitascope videos update 42 --title "Launch day"', 'vitascope videos update 42 --require-token'))
    .action(async (id: string, flags: UpdateFlags) => updateVideo(id, flags, await open()))
  videos
    .command('token')
    .description('create a token with which a viewer watches a protected video')
    .argument('<video>', 'id')
    .option('--expires-in <seconds>', 'lifetime of the token, at most 86400', parseCount, 3_600)
    .option('--ip <address>', 'the only address that may use it')
    .addHelpText('after', example('vitascope videos token 42 --expires-in 600'))
    .action(async (id: string, flags: TokenFlags) => createToken(id, flags, await open()))
  videos
    .command('delete')
    .description('delete a video with its media and files')
    .argument('<video>', 'id')
    .option('--user <id>', 'the user for whom it is deleted; required with a system key')
    .action(async (id: string, flags: { user?: string }) => deleteVideo(id, flags, await open()))

  group('captions', 'add captions to videos')
    .command('add')
    .description('add the captions of a file (.srt, .sbv, .sub, .vtt) to a video')
    .argument('<video>', 'id')
    .argument('<file>', 'path, at most 1 MiB')
    .requiredOption('--language <code>', 'language code, such as en-GB')
    .option('--title <title>', 'title that viewers select; the name of the language by default')
    .addHelpText('after', example('vitascope captions add 42 english.vtt --language en-GB --title English'))
    .action(async (id: string, file: string, flags: CaptionFlags) => addCaptions(id, file, flags, await open()))

  const jobs = group('jobs', 'show, watch, cancel and retry encode jobs')
  const jobCommand = (name: string, description: string, run: (id: string, context: Context) => Promise<void>) =>
    jobs
      .command(name)
      .description(description)
      .argument('<job>', 'id')
      .action(async (id: string) => run(id, await open()))
  jobCommand('show', 'show a job', showJob)
  jobCommand('watch', 'show the progress until the job ends; exits with 1 if it failed', (id, context) => check(watchJob(id, context)))
  jobCommand('cancel', 'cancel a job', cancelJob)
  jobCommand('retry', 'encode again after a failure', retryJob)

  const keys = group('keys', 'list, create and revoke API keys')
  keys
    .command('list')
    .description('list the keys of a user; requires a system key')
    .argument('<user>', 'id of the user')
    .action(async (user: string) => listKeys(user, await open()))
  keys
    .command('create')
    .description('create a key; requires a system key')
    .argument('<user>', 'id of the user')
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(new Option('--preset <preset>', 'what it may do').choices(PRESETS).conflicts('resource'))
    .option('--resource <resources...>', 'resources that it may use, such as video::get')
    .option('--expires <time>', 'time at which it expires, such as 2030-01-31T12:00:00Z')
    .addHelpText('after', example('vitascope keys create 7 --name Newsroom --preset upload'))
    .action(async (user: string, flags: KeyFlags) => createKey(user, flags, await open()))
  keys
    .command('revoke')
    .description('revoke a key')
    .argument('<key>', 'the key')
    .action(async (key: string) => revokeKey(key, await open()))
  group('users', 'list users')
    .command('list')
    .description('list the users of the organisation')
    .action(async () => listUsers(await open()))

  const webhooks = group('webhooks', 'list webhooks and receive events')
  webhooks
    .command('list')
    .description('list webhooks')
    .action(async () => listWebhooks(await open()))
  webhooks
    .command('listen')
    .description('receive events here: prints them, and forwards them to a local address')
    .option('--events <types...>', 'types of events', ['video.created', 'video.playable', 'video.ready', 'video.failed', 'video.deleted'])
    .option('--host <host>', 'address of this machine on which events arrive', '127.0.0.1')
    .option('--port <port>', 'port; 0 for any', parsePort, 0)
    .option('--public-url <url>', 'URL of this machine for the platform, if it differs')
    .option('--forward <url>', 'address to which each event is posted')
    .addHelpText(
      'after',
      `\nThe platform must allow the address (VITASCOPE_SOURCE_ALLOW).${example('vitascope webhooks listen --forward http://localhost:3000/hook')}`,
    )
    .action(async (flags: ListenFlags) => listen(flags, await open()))

  program
    .command('analytics')
    .description('show the views of the organisation')
    .option('--from <day>', 'first day, such as 2030-01-01')
    .option('--to <day>', 'last day')
    .option('--per-day', 'a row for each day')
    .action(async (flags: PeriodFlags) => showViews(flags, await open()))
  group('rules', 'explain playback rules')
    .command('explain')
    .description('show how the request of a viewer is decided; exits with 1 if it is denied')
    .argument('<video>', 'id')
    .addOption(new Option('--kind <kind>', 'what is requested').choices(KINDS).default('manifest'))
    .requiredOption('--address <ip>', 'IP address of the viewer')
    .option('--referrer <url>', 'page that requests it')
    .option('--token <token>', 'playback token')
    .option('--at <time>', 'at this time instead of now')
    .action(async (id: string, flags: ExplainFlags) => check(explain(id, flags, await open())))
  program
    .command('doctor')
    .description('check a running platform and show what is wrong; exits with 1 if a check fails')
    .action(async () => check(doctor(await open())))
  for (const [name, description] of Object.entries(INSTALLATION_COMMANDS)) {
    program
      .command(name)
      .description(`${description}; runs in the checkout of the platform`)
      .argument('[arguments...]', 'arguments; --help lists them')
      .helpOption(false)
      .allowUnknownOption()
      .action(async (args: string[]) => setExitCode(await runInInstallation(name, [...args, ...(options().json ? ['--json'] : [])], env)))
  }
  program
    .command('mcp')
    .description('serve tools for language models by the Model Context Protocol, at standard input and output')
    .addOption(new Option('--write <resources...>', 'resources whose tools may change data').choices(WRITE_RESOURCES).default([], 'none'))
    .action(async ({ write }: { write: WriteResource[] }) => serveMcp(write, version, await open()))
  program
    .command('completion')
    .description('print the script that completes commands in a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(SHELLS))
    .addHelpText('after', example('source <(vitascope completion bash)'))
    .action((shell: Shell) => output().print(completionScript(shell, program)))
  return program

  function inherit(command: Command): Command {
    return command.configureHelp({ showGlobalOptions: true })
  }
}

function example(...lines: string[]): string {
  return `\n\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be an integer from 1.')
  return count
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('It must be an integer from 0 to 65535.')
  return port
}

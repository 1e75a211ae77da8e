import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserArguments } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './api.ts'
import { createPerson, openConsolePage, openSignedIn } from './console-page.ts'
import { type SourceServer, startSourceServer } from './source-server.ts'
import { makeSource, type SourceKind } from './sources.ts'
import { startTestPlatform, type TestPlatform } from './test-platform.ts'
import { createTenant, type Tenant } from './video-steps.ts'

/** A platform with an organisation, and a browser in which a user has signed in to the console. */
export interface OpenConsole {
  /** Folder of the source server. */
  folder: string
  sources: SourceServer
  platform: TestPlatform
  tenant: Tenant
  /** Client with the key of the tenant. */
  api: Api
  page: Page
  /** Errors of the page. */
  problems: string[]
  close(): Promise<void>
}

export interface ConsoleUser {
  email: string
  name: string
  userType: 'uploader' | 'standard' | 'system'
  password: string
}

/** Opens the console. `files` are the names of the videos in the folder. */
export async function openConsole(browserFile: string | undefined, user: ConsoleUser, files: readonly SourceKind[]): Promise<OpenConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'console-'))
  for (const file of files) await makeSource(folder, file)
  const sources = await startSourceServer(folder)
  const platform = await startTestPlatform()
  let browser: Browser | undefined
  const close = async () => {
    await browser?.close()
    await sources.close()
    await platform.remove()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const tenant = await createTenant(platform.system)
    await createPerson(platform.system, { ...user, ...tenant })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    const problems: string[] = []
    const page = await openConsolePage(browser, (problem) => problems.push(problem))
    await openSignedIn(page, platform, user)
    return { ...{ folder, sources, platform, tenant, page, problems, close }, api: platform.withKey(tenant.key) }
  } catch (error) {
    await close()
    throw error
  }
}

import type { Client } from '../view/dimension.ts'
import { OTHER } from '../view/dimension.ts'

/** Maximum number of cached user agents. Most requests are from a few hundred of them. */
const MAX_CACHED = 2_000
const cache = new Map<string, ClientSoftware>()

export type ClientSoftware = Pick<Client, 'device' | 'browser' | 'os'>

type Patterns = readonly (readonly [value: string, pattern: RegExp])[]

/** The first pattern that matches decides. User agents of most browsers also contain the names of others. */
const BROWSERS: Patterns = [
  ['edge', /\b(?:Edg|EdgA|EdgiOS|Edge)\//],
  ['opera', /\b(?:OPR|OPT|OPX|OPiOS|Opera)[/ ]/],
  ['samsung', /\bSamsungBrowser\//],
  ['firefox', /\b(?:Firefox|FxiOS)\//],
  ['chrome', /(?:\b|Headless)(?:Chrome|Chromium|CriOS)\//],
  ['safari', /\bVersion\/[\d.]+ .*Safari\//],
]
const SYSTEMS: Patterns = [
  [OTHER, /Windows Phone|Tizen|Web0S|webOS|Roku|AppleTV|PlayStation|Xbox|Nintendo|KAIOS/i],
  ['ios', /\b(?:iPhone|iPad|iPod)\b/],
  ['android', /\bAndroid\b/],
  ['windows', /\bWindows\b/],
  ['macos', /\bMacintosh\b|\bMac OS X\b/],
  ['chromeos', /\bCrOS\b/],
  ['linux', /\bLinux\b|\bX11\b/i],
]
const DEVICES: Patterns = [
  ['tv', /\b(?:TV|SmartTV|GoogleTV|AppleTV|HbbTV|CrKey|Roku|Web0S|BRAVIA|AFT[A-Z]+)\b|SMART-TV/i],
  [OTHER, /PlayStation|Xbox|Nintendo/],
  ['tablet', /\biPad\b|\bTablet\b|\bKindle\b|\bSilk\/(?!.*Mobile)|\bAndroid\b(?!.*\bMobile\b)/],
  ['phone', /\b(?:iPhone|iPod|Mobile|Windows Phone)\b/],
  ['desktop', /\b(?:Windows|Macintosh|CrOS|X11|Linux)\b/],
]

/**
 * Returns the class of the device and the families of browser and operating system. Each is one of a
 * small set, or `other`. A tablet that sends the user agent of a desktop counts as a desktop.
 */
export function parseUserAgent(userAgent: string): ClientSoftware {
  const cached = cache.get(userAgent)
  if (cached) return cached
  const software = {
    device: findFirst(DEVICES, userAgent),
    browser: findFirst(BROWSERS, userAgent),
    os: findFirst(SYSTEMS, userAgent),
  }
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(userAgent, software)
  return software
}

function findFirst(patterns: Patterns, userAgent: string): string {
  return patterns.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? OTHER
}

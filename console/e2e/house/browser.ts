import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'

/** Debian's Chromium without windows, which needs a fifth less time; with `E2E_CHROMIUM`, another browser. */
const CHROMIUM = process.env.E2E_CHROMIUM ?? '/usr/bin/chromium-headless-shell'

/** What the pages are seen with when a test does not say. */
export const VIEW: BrowserContextOptions = { viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' }

export function launch(): Promise<Browser> {
  // Chromium's own sandbox does not work for root; the pages here are ours.
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath: CHROMIUM, args })
}

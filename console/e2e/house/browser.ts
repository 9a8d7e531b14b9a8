import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'

/** Chromium headless shell of Debian, which is a fifth faster; `E2E_CHROMIUM` selects another browser. */
const CHROMIUM = process.env.E2E_CHROMIUM ?? '/usr/bin/chromium-headless-shell'

/** Default browser context of a test. */
export const VIEW: BrowserContextOptions = {
  viewport: { width: 1440, height: 900 },
  locale: 'en-GB',
  reducedMotion: 'reduce',
}

export function launch(): Promise<Browser> {
  // Chromium's sandbox does not work for root; the pages are trusted.
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath: CHROMIUM, args })
}

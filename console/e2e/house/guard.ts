import type { Page } from 'playwright-core'

/**
 * Hears what a page complains of: errors in the browser's console, exceptions, and breaches of the content security
 * policy, which Chromium puts there too. Whatever a test does not expect fails it.
 */
export class Guard {
  readonly #complaints: string[] = []
  /** A page that gives up waiting for a slow server, and tries again, is no fault. */
  readonly #expected: RegExp[] = [/WebSocket is closed before the connection is established/]

  watch(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(`${message.text()} (${message.location().url})`)
    })
    page.on('pageerror', (error) => this.#complaints.push(String(error.stack ?? error)))
    page.on('crash', () => this.#complaints.push('the page crashed'))
  }

  /** From now on, and for what was said before: this is no fault. */
  expect(complaint: RegExp): void {
    this.#expected.push(complaint)
  }

  check(): void {
    const unexpected = this.#complaints.filter((each) => !this.#expected.some((known) => known.test(each)))
    if (unexpected.length > 0) throw new Error(`the browser complained:\n${unexpected.join('\n')}`)
  }
}

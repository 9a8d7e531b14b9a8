import type { Page } from 'playwright-core'

/**
 * Collects the errors of a page: console errors, exceptions, and violations of the content security policy. Unexpected
 * ones fail the test.
 */
export class Guard {
  readonly #complaints: string[] = []
  /** An aborted request that the page retries is not an error. */
  readonly #expected: RegExp[] = [/WebSocket is closed before the connection is established/]

  watch(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(`${message.text()} (${message.location().url})`)
    })
    page.on('pageerror', (error) => this.#complaints.push(String(error.stack ?? error)))
    page.on('crash', () => this.#complaints.push('the page crashed'))
  }

  /** Declares expected errors, also earlier ones. */
  expect(complaint: RegExp): void {
    this.#expected.push(complaint)
  }

  check(): void {
    const unexpected = this.#complaints.filter((each) => !this.#expected.some((known) => known.test(each)))
    if (unexpected.length > 0) throw new Error(`the browser complained:\n${unexpected.join('\n')}`)
  }
}

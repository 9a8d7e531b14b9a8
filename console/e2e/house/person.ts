import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Api, PATIENCE_MS, type User } from './api'
import { VIEW } from './browser'
import { Guard } from './guard'

/** User with a browser context: the page, the API, and the errors of the page. */
export class Person {
  readonly guard = new Guard()

  private constructor(
    readonly id: string,
    readonly api: Api,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    this.guard.watch(page)
  }

  static async arrive(browser: Browser, { id, api }: User, options: BrowserContextOptions = {}): Promise<Person> {
    const context = await browser.newContext({ ...VIEW, baseURL: api.url, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    return new Person(id, api, context, await context.newPage())
  }

  /** Signs in by setting the cookie, without the form. */
  async enter(): Promise<void> {
    const headers = { Origin: this.api.url }
    const answer = await this.context.request.post('/console/session', { data: { key: this.api.key }, headers })
    if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`)
  }

  /** Opens a page of the console: `''` is the fleet, `/sandboxes/…` a sandbox. */
  async open(path: string): Promise<void> {
    await this.page.goto(`/console${path}`)
  }

  async leave(): Promise<void> {
    // Responses that the test still holds are discarded.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' })
    await this.context.close()
    this.guard.check()
  }
}

/** Signs in with the form. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.goto('/console/sign-in')
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

import { randomBytes } from 'node:crypto'
import type { BrowserContextOptions } from 'playwright-core'
import { test as base, inject } from 'vitest'
import { Api } from './api'
import { launch } from './browser'
import { Model } from './model'
import { Person } from './person'

export { expect } from 'vitest'

/** What a test of the console has: everything that its arguments name is there, and is gone again afterwards. */
export const test = base
  .extend('house', { scope: 'file' }, () => {
    const house = inject('houses')[Number(process.env.VITEST_POOL_ID ?? 1) - 1]
    if (house === undefined) throw new Error(`no house for worker ${process.env.VITEST_POOL_ID}`)
    return house
  })
  /** The API as the admin uses it. */
  .extend('admin', { scope: 'file' }, ({ house }) => new Api(house.url, house.adminKey))
  /** What the agents ask. */
  .extend('model', { scope: 'file' }, ({ house }) => new Model(house.modelUrl))
  .extend('browser', { scope: 'file' }, async ({ house: _ }, { onCleanup }) => {
    const browser = await launch()
    onCleanup(() => browser.close())
    return browser
  })
  /**
   * Somebody new, signed in, with a name and a fleet of their own that nobody else sees. `options` are those of a
   * browser's context: `{ colorScheme: 'dark', viewport: { width: 380, height: 800 } }`.
   */
  .extend('newPerson', async ({ admin, browser }, { onCleanup }) => {
    const people: Person[] = []
    onCleanup(async () => {
      await Promise.all(people.map((person) => person.api.endAll()))
      await Promise.all(people.map((person) => person.leave()))
    })
    return async (options: BrowserContextOptions = {}) => {
      const id = `p-${randomBytes(4).toString('hex')}`
      const { key } = await admin.post<{ key: string }>('/admin/keys', { user_id: id })
      const person = await Person.arrive(browser, id, new Api(admin.url, key), options)
      people.push(person)
      await person.enter()
      return person
    }
  })
  .extend('person', ({ newPerson }) => newPerson())
  .extend('page', ({ person }) => person.page)

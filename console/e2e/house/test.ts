import type { BrowserContextOptions } from 'playwright-core'
import { test as base, inject } from 'vitest'
import { Api, newUser, type User } from './api'
import { launch } from './browser'
import { Model } from './model'
import { Person } from './person'

export { expect } from 'vitest'

// If the runner is killed, the worker cannot report anything, and its browser would remain.
process.once('disconnect', () => process.exit(1))

/** Fixtures of a console test: each argument is created on demand and removed afterwards. */
export const test = base
  .extend('house', { scope: 'file' }, () => {
    const house = inject('houses')[Number(process.env.VITEST_POOL_ID ?? 1) - 1]
    if (house === undefined) throw new Error(`no house for worker ${process.env.VITEST_POOL_ID}`)
    return house
  })
  /** The API as the admin uses it. */
  .extend('admin', { scope: 'file' }, ({ house }) => new Api(house.url, house.adminKey))
  /** The scripted model of the agents. */
  .extend('model', { scope: 'file' }, ({ house }) => new Model(house.modelUrl))
  .extend('browser', { scope: 'file' }, async ({ house: _ }, { onCleanup }) => {
    const browser = await launch()
    onCleanup(() => browser.close())
    return browser
  })
  /**
   * A new signed-in user with an empty fleet; with `as`, an existing user. The other options are those of a browser
   * context: `{ colorScheme: 'dark' }`.
   */
  .extend('newPerson', async ({ admin, browser }, { onCleanup }) => {
    const people: Person[] = []
    const users: User[] = []
    onCleanup(async () => {
      // Closes the pages first, so that the end of the server causes no errors in them.
      const left = await Promise.allSettled(people.map((person) => person.leave()))
      await Promise.all(users.map((user) => user.api.endAll()))
      for (const each of left) if (each.status === 'rejected') throw each.reason
    })
    const newcomer = async () => {
      const user = await newUser(admin)
      users.push(user)
      return user
    }
    return async ({ as, ...options }: BrowserContextOptions & { as?: User } = {}) => {
      const person = await Person.arrive(browser, as ?? (await newcomer()), options)
      people.push(person)
      await person.enter()
      return person
    }
  })
  .extend('person', ({ newPerson }) => newPerson())
  .extend('page', ({ person }) => person.page)

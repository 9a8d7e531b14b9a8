import { script } from './house/agents'
import { expect, test } from './house/test'

const WAITS = 'read task; until [ -e go ]; do sleep 0.05; done'

test('the filter is part of the address', async ({ person, page, newPerson }) => {
  await Promise.all([
    person.api.spawn(script('Paint the fence', WAITS)),
    person.api.spawn(script('Mow the lawn', WAITS)),
    person.api.spawn(script('Mend the roof', 'exit 3')),
  ])
  await person.open('')
  const fleet = page.getByRole('table', { name: 'Sandboxes' })
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await fleet.getByRole('row').filter({ hasText: 'Mend the roof' }).getByText('Failed').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('fence')
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor({ state: 'detached' })
  await page.waitForURL('**/console?q=fence')

  const again = await newPerson({ as: person })
  await again.page.goto(page.url())
  const theirs = again.page.getByRole('table', { name: 'Sandboxes' })
  await theirs.getByRole('link', { name: 'Paint the fence' }).waitFor()
  expect(await theirs.getByRole('link').count()).toBe(1)

  await page.goto('/console?status=failed')
  await fleet.getByRole('link', { name: 'Mend the roof' }).waitFor()
  expect(await fleet.getByRole('link').count()).toBe(1)
  await page.getByRole('button', { name: 'Failed' }).click()
  await fleet.getByRole('link', { name: 'Mow the lawn' }).waitFor()
  await page.getByRole('searchbox').fill('nothing is called so')
  await page.getByText('0 of 3 match').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await fleet.getByRole('link', { name: 'Paint the fence' }).waitFor()
})

test('the fleet updates without a reload', async ({ person, page }) => {
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  // A reload would lose this mark.
  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  const id = await person.api.spawn(script('Mow the lawn', WAITS))
  const row = page.getByRole('row').filter({ hasText: 'Mow the lawn' })
  await row.getByText('Running').waitFor()
  await person.api.run(id, 'touch go')
  await row.getByText('Completed').waitFor()
  await person.api.end(id)
  await row.waitFor({ state: 'detached' })
  await page.getByLabel('Also ended').check()
  await row.waitFor()
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
})

test('users do not see the sandboxes of others', async ({ person, page, newPerson }) => {
  const other = await newPerson()
  const id = await other.api.spawn(script('Keep a secret', WAITS))
  await other.open('')
  await other.page.getByRole('link', { name: 'Keep a secret' }).waitFor()
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  person.guard.expect(/status of 404/)
  await person.open(`/sandboxes/${id}`)
  await page.getByRole('alert').getByText('No such sandbox').waitFor()
  expect(await page.getByText('Keep a secret').count()).toBe(0)
})

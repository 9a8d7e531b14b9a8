import { axe } from './house/axe'
import { Person } from './house/person'
import { expect, test } from './house/test'

test('the API reference needs no sign-in, finds operations and shows their fields', async ({ browser, admin }) => {
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  const { page } = visitor
  await page.goto('/docs')
  await page.getByRole('heading', { name: 'HTTP API' }).waitFor()
  await page.getByLabel('Find an operation').fill('quotas')
  const operation = page.getByRole('article')
  await operation.getByText('/api/v1/quotas').waitFor()
  await operation.locator('summary').first().click()
  await operation.getByText('disk_bytes').first().waitFor()
  expect(await operation.count()).toBe(1)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await axe(page), colorScheme).toEqual([])
  }
  await visitor.leave()
})

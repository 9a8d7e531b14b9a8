import { Person, signIn } from './house/person'
import { expect, test } from './house/test'

test('a wrong key is rejected, the right key opens the fleet, and sign-out ends the session', async ({
  browser,
  admin,
}) => {
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  const { page, guard } = visitor
  // The page asks the server for the session, and the server answers 401.
  guard.expect(/status of 401/)
  await signIn(page, 'e2b_0000000000000000000000000000000000000000')
  await page.getByRole('alert').getByText('The key is not valid.').waitFor()

  await signIn(page, admin.key)
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
  await page.getByRole('banner').getByText('admin').first().waitFor()
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))
  expect(kept).not.toContain(admin.key)
  expect(kept).not.toContain('viv_session')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await page.goto('/console/inbox')
  await page.waitForURL('**/console/sign-in?next=*')
  await visitor.leave()
})

test('sign-in returns to the requested page, and never to another site', async ({ browser, admin }) => {
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  const { page, guard } = visitor
  guard.expect(/status of 401/)
  await page.goto('/console/inbox')
  await page.getByLabel('API key').fill(admin.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()

  await page.goto('/console/sign-in?next=//example.com/console')
  await page.getByLabel('API key').fill(admin.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()
  expect(new URL(page.url()).origin).toBe(admin.url)
  await visitor.leave()
})

test('a sign-in link opens its page once, and the code leaves the address', async ({ browser, admin }) => {
  const link = async () => {
    const answer = await fetch(`${admin.url}/console/session/code`, {
      method: 'POST',
      headers: { 'X-API-Key': admin.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ next: '/console/inbox' }),
    })
    return ((await answer.json()) as { path: string }).path
  }
  const path = await link()
  const visitor = await Person.arrive(browser, { id: 'admin', api: admin })
  visitor.guard.expect(/status of 401/)
  await visitor.page.goto(path)
  await visitor.page.getByRole('heading', { name: 'Inbox' }).waitFor()
  expect(visitor.page.url()).not.toContain('code')
  await visitor.leave()

  const late = await Person.arrive(browser, { id: 'admin', api: admin })
  late.guard.expect(/status of 401/)
  await late.page.goto(path)
  await late.page
    .getByRole('alert')
    .getByText(/was used before/)
    .waitFor()
  await late.page.goto(await link())
  await late.page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await late.leave()
})

test('a violation of the content security policy fails the test', async ({ person, page }) => {
  await person.open('')
  await page.evaluate(() => document.head.append(document.createElement('style')))
  await page.evaluate(() => document.body.setAttribute('style', 'color: red'))
  expect(() => person.guard.check()).toThrow(/Content Security Policy/)
  person.guard.expect(/Content Security Policy/)
})

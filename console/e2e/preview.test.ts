import { axe } from './house/axe'
import { listening } from './house/scene'
import { expect, test } from './house/test'

const SITE = `mkdir -p web; cd web
echo '<title>Site</title><link rel="stylesheet" href="a.css"><h1>Hello</h1><script src="a.js"></script>' > index.html
echo 'h1 { color: rgb(1, 2, 3) }' > a.css
echo 'fetch("a.css").then((answer) => document.body.append("its script heard " + answer.status))' > a.js`

test('a port of the sandbox is shown with its scripts and styles', async ({ person, page }) => {
  person.guard.expect(/status of 502/)
  const id = await person.api.sandbox(`preview-${person.id}`)
  await person.api.run(id, SITE)
  await person.open(`/sandboxes/${id}?tab=preview`)
  await page.getByText('Which port?').waitFor()
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  await page.getByLabel('Port').fill(String(port))
  await page.keyboard.press('Enter')
  await page.getByText(`No program listens on port ${port}`).waitFor()
  expect(await axe(page)).toEqual([])

  const command = `cd web && exec python3 -m http.server ${port} --bind 127.0.0.1`
  await person.api.post(`/sandboxes/${id}/exec`, { command, detach: true })
  await listening(person.api, id, port)
  await page.getByRole('button', { name: 'Check again' }).click()
  const pane = page.frameLocator(`iframe[title="Port ${port} of the sandbox"]`)
  await pane.getByRole('heading', { name: 'Hello' }).waitFor()
  await pane.getByText('its script heard 200').waitFor()
  const colour = await pane.getByRole('heading').evaluate((heading) => getComputedStyle(heading).color)
  expect(colour).toBe('rgb(1, 2, 3)')

  await page.getByRole('button', { name: 'Find ports' }).click()
  await page.getByRole('button', { name: String(port), exact: true }).waitFor()
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Open in a new tab' }).click()
  const tab = await opened
  await tab.getByText('its script heard 200').waitFor()
  expect(tab.url()).not.toContain('viv_token')
})

test('a preview does not resume a paused sandbox', async ({ person, page }) => {
  const id = await person.api.sandbox(`preview-${person.id}`)
  await person.api.post(`/api/v1/sandboxes/${id}/pause`)
  await person.open(`/sandboxes/${id}?tab=preview&port=3000`)
  await page.getByText('Resume it to open the preview.').waitFor()
  expect((await person.api.read(id)).state).toBe('paused')
})

import { script } from './house/agents'
import { Api, newUser } from './house/api'
import { Person } from './house/person'
import { lastingPort, Server } from './house/server'
import { expect, test } from './house/test'
import { length, readThrough } from './house/timeline'

/** Prints three numbers, and after `go` exists one more at a time until `stop` exists. */
const COUNTS = `read task; n=0; until [ -e stop ]; do n=$((n + 1))
printf '{"type":"event","event_type":"agent.message","data":{"text":"number %s"}}\\n' $n; sleep 0.2
until [ $n != 3 ] || [ -e go ]; do sleep 0.05; done; done`

test('the timeline has no gap and no duplicate after a server crash', async ({ browser, onTestFinished }) => {
  const server = await Server.start({}, await lastingPort())
  onTestFinished(() => server.close())
  const person = await Person.arrive(browser, await newUser(new Api(server.url, server.adminKey)))
  const { page, api } = person
  person.guard.expect(/ERR_(CONNECTION|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE)/)
  await person.enter()
  const id = await api.spawn(script('Count', COUNTS))
  await person.open(`/sandboxes/${id}`)
  await page.getByText('number 3', { exact: true }).waitFor()
  const pill = page.getByRole('banner').getByRole('status')
  await pill.getByText('Live').waitFor()
  await api.run(id, 'touch go')

  await server.kill()
  await pill.getByText('Reconnecting').waitFor()
  await page.getByText('The server cannot be reached now.').waitFor()
  expect(await page.getByRole('button', { name: 'Interrupt' }).isDisabled()).toBe(true)

  await server.startAgain()
  await pill.getByText('Live').waitFor()
  await api.run(id, 'touch stop')
  await page.getByText('The run has ended: no agent reads messages.').waitFor()
  const said = (await api.events(id)).filter((event) => event.event_type === 'agent.message')
  const numbers = said.map((event) => ({ seq: event.seq, text: String(event.event_data.text) }))
  expect(numbers.map(({ text }) => text)).toEqual(numbers.map((_, index) => `number ${index + 1}`))
  const messages = (rows: Awaited<ReturnType<typeof readThrough>>) =>
    rows.filter((row) => row.kind === 'message').map(({ seq, text }) => ({ seq, text: text.slice(8) }))
  await expect.poll(async () => messages(await readThrough(page))).toEqual(numbers)
  // File events may arrive later.
  await expect.poll(async () => (await readThrough(page)).length - (await length(page))).toBe(0)
  await person.leave()
})

test('the console shows that it is offline and reconnects', async ({ person, page }) => {
  person.guard.expect(/ERR_INTERNET_DISCONNECTED/)
  const id = await person.api.spawn(script('Count', COUNTS))
  await person.open(`/sandboxes/${id}`)
  await page.getByText('number 3', { exact: true }).waitFor()
  await person.api.run(id, 'touch go')
  await person.context.setOffline(true)
  await page.getByRole('status').getByText('Offline since').waitFor()
  await person.context.setOffline(false)
  await page.getByRole('status').getByText('Live').waitFor()
  await person.api.run(id, 'touch stop')
  await page.getByText('The run has ended: no agent reads messages.').waitFor()
  const said = (await person.api.events(id)).filter((event) => event.event_type === 'agent.message')
  const texts = async () =>
    (await readThrough(page)).filter((row) => row.kind === 'message').map((row) => row.text.slice(8))
  await expect.poll(texts).toEqual(said.map((_, index) => `number ${index + 1}`))
})

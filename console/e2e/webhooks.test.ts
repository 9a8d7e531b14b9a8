import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { axe } from './house/axe'
import { expect, test as plain } from './house/test'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An HTTP server that keeps all requests and answers with `status`. */
const test = plain.extend('receiver', async ({ house: _ }, { onCleanup }) => {
  const receiver = { url: '', status: 204, received: [] as Received[] }
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    receiver.received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(receiver.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
})

test('a webhook is added, tested and removed', async ({ person, page, receiver }) => {
  await person.open('/settings')
  const section = page.getByRole('region', { name: 'Webhooks' })
  await section.getByText('No webhook yet').waitFor()
  await section.getByRole('button', { name: 'Add a webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('ftp://example.com')
  person.guard.expect(/status of 4(00|22)/)
  await dialog.getByRole('button', { name: 'Add the webhook' }).click()
  await dialog.getByText(/must begin with https/).waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByLabel('Address').fill(receiver.url)
  await dialog.getByLabel('Event types').fill('task.failed, guardian.')
  await dialog.getByRole('button', { name: 'Add the webhook' }).click()
  const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue()
  await dialog.getByRole('button', { name: 'Done' }).click()

  const hook = section.getByRole('listitem', { name: receiver.url })
  await hook.getByText('task.failed, guardian.').waitFor()
  await hook.getByRole('button', { name: /^Test/ }).click()
  await hook.getByText('Test delivered, status 204').waitFor()
  expect(await axe(page)).toEqual([])
  const [test] = receiver.received
  expect(JSON.parse(test?.body ?? '{}')).toMatchObject({ event_type: 'webhook.test' })
  const [, time, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(test?.headers['vivarium-signature'])) ?? []
  expect(createHmac('sha256', secret).update(`${time}.${test?.body}`).digest('hex')).toBe(signature)

  await hook.getByRole('button', { name: /^Remove/ }).click()
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await section.getByText('No webhook yet').waitFor()
})

test('a dead letter shows its reason and is replayed', async ({ person, page, receiver }) => {
  const wanted = { url: receiver.url, event_types: ['task.pending'], secret: 'a secret of the test' }
  const { webhook_id: id } = await person.api.post<{ webhook_id: string }>('/api/v1/webhooks', wanted)
  receiver.status = 500
  await person.api.post('/api/v1/tasks', { title: 'Wait for a worker' })
  const dead = `/api/v1/webhooks/${id}/deliveries?status=dead`
  await person.api.until('the server gives up', async () => {
    return (await person.api.get<{ deliveries: object[] }>(dead)).deliveries.length > 0
  })
  await person.open('/settings')
  const letters = page.getByRole('list', { name: `Dead letters of ${receiver.url}` })
  await letters.getByText('the receiver answered with status 500, after 1 attempt').waitFor()
  expect(await axe(page)).toEqual([])
  receiver.status = 204
  await letters.getByRole('button', { name: /^Replay/ }).click()
  await letters.waitFor({ state: 'detached' })
  expect(receiver.received.map(({ headers }) => headers['vivarium-event'])).toEqual(['task.pending', 'task.pending'])
})

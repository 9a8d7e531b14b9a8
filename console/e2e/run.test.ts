import type { Page } from 'playwright-core'
import { agent, script } from './house/agents'
import { axe } from './house/axe'
import { bash, type Step } from './house/model'
import type { Person } from './house/person'
import { expect, test } from './house/test'

/** Tool call that ends when a test releases it or a user interrupts it. */
const UNTIL_TOLD = 'until [ -e go ]; do sleep 0.05; done; echo went on'
const WAITS: Step = {
  when: { contains: 'Call the API' },
  thinking: 'Which API is it?',
  text: 'I wait.',
  tools: [bash(UNTIL_TOLD)],
  usage: { input_tokens: 100_000, output_tokens: 2_000 },
}
const OBEYS: Step = { when: { contains: 'the other API' }, text: 'As you say.', tools: [bash('echo other | tee api')] }
const GOES_ON: Step = {
  when: { contains: 'went on', lacks: 'the other API' },
  text: 'As planned.',
  tools: [bash('echo planned | tee api')],
}
const ENDS: Step = { text: 'All done.' }

async function watch(person: Person, title: string): Promise<string> {
  const id = await person.api.spawn(agent(title))
  await person.open(`/sandboxes/${id}`)
  return id
}

/** A key does nothing while its button is disabled. */
async function enabled(page: Page, button: string): Promise<void> {
  await expect.poll(() => page.getByRole('button', { name: button, exact: true }).isEnabled()).toBe(true)
}

test('a run is shown live, and a message changes its next step', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  const id = await watch(person, 'Call the API')
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText('Which API is it?').waitFor()
  await timeline.getByText('I wait.').waitFor()
  await timeline.getByRole('button', { name: UNTIL_TOLD }).getByText('running').waitFor()

  await page.keyboard.press('m')
  await page.keyboard.type('Use the other API.')
  await enabled(page, 'Send')
  await page.keyboard.press('Control+Enter')
  const said = timeline.getByRole('article').filter({ hasText: `Message by ${person.id}` })
  await said.getByText(/delivered after \d/).waitFor()
  await expect.poll(() => page.getByLabel('Message to the agent').inputValue()).toBe('')
  await person.api.run(id, 'touch go')

  await timeline.getByText('As you say.').waitFor()
  await timeline.getByRole('button', { name: 'echo other | tee api' }).click()
  await timeline.locator('pre').getByText('other', { exact: true }).waitFor()
  await page.getByText('The run has ended: no agent reads messages.').waitFor()
  await page.locator('header').getByText('Completed').first().waitFor()
  expect(await model.asked()).toContain('Use the other API.')
  expect(await person.api.run(id, 'cat api')).toBe('other\n')
  expect(await timeline.getByText('As planned.').count()).toBe(0)
})

test('the cost is counted while the run is active', async ({ person, page, model }) => {
  await model.play(WAITS, ENDS)
  const id = await watch(person, 'Call the API')
  const facts = page.getByRole('complementary', { name: 'Facts' })
  const cost = async () => (await person.api.read(id)).run?.cost_usd ?? 0
  await expect.poll(cost).toBeGreaterThan(0)
  await facts.getByText('100k').waitFor()
  await facts
    .getByRole('strong')
    .getByText(`$${(await cost()).toFixed(2)}`)
    .waitFor()
  await facts.getByRole('meter', { name: 'Budget spent' }).waitFor()
})

test('guidance reaches the agent before its next step', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  const id = await watch(person, 'Call the API')
  await page.getByText('I wait.').waitFor()
  await page.getByLabel('Message to the agent').fill('Better the other API.')
  await page.getByRole('button', { name: 'Guide' }).click()
  await page.getByText(`Guidance by ${person.id}`).waitFor()
  await page.getByText('delivered').waitFor()
  await person.api.run(id, 'touch go')
  await page.getByText('As you say.').waitFor()
})

test('an interrupt ends the tool call, and the agent continues', async ({ person, page, model }) => {
  await model.play(WAITS, OBEYS, GOES_ON, ENDS)
  await watch(person, 'Call the API')
  await page.getByRole('button', { name: UNTIL_TOLD }).waitFor()
  await page.getByLabel('Message to the agent').fill('Stop. Take the other API.')
  await enabled(page, 'Interrupt')
  await page.keyboard.press('Control+.')
  await page.getByText(`Interrupt by ${person.id}`).waitFor()
  await page.getByText('As you say.').waitFor()
  await page.getByRole('button', { name: UNTIL_TOLD }).getByText('failed').waitFor()
})

test('a paused sandbox stops until it is resumed', async ({ person, page, model }) => {
  await model.play(WAITS, ENDS)
  const id = await watch(person, 'Call the API')
  await page.getByRole('button', { name: UNTIL_TOLD }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await person.api.read(id)).status).toBe('paused')
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await person.api.run(id, 'touch go')
  await page.getByText('All done.').first().waitFor()
})

test('a sandbox ends after a confirmation, and its timeline stays', async ({ person, page, model }) => {
  await model.play(WAITS)
  const id = await watch(person, 'Call the API')
  await page.getByText('I wait.').waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  expect((await person.api.read(id)).state).toBe('running')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor({ state: 'detached' })
  await page.getByText('I wait.').waitFor()
  expect((await person.api.read(id)).state).toBe('terminated')
})

test('a run stops after a confirmation, and its sandbox stays', async ({ person, page, model }) => {
  await model.play(WAITS)
  const id = await watch(person, 'Call the API')
  await page.getByRole('button', { name: UNTIL_TOLD }).waitFor()
  await page.getByRole('button', { name: 'Stop run' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop this run?' })
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Let it run' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await person.api.read(id)).run?.status).toBe('running')

  await page.keyboard.press('x')
  await dialog.getByRole('button', { name: 'Stop it' }).click()
  await page.getByText('The run has ended: no agent reads messages.').waitFor()
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  const sandbox = await person.api.read(id)
  expect(sandbox.state).toBe('running')
  expect(sandbox.run).toMatchObject({ status: 'failed', reason_code: 'aborted' })
  expect(await person.api.run(id, 'echo still here')).toBe('still here\n')
})

test('a failed run shows its task on top, and its failure once', async ({ person, page }) => {
  const lines = 'read task; for n in $(seq 30); do echo "disk $n is full" >&2; done; exit 3'
  const task = {
    title: 'Copy the disks',
    description: 'Copy **all** disks.',
    context: { done_when: 'no disk is left' },
  }
  const id = await person.api.spawn({ ...script('Copy the disks', lines), task })
  await expect.poll(async () => (await person.api.read(id)).status).toBe('failed')
  await person.open(`/sandboxes/${id}`)
  const about = page.getByRole('region', { name: 'Task' })
  await about.getByRole('strong').getByText('all', { exact: true }).waitFor()
  await about.getByText('Done when: no disk is left').waitFor()
  const row = page.getByRole('article').filter({ hasText: 'Run failed' })
  await row.getByText('exit status 3').waitFor()
  expect(await page.getByText('exit status 3').count()).toBe(1)
  for (const title of ['Results submitted', 'Agent failed', 'Task', 'Agent is ready']) {
    expect(await page.getByRole('article').getByText(title, { exact: true }).count(), title).toBe(0)
  }
  const whole = await row.boundingBox()
  expect(await row.getByText('exit status 3').evaluate((text) => getComputedStyle(text).fontFamily)).toMatch(/mono/i)
  await row.getByRole('button', { name: 'Show all of the failure' }).click()
  await expect.poll(async () => ((await row.boundingBox())?.height ?? 0) > (whole?.height ?? 0)).toBe(true)
  await row.getByRole('button', { name: 'Show less of the failure' }).click()
})

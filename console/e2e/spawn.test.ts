import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { agent } from './house/agents'
import { axe } from './house/axe'
import { bash } from './house/model'
import { expect, test } from './house/test'

const run = promisify(execFile)

/** Quotes a word as a shell would. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

async function fill(page: Page, title: string, program: string): Promise<void> {
  await page.getByRole('radio', { name: 'Command' }).check()
  await page.getByRole('textbox', { name: 'Task' }).fill(title)
  await page.getByRole('textbox', { name: 'Program' }).fill(program)
}

test('n opens the form, which starts a program', async ({ person, page }) => {
  await person.open('')
  await page.getByText('No sandbox yet').waitFor()
  await page.keyboard.press('n')
  await fill(page, "Don't panic", `sh -c 'echo "it is $WORD"'`)
  await page.getByRole('button', { name: 'Add a variable' }).click()
  await page.getByLabel('Name of variable 1').fill('WORD')
  await page.getByLabel('Value of variable 1').fill('well-kept')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('heading', { name: "Don't panic" }).waitFor()
  await page.getByText('it is well-kept').first().waitFor()
})

test('the form starts an agent that calls a model', async ({ person, page, model }) => {
  await model.play({ text: 'I look.', tools: [bash('echo seen')] }, { text: 'That was all.' })
  await person.open('/spawn')
  const { command } = agent('')
  await fill(page, 'Look around', command.map(quoted).join(' '))
  await page.getByRole('textbox', { name: 'Done when' }).fill('the moon is full')
  await page.getByRole('button', { name: 'Start the agent' }).click()
  await page.getByText('That was all.').first().waitFor()
  expect(await model.asked()).toContain('Look around')
  const id = page.url().match(/sbx\w+/)?.[0] ?? ''
  expect((await person.api.read(id)).run?.task?.context).toEqual({ done_when: 'the moon is full' })
})

test('a plain sandbox is created, and a thread that has one is reported', async ({ person, page }) => {
  await person.open('/spawn')
  await page.getByRole('radio', { name: 'Plain sandbox' }).check()
  await page.getByRole('textbox', { name: 'Thread' }).fill(`box-${person.id}`)
  await page.getByRole('button', { name: 'Create the sandbox' }).click()
  await page.getByRole('heading', { name: `box-${person.id}` }).waitFor()
  await page.waitForURL('**tab=terminal')
  const id = page.url().match(/sbx\w+/)?.[0] ?? ''
  expect(await person.api.read(id)).toMatchObject({ user_id: person.id, thread_id: `box-${person.id}` })

  person.guard.expect(/status of 409/)
  await person.open('/spawn')
  await page.getByRole('radio', { name: 'Plain sandbox' }).check()
  await page.getByRole('textbox', { name: 'Thread' }).fill(`box-${person.id}`)
  await page.getByRole('button', { name: 'Create the sandbox' }).click()
  await page.getByRole('link', { name: 'Open its sandbox' }).click()
  await page.waitForURL(`**/${id}`)
})

test('an invalid field shows its error, and the form keeps its input', async ({ person, page }) => {
  person.guard.expect(/status of 422/)
  await person.open('/spawn')
  await page.getByRole('button', { name: 'Start the agent' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('Task: Enter a title for the task.').click()
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Task' }).evaluate((box) => box === document.activeElement))
    .toBe(true)

  await fill(page, 'Too much', 'true')
  await page.getByText('Limits and image').click()
  await page.getByLabel('CPUs').fill('999')
  await page.getByRole('button', { name: 'Start the agent' }).click()
  await alert.getByText(/CPUs: Must be at most/).waitFor()
  expect(await page.getByLabel('CPUs').getAttribute('aria-invalid')).toBe('true')
  expect(await axe(page)).toEqual([])
  await page.reload()
  await expect.poll(() => page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('Too much')
})

test('the shown curl command starts the same run', async ({ person, page }) => {
  await person.open('/spawn')
  await fill(page, `It's "quoted" $HOME \`id\` \\`, `sh -c 'echo "$SECRET"' -- "it's"`)
  await page.getByRole('button', { name: 'Add a variable' }).click()
  await page.getByLabel('Name of variable 1').fill('SECRET')
  await page.getByLabel('Value of variable 1').fill('in the form alone')
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  // The button shows this text only briefly.
  const copied = page.getByRole('button', { name: 'Copied' }).waitFor()
  await Promise.all([copied, page.getByRole('button', { name: 'Copy', exact: true }).click()])
  const line = await page.evaluate(() => navigator.clipboard.readText())
  expect(line).not.toContain('in the form alone')

  const env = { PATH: process.env.PATH, VIV_API_KEY: person.api.key, SECRET: 'from my shell' }
  const { stdout } = await run('sh', ['-c', line], { env: env as NodeJS.ProcessEnv })
  const { sandbox_id: id } = JSON.parse(stdout) as { sandbox_id: string }
  const sandbox = await person.api.read(id)
  expect(sandbox.run?.task?.title).toBe(`It's "quoted" $HOME \`id\` \\`)
  expect(sandbox.run?.command).toEqual(['sh', '-c', 'echo "$SECRET"', '--', "it's"])
  await expect.poll(async () => JSON.stringify(await person.api.events(id))).toContain('from my shell')
})

test('an ended run continues in a new sandbox', async ({ person, page }) => {
  const id = await person.api.spawn({ ...agent('Count to ten'), command: ['sh', '-c', 'exit 0'], budget_usd: 3 })
  await person.open(`/sandboxes/${id}`)
  await page.getByRole('link', { name: 'Continue in a new sandbox' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('Count to ten')
  expect(await page.getByLabel('Continue the conversation of').inputValue()).toBe(id)
  expect(await page.getByRole('textbox', { name: 'Program' }).inputValue()).toBe("sh -c 'exit 0'")
  expect(await page.getByLabel('Budget in $').inputValue()).toBe('3')
})

test('the form offers only what the server can start', async ({ person, page }) => {
  await person.open('/spawn')
  // This server has a model, but no image with the SDKs of agents.
  await page.getByText('viv image build worker').waitFor()
  expect(await page.getByText('ANTHROPIC_API_KEY').count()).toBe(0)
  expect(await page.getByRole('radio', { name: 'Claude' }).isDisabled()).toBe(true)
  expect(await page.getByRole('radio', { name: 'Command' }).isChecked()).toBe(true)
  await page.getByText('Limits and image').click()
  await page.getByLabel('Image').fill('mine')
  await expect.poll(() => page.getByRole('radio', { name: 'Claude' }).isEnabled()).toBe(true)
})

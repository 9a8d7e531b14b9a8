import { randomBytes } from 'node:crypto'
import { Api, newUser } from './house/api'
import { axe } from './house/axe'
import { Person } from './house/person'
import { lastingPort, Server } from './house/server'
import { TerminalOnPage } from './house/terminal'
import { expect, test } from './house/test'

/** Opens a shell of the person in a new sandbox. */
async function shellOf(person: Person): Promise<{ id: string; thread: string; terminal: TerminalOnPage }> {
  const thread = `thread-${randomBytes(4).toString('hex')}`
  const id = await person.api.sandbox(thread)
  await person.open(`/sandboxes/${id}?tab=terminal`)
  await person.page.getByText('No shell open').waitFor()
  await person.page.keyboard.press('Enter')
  const terminal = new TerminalOnPage(person.page)
  await terminal.shows('$')
  return { id, thread, terminal }
}

/** Invites a person to the sandbox and opens the same shell for them. */
async function join(owner: Person, thread: string, guest: Person, scopes: string[]): Promise<TerminalOnPage> {
  await owner.api.post(`/threads/${thread}/members`, { user_id: guest.id, scopes })
  const { pathname, search } = new URL(owner.page.url())
  await guest.page.goto(pathname + search)
  await guest.page.getByText('Watching only.').waitFor()
  return new TerminalOnPage(guest.page)
}

test('typed commands run, and the exit of the shell is shown', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.run('echo $((6 * 7)) is the answer', '42 is the answer')
  await terminal.run("printf '\\e[38;2;200;30;120mtruly\\e[0m %s\\n' coloured", 'truly coloured')
  await terminal.type('exit 3\n')
  await page.getByText('The shell ended with code 3.').waitFor()
  await page.getByRole('button', { name: 'Open another' }).click()
  await page.getByRole('tab', { name: 'Shell 2' }).waitFor()
  await terminal.shows('$')
  await terminal.run('echo $((7 * 7)) more', '49 more')
})

test('the terminal has the size of the window', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  const said = page.getByText(/^\d+ × \d+$/)
  const before = await said.textContent()
  await page.setViewportSize({ width: 900, height: 600 })
  await expect.poll(() => said.textContent()).not.toBe(before)
  // The size may change in several steps.
  let asked = 0
  const size = async () => {
    const answer = new RegExp(`size ${++asked} (\\d+) (\\d+)`)
    await terminal.type(`echo size ${asked} $(stty size)\n`)
    await expect.poll(() => terminal.text()).toMatch(answer)
    const [, rows, cols] = answer.exec(await terminal.text()) ?? []
    return [`${cols} × ${rows}`, await said.textContent()]
  }
  await expect.poll(async () => new Set(await size()).size).toBe(1)
})

test('a reload shows the same shell with its output', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.run('kept=yes; echo said-$((1 + 1))', 'said-2')
  await page.reload()
  await terminal.shows('said-2')
  await terminal.run('echo kept: $kept', 'kept: yes')
  // Leaving the page and returning shows the same shell.
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('tab', { name: 'Terminal' }).click()
  await terminal.shows('kept: yes')
  await terminal.run('echo still: $kept', 'still: yes')
})

test('two people in one terminal see each other and the same output', async ({ person, page, newPerson }) => {
  const { terminal, thread } = await shellOf(person)
  await terminal.run('echo hello from $((40 + 1))', 'hello from 41')
  const guest = await newPerson()
  const theirs = await join(person, thread, guest, ['shell', 'fs:ro'])
  await theirs.shows('hello from 41')
  const here = page.getByRole('list', { name: 'Users in this shell' })
  await here.getByText(`${guest.id} watches`).waitFor()

  await guest.page.getByRole('button', { name: 'Type here' }).click()
  await here.getByText(`${guest.id} types`).waitFor()
  await theirs.run('echo hello from $((40 + 2))', 'hello from 42')
  await terminal.shows('hello from 42')
  const there = guest.page.getByRole('list', { name: 'Users in this shell' })
  await there.getByText(`${person.id} types`).waitFor()
  await guest.page.goto('about:blank')
  await here.getByText(guest.id).waitFor({ state: 'detached' })
})

test('a person with shell:ro sees the shell and cannot type', async ({ person, newPerson }) => {
  const { terminal, thread, id } = await shellOf(person)
  const guest = await newPerson()
  const theirs = await join(person, thread, guest, ['shell:ro', 'fs:ro'])
  await theirs.type('touch forbidden\n')
  await guest.page.getByRole('status').getByText('Not sent:').waitFor({ state: 'attached' })
  await guest.page.getByRole('button', { name: 'Type here' }).click()
  await guest.page.getByText('You have read access to this terminal.').waitFor()
  await theirs.type('touch forbidden\n')
  await terminal.run('ls -a; echo listed-$((1 + 1))', 'listed-2')
  await theirs.shows('listed-2')
  expect(await terminal.text()).not.toContain('forbidden')

  // The server refuses input even if the page sends it.
  const refusal = await guest.page.evaluate(async (address) => {
    const socket = new WebSocket(address)
    socket.onopen = () => socket.send('{"type":"auth"}')
    return await new Promise((resolve) => {
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data)
        if (message.type === 'auth_ok') socket.send('{"type":"stdin","data":"touch forbidden\\n"}')
        if (message.type !== 'error') return
        socket.close()
        resolve(message.code)
      }
    })
  }, `/sandboxes/${id}/shell`)
  expect(refusal).toBe('not-allowed')
  guest.guard.expect(/status of 403/)
  await guest.page.getByRole('button', { name: 'Open a shell' }).click()
  await guest.page.getByText('You may watch shells here, but not open one.').waitFor()
})

test('a lost connection is shown and reconnects to the same shell', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.run('kept=yes; echo said-$((1 + 1))', 'said-2')
  person.guard.expect(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/)
  await person.context.setOffline(true)
  await page.getByText('Connection lost.').waitFor()
  await terminal.type('echo never-sent\n')
  await person.context.setOffline(false)
  await page.getByText('Connection lost.').waitFor({ state: 'detached' })
  await terminal.run('echo kept: $kept', 'kept: yes')
  expect(await terminal.text()).not.toContain('never-sent')
})

test('a killed and restarted server has the same shell', async ({ browser }) => {
  const server = await Server.start({}, await lastingPort())
  const person = await Person.arrive(browser, await newUser(new Api(server.url, server.adminKey)))
  try {
    await person.enter()
    const { terminal } = await shellOf(person)
    await terminal.run('kept=yes; echo said-$((1 + 1))', 'said-2')
    person.guard.expect(/ERR_(CONNECTION|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE)/)
    await server.kill()
    await person.page.getByText('Connection lost.').waitFor()
    await server.startAgain()
    // The terminal may reconnect before the click.
    const back = person.page.getByText('Connection lost.').waitFor({ state: 'detached' })
    await Promise.race([
      back,
      person.page
        .getByRole('button', { name: 'Reconnect' })
        .click()
        .catch(() => back),
    ])
    await back
    await terminal.shows('said-2')
    await terminal.run('echo kept: $kept', 'kept: yes')
    await person.leave()
  } finally {
    await person.context.close()
    await server.close()
  }
})

test('a large output is shown to its end, and another is interrupted', async ({ person }) => {
  const { terminal } = await shellOf(person)
  await terminal.run('yes | head -100000; echo ended-$((1 + 1))', 'ended-2')
  // A different word, so that visible output of the first command does not match.
  await terminal.type('yes water\n')
  await terminal.shows('water\nwater\nwater')
  await person.page.keyboard.press('Control+c')
  await terminal.run('echo stopped-$((1 + 1))', 'stopped-2')
})

test('several lines are shown before a paste, without control characters', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.paste('echo $((2 + 2)) pasted\u001b[201~\necho and more\n')
  const dialog = page.getByRole('dialog', { name: 'Paste 2 lines?' })
  await dialog.getByText('One control character was taken out.').waitFor()
  await dialog.getByRole('button', { name: 'Do not paste' }).click()
  await terminal.paste('echo $((2 + 2)) pasted\necho and more\n')
  await page.getByRole('button', { name: 'Paste', exact: true }).click()
  await terminal.shows('echo and more')
  await page.keyboard.press('Enter')
  await terminal.shows('4 pasted')
  await terminal.paste('echo $((3 + 3)) at once')
  await page.keyboard.press('Enter')
  await terminal.shows('6 at once')
})

test('terminal keys are not shortcuts of the page, and F6 leaves the terminal', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.type('?1gf')
  await terminal.shows('?1gf')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('F6')
  await expect.poll(() => page.evaluate(() => document.activeElement?.role)).toBe('tab')
  await page.keyboard.press('F6')
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Terminal: Shell 1')
  await page.keyboard.press('F6')
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('tab', { name: 'Commands', selected: true }).waitFor()
  await page.getByRole('button', { name: 'bash' }).waitFor()
})

test('the search finds words in the output', async ({ person, page }) => {
  const { terminal } = await shellOf(person)
  await terminal.run('seq 500; echo a-needle-$((1 + 1))', 'a-needle-2')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByLabel('Search in this terminal').fill('needle-2')
  await page.getByText('1 of 1').waitFor()
  await page.getByLabel('Search in this terminal').fill('nothing of that')
  await page.getByText('Not found').waitFor()
})

test('a paused sandbox is resumed only on request', async ({ person, page }) => {
  const { terminal, id } = await shellOf(person)
  await person.api.post(`/sandboxes/${id}/pause`)
  await page.getByText('The sandbox is paused. The page does not send your input.').waitFor()
  await terminal.type('echo never-sent\n')
  await page.reload()
  await page.getByRole('button', { name: 'Resume and open' }).waitFor()
  expect((await person.api.read(id)).state).toBe('paused')
  await page.getByRole('button', { name: 'Resume and open' }).click()
  await terminal.shows('$')
  await terminal.run('echo awake-$((1 + 1))', 'awake-2')
  expect(await terminal.text()).not.toContain('never-sent')
})

test('the terminal is accessible in every theme and window size', async ({ newPerson }) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const person = await newPerson({ colorScheme, viewport: { width: 380, height: 760 } })
    const { terminal } = await shellOf(person)
    await terminal.run("printf '\\e[31mred\\e[0m \\e[93mbright\\e[0m \\e[40;30mhidden\\e[0m\\n'", 'red bright')
    expect(await axe(person.page)).toEqual([])
    await person.page.getByRole('button', { name: 'Settings of the terminal' }).click()
    await person.page.getByLabel('Screen reader mode').check()
    expect(await axe(person.page)).toEqual([])
    await person.page.keyboard.press('Escape')
    await person.page.getByRole('tab', { name: 'Commands' }).click()
    expect(await axe(person.page)).toEqual([])
  }
})

import { agent } from './house/agents'
import { axe } from './house/axe'
import { bash } from './house/model'
import { expect, test } from './house/test'

const LINES = 'seq 1 60 | sed "s/^/line /" > src/app.py'

test('any two moments can be compared, and the view stays fixed', async ({ person, page }) => {
  const id = await person.api.sandbox(`changes-${person.id}`)
  // Last event of the file. The log may report a file several times while it is written.
  const told = async (path: string) => {
    const last = (await person.api.events(id)).findLast((one) => one.event_data.path === path)
    return last && `${last.event_type} ${last.event_data.size}`
  }
  await person.api.run(id, `mkdir src; ${LINES}; echo old > gone.txt`)
  await expect.poll(() => told('src/app.py')).toMatch(/ 471$/)
  await expect.poll(() => told('gone.txt')).toMatch(/ 4$/)
  const before = (await person.api.events(id)).at(-1)?.seq ?? 0
  await person.api.run(
    id,
    'sed -i "s/line 7$/line seven/; s/line 50/row 50/" src/app.py; rm gone.txt; echo new > new.txt',
  )
  await expect.poll(() => told('new.txt')).toMatch(/ 4$/)
  await expect.poll(() => told('gone.txt')).toContain('file.deleted')
  await expect.poll(() => told('src/app.py')).toBe('file.modified 474')

  await person.open(`/sandboxes/${id}?tab=changes&from=${before}`)
  const list = page.getByRole('region', { name: 'Changed files' })
  await list.getByText('3 files').waitFor()
  await list.getByRole('button', { name: /src\/app\.py/ }).click()
  const diff = page.getByRole('region', { name: 'Difference' })
  await diff.getByText('line seven').waitFor()
  await diff.getByText('row').waitFor()
  await list
    .getByRole('button', { name: /src\/app\.py/ })
    .getByText('+2')
    .waitFor()
  expect(await axe(page)).toEqual([])

  await page.getByRole('button', { name: 'Side by side' }).click()
  await expect.poll(() => page.url()).toContain('view=split')
  await page.keyboard.press('v')
  await list.getByText('1 viewed').waitFor()
  await person.api.run(id, 'echo more >> src/app.py')
  await page.getByText('changed since then').waitFor()
  expect(await diff.getByText('more').count()).toBe(0)
  await page.getByRole('button', { name: '1 newer change: show' }).click()
  await page.keyboard.press(']')
  await diff.getByText('more').waitFor()
  await expect.poll(() => list.getByText('1 viewed').count()).toBe(0)

  await page.getByLabel('From', { exact: true }).selectOption('the start')
  await page.getByLabel('To', { exact: true }).selectOption('event by number…')
  await page.getByLabel('To the event').fill(String(before))
  await list.getByText('2 files').waitFor()
})

test('a comment on a line reaches the agent as guidance', async ({ person, page, model }) => {
  await model.play(
    {
      when: { contains: 'Count', lacks: 'from zero' },
      text: 'I count.',
      tools: [bash('printf "one\\ntwo\\n" > a.txt; until [ -e go ]; do sleep 0.05; done')],
    },
    { text: 'As you say.' },
  )
  const id = await person.api.spawn(agent('Count'))
  await person.open(`/sandboxes/${id}?tab=changes`)
  const list = page.getByRole('region', { name: 'Changed files' })
  await list
    .or(page.getByText('No file changed'))
    .or(page.getByRole('button', { name: /newer change/ }))
    .first()
    .waitFor()
  await expect.poll(() => person.api.run(id, 'cat a.txt 2>/dev/null; true')).toBe('one\ntwo\n')
  await expect
    .poll(async () => {
      const newer = page.getByRole('button', { name: /newer change/ })
      if (await newer.isVisible()) await newer.click()
      return list.getByRole('button', { name: /a\.txt/ }).count()
    })
    .toBe(1)
  await list.getByRole('button', { name: /a\.txt/ }).click()
  await page.getByRole('region', { name: 'Difference' }).getByText('two').waitFor()
  await page.keyboard.press('c')
  await page.getByLabel('Line', { exact: true }).fill('2')
  const words = page.getByRole('textbox', { name: 'Comment on line 2' })
  await words.fill('begin from zero')
  await person.api.run(id, 'echo three >> a.txt')
  await page.getByText('changed since then').waitFor()
  expect(await words.inputValue()).toBe('begin from zero')
  await page.keyboard.press('Control+Enter')
  await words.waitFor({ state: 'detached' })
  await person.api.until('the agent has it', async () =>
    (await person.api.events(id)).some((event) => event.event_type === 'agent.message_delivered'),
  )
  await person.api.run(id, 'touch go')
  await expect.poll(() => model.asked()).toContain('a.txt:2: begin from zero')
})

test('the timeline links to the changes of a file', async ({ person, page }) => {
  const id = await person.api.sandbox(`changes-${person.id}`)
  await person.api.run(id, 'echo hello > a.txt')
  await person.open(`/sandboxes/${id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  // The log may report a file several times while it is written.
  await timeline.getByRole('button', { name: /\d changes?\b/ }).click()
  await timeline
    .getByRole('button', { name: /a\.txt/ })
    .last()
    .click()
  await timeline.getByRole('link', { name: 'All changes up to this event' }).click()
  await page.getByRole('region', { name: 'Difference' }).getByText('hello').waitFor()
})

test('ignored files are hidden until somebody wants to see them', async ({ person, page }) => {
  const id = await person.api.sandbox(`ignored-${person.id}`)
  const isLogged = (path: string) => async () =>
    (await person.api.events(id)).some((one) => one.event_data.path === path)
  await person.api.run(id, `echo 'build/' > .gitignore; mkdir .git build; echo 1 > .git/index; echo 2 > build/out.o`)
  await person.api.run(id, 'echo 3 > main.c')
  for (const path of ['.git/index', 'build/out.o', 'main.c'])
    await person.api.until(`${path} is logged`, isLogged(path))
  await person.open(`/sandboxes/${id}?tab=changes`)
  const list = page.getByRole('region', { name: 'Changed files' })
  await list.getByText('2 files').waitFor()
  await list.getByRole('button', { name: /main\.c/ }).waitFor()
  expect(await list.getByRole('button', { name: /index|out\.o/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Show 2 ignored files' }).click()
  await list.getByText('4 files').waitFor()
  await page.waitForURL('**ignored=true**')
})

test('the timeline hides ignored files until somebody wants to see them', async ({ person, page }) => {
  const id = await person.api.sandbox(`ignored-${person.id}`)
  const write = async (...paths: string[]) => {
    const last = (await person.api.events(id)).at(-1)?.seq ?? 0
    await person.api.run(id, paths.map((path) => `mkdir -p $(dirname ${path}); echo build/ >> ${path}`).join('; '))
    for (const path of paths)
      await person.api.until(`${path} is logged`, async () =>
        (await person.api.events(id)).some((one) => one.seq > last && one.event_data.path === path),
      )
    // A row of another kind, so that the next changes have a row of their own.
    await person.api.tell(id, [{ event_type: 'agent.message', event_data: { text: `Wrote ${paths.length}` } }])
  }
  await write('.gitignore')
  await write('.git/index', 'build/out.o', 'main.c')
  await write('.git/HEAD', 'build/lib.o')

  await person.open(`/sandboxes/${id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  const rows = timeline.getByRole('button', { name: /\d changes?\b/ })
  const ignored = /\.git\/|build\//
  await timeline.getByText('Wrote 2').waitFor()
  await rows.filter({ hasText: 'main.c' }).first().waitFor()
  // The rules of .gitignore load after the page.
  await expect.poll(() => rows.filter({ hasText: ignored }).count()).toBe(0)
  await rows.filter({ hasText: /^\d changes?\s*main\.c$/ }).waitFor()

  await page.getByRole('button', { name: 'Ignored files', pressed: false }).click()
  for (const path of ['.git/index', 'build/out.o', '.git/HEAD', 'build/lib.o'])
    await rows.filter({ hasText: path }).first().waitFor()
  await page.getByRole('button', { name: 'Ignored files', pressed: true }).click()
  await expect.poll(() => rows.filter({ hasText: ignored }).count()).toBe(0)
})

import type { Page } from 'playwright-core'
import type { Scene } from './house/scene'
import { TerminalOnPage } from './house/terminal'

/** Screen of the console, and the condition under which it is complete. */
export interface Screen {
  /** Also the name of its screenshots. */
  readonly name: string
  /** Its address below `/console`. */
  readonly path: (scene: Scene) => string
  /** First action on the screen, done once. */
  readonly begin?: (page: Page) => Promise<void>
  /** Waits until the page is complete. */
  readonly shown: (page: Page) => Promise<void>
  /** Waits for content that appears later, for a screenshot. */
  readonly ripe?: (page: Page) => Promise<void>
  /** The same for a user without data, if the screen then differs. */
  readonly empty?: (page: Page) => Promise<void>
  /** Whether only the admin has it. */
  readonly isForAdmin?: boolean
}

/** Types of the agent's events, without the frequent samples of resource usage. */
const SAID = 'agent.message,agent.thinking,agent.tool_use,agent.tool_result,agent.model_call,file.created,file.modified'

/** All screens. Each is checked for WCAG, light and dark and at 380 px, and has screenshots. */
export const SCREENS: readonly Screen[] = [
  {
    name: 'fleet',
    path: () => '',
    shown: (page) => page.getByRole('link', { name: 'Dark mode for the settings page' }).waitFor(),
    ripe: async (page) => {
      await page.getByRole('img', { name: /^CPU/ }).nth(2).waitFor()
      await page.getByText('npm test').waitFor()
    },
    empty: (page) => page.getByText('No sandbox yet').waitFor(),
  },
  {
    name: 'inbox',
    path: () => '/inbox',
    shown: (page) => page.getByRole('list', { name: 'Inbox' }).getByText('Push over a newer commit?').waitFor(),
    ripe: (page) => page.getByRole('region', { name: 'Earlier events' }).getByText('As I thought').waitFor(),
    empty: (page) => page.getByText('No open questions').waitFor(),
  },
  {
    name: 'tasks',
    path: () => '/tasks',
    shown: (page) => page.getByRole('link', { name: 'Publish the release' }).waitFor(),
    empty: (page) => page.getByText('No task yet').waitFor(),
  },
  {
    name: 'tasks-graph',
    path: () => '/tasks?view=graph',
    shown: (page) => page.getByRole('link', { name: 'Publish the release Blocked' }).waitFor(),
  },
  {
    name: 'task',
    path: (scene) => `/tasks/${scene.task}`,
    shown: (page) => page.getByRole('listitem', { name: 'Attempt 2' }).waitFor(),
  },
  {
    name: 'tasks-new',
    path: () => '/tasks/new',
    begin: async (page) => {
      const row = (name: string) => page.getByRole('group', { name, exact: true })
      await row('task-1').getByLabel('Title').fill('Build the project')
      await row('task-1').getByLabel('Program').fill('make')
      await page.getByRole('button', { name: 'Add another task' }).click()
      await row('task-2').getByLabel('Title').fill('Run the tests')
      await row('task-2').getByLabel('Program').fill('make test')
      await row('task-2').getByRole('checkbox', { name: 'task-1' }).check()
    },
    shown: (page) => page.getByRole('img', { name: 'Build the project; Run the tests, after' }).waitFor(),
  },
  {
    name: 'alerts',
    path: () => '/alerts',
    shown: (page) => page.getByRole('heading', { name: /alerts/i }).waitFor(),
  },
  {
    name: 'timeline',
    path: (scene) => `/sandboxes/${scene.asking}`,
    shown: (page) => page.getByRole('button', { name: 'Approve' }).waitFor(),
  },
  {
    name: 'timeline-failed',
    path: (scene) => `/sandboxes/${scene.failed}`,
    shown: (page) => page.getByText('could not translate host name').first().waitFor(),
  },
  {
    name: 'terminal',
    path: (scene) => `/sandboxes/${scene.bare}?tab=terminal`,
    begin: async (page) => {
      await page.getByRole('button', { name: 'Open a shell' }).last().click()
      const terminal = new TerminalOnPage(page)
      await terminal.shows('$')
      await terminal.type('ls -lR src; cat src/greet.ts; echo all is here\n')
    },
    shown: (page) => page.getByText('all is here').last().waitFor(),
  },
  {
    name: 'commands',
    path: (scene) => `/sandboxes/${scene.bare}?tab=terminal&shell=commands`,
    shown: (page) => page.getByRole('tabpanel', { name: 'Commands' }).getByText('mkdir').first().waitFor(),
  },
  {
    name: 'files',
    path: (scene) => `/sandboxes/${scene.bare}?tab=files&path=src/greet.ts`,
    shown: (page) => page.getByText('Hello, ').first().waitFor(),
  },
  {
    name: 'changes',
    path: (scene) => `/sandboxes/${scene.asking}?tab=changes&path=parser.py`,
    shown: (page) => page.getByRole('region', { name: 'Changes of parser.py' }).waitFor(),
  },
  {
    name: 'events',
    path: (scene) => `/sandboxes/${scene.asking}?tab=events&types=${SAID}`,
    begin: (page) => page.getByText('As I thought').click(),
    shown: (page) => page.getByRole('region', { name: /^Event \d+/ }).waitFor(),
  },
  {
    name: 'spawn',
    path: () => '/spawn',
    begin: (page) => page.getByRole('textbox', { name: 'Task', exact: true }).fill('Fix the failing test'),
    shown: (page) => page.getByRole('button', { name: 'Start the agent' }).waitFor(),
  },
  {
    name: 'preview',
    path: (scene) => `/sandboxes/${scene.bare}?tab=preview&port=${scene.port}`,
    shown: (page) => page.frameLocator('iframe').getByRole('heading', { name: 'It works' }).waitFor(),
  },
  {
    name: 'snapshots',
    path: (scene) => `/sandboxes/${scene.bare}?tab=snapshots`,
    shown: (page) => page.getByText('Second try', { exact: true }).waitFor(),
  },
  {
    name: 'sharing',
    path: (scene) => `/sandboxes/${scene.bare}?tab=sharing`,
    shown: async (page) => {
      await page.getByRole('region', { name: 'Connected now' }).getByRole('listitem').first().waitFor()
      await page.getByRole('region', { name: 'Recent accesses' }).getByRole('listitem').first().waitFor()
    },
  },
  {
    name: 'keys',
    path: () => '/admin',
    shown: (page) => page.getByRole('button', { name: 'Revoke' }).first().waitFor(),
    isForAdmin: true,
  },
  {
    name: 'audit',
    path: () => '/admin?part=audit',
    shown: (page) => page.getByRole('listitem').first().waitFor(),
    isForAdmin: true,
  },
  {
    name: 'settings',
    path: () => '/settings',
    shown: (page) => page.getByRole('list', { name: /^Dead letters of/ }).waitFor(),
  },
]

import type { Page } from 'playwright-core'
import type { Scene } from './house/scene'

/** A screen of the console, and when it is there. */
export interface Screen {
  /** Also the name of its screenshots. */
  readonly name: string
  /** Its address under `/console`. */
  readonly path: (scene: Scene) => string
  /** Waits until a page shows it in full. */
  readonly shown: (page: Page) => Promise<void>
  /** The same for somebody who has nothing yet, where that is another sight. */
  readonly empty?: (page: Page) => Promise<void>
  /** Only the admin has it. */
  readonly isForAdmin?: boolean
}

/** Every screen: each is checked for what WCAG asks, light and dark, at 380 px too, and has its screenshots. */
export const SCREENS: readonly Screen[] = [
  {
    name: 'fleet',
    path: () => '',
    shown: (page) => page.getByRole('link', { name: 'Dark mode for the settings page' }).waitFor(),
    empty: (page) => page.getByText('No sandbox yet').waitFor(),
  },
  {
    name: 'inbox',
    path: () => '/inbox',
    shown: (page) => page.getByRole('region', { name: 'Push over a newer commit?' }).waitFor(),
    empty: (page) => page.getByText('Nothing needs you').waitFor(),
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
]

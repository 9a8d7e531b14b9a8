import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import { sessionQuery } from './api/session'
import { SEVERITIES, type Severity } from './api/supervision'
import type { Status, TaskStatus } from './api/types'
import { adminSearch } from './screens/admin/parts'
import { FleetScreen } from './screens/fleet/FleetScreen'
import { Frame } from './screens/frame/Frame'
import { NotFound } from './screens/frame/NotFound'
import { InboxScreen } from './screens/inbox/InboxScreen'
import { SandboxScreen } from './screens/sandbox/SandboxScreen'
import { SignInScreen } from './screens/sign-in/SignInScreen'
import { SORTS, type Sort } from './store/fleet-view'
import { TASK_STATUSES } from './store/tasks'
import { lazily } from './ui/lazily'
import { Failure } from './ui/States'

const AdminScreen = lazily(() => import('./screens/admin/AdminScreen'), 'AdminScreen')
const AlertsScreen = lazily(() => import('./screens/alerts/AlertsScreen'), 'AlertsScreen')
const DocsScreen = lazily(() => import('./screens/docs/DocsScreen'), 'DocsScreen')
const NewTasksScreen = lazily(() => import('./screens/tasks/NewTasksScreen'), 'NewTasksScreen')
const SettingsScreen = lazily(() => import('./screens/settings/SettingsScreen'), 'SettingsScreen')
const SpawnScreen = lazily(() => import('./screens/spawn/SpawnScreen'), 'SpawnScreen')
const TaskScreen = lazily(() => import('./screens/tasks/TaskScreen'), 'TaskScreen')
const TasksScreen = lazily(() => import('./screens/tasks/TasksScreen'), 'TasksScreen')

interface Context {
  readonly queries: QueryClient
}

const STATUSES: readonly Status[] = ['creating', 'running', 'paused', 'hibernated', 'completed', 'failed', 'terminated']

/** A search parameter that is one of these words; anything else counts as not given. */
function oneOf<T extends string>(words: readonly T[], given: unknown): T | undefined {
  return words.find((word) => word === given)
}

function words(given: unknown): string | undefined {
  return typeof given === 'string' && given !== '' ? given : typeof given === 'number' ? String(given) : undefined
}

const rootRoute = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Failure error={error} onRetry={reset} />,
})

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/console/sign-in',
  validateSearch: (search): { next?: string } => ({ next: words(search.next) }),
  component: SignInScreen,
})

const docsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/docs',
  component: DocsScreen,
})

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/console' })
  },
})

const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery)
    if (session === null) throw redirect({ to: '/console/sign-in', search: { next: location.href } })
    return { session }
  },
  component: Frame,
})

const fleetRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console',
  validateSearch: (search): { q?: string; status?: Status; sort?: Sort; ended?: true } => ({
    q: words(search.q),
    status: oneOf(STATUSES, search.status),
    sort: oneOf(SORTS, search.sort),
    ended: search.ended === true ? true : undefined,
  }),
  component: FleetScreen,
})

const inboxRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/inbox',
  validateSearch: (search): { item?: string } => ({ item: words(search.item) }),
  component: InboxScreen,
})

const spawnRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/spawn',
  validateSearch: (search): { from?: string } => ({ from: words(search.from) }),
  component: SpawnScreen,
})

const tasksRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/tasks',
  validateSearch: (search): { status?: TaskStatus; agent_type?: string; view?: 'graph' } => ({
    status: oneOf(TASK_STATUSES, search.status),
    agent_type: words(search.agent_type),
    view: search.view === 'graph' ? 'graph' : undefined,
  }),
  component: TasksScreen,
})

const newTasksRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/tasks/new',
  component: NewTasksScreen,
})

const taskRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/tasks/$taskId',
  component: TaskScreen,
})

const alertsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/alerts',
  validateSearch: (search): { severity?: Severity; acknowledged?: true } => ({
    severity: oneOf(SEVERITIES, search.severity),
    acknowledged: search.acknowledged === true ? true : undefined,
  }),
  component: AlertsScreen,
})

/** Selected tab of a sandbox. */
interface SandboxSearch {
  readonly tab?: string
  /** Number of an event: the target of a link, or the position of the replay. */
  readonly at?: number
  readonly replay?: true
  /** Kinds of rows or types of events, separated by commas. */
  readonly show?: string
  readonly types?: string
  readonly errors?: true
  readonly q?: string
  /** A shell in the terminal. */
  readonly shell?: string
  /** The file that is open, in the tabs of files and of changes. */
  readonly path?: string
  /** The compared moments: events, or the last visit. */
  readonly from?: number | 'visit'
  readonly to?: number
  readonly view?: 'split'
  /** Whether ignored files are shown. */
  readonly ignored?: true
  readonly port?: number
}

/** A number that counts something, from one. */
function ordinal(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 ? given : undefined
}

const sandboxRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/sandboxes/$sandboxId',
  validateSearch: (search): SandboxSearch => ({
    tab: words(search.tab),
    shell: words(search.shell),
    at: ordinal(search.at),
    replay: search.replay === true ? true : undefined,
    show: words(search.show),
    types: words(search.types),
    errors: search.errors === true ? true : undefined,
    q: words(search.q),
    path: words(search.path),
    from: search.from === 'visit' ? 'visit' : ordinal(search.from),
    to: ordinal(search.to),
    view: search.view === 'split' ? 'split' : undefined,
    ignored: search.ignored === true ? true : undefined,
    port: ordinal(search.port),
  }),
  component: SandboxScreen,
})

const adminRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/admin',
  validateSearch: adminSearch,
  component: AdminScreen,
})

const settingsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/console/settings',
  component: SettingsScreen,
})

/** Unknown addresses below the console show the frame with a link back. A splat route would match the fleet too. */
const unknownRoutes = ['/console/$a', '/console/$a/$b', '/console/$a/$b/$c'].map((path) =>
  createRoute({ getParentRoute: () => frameRoute, path, component: NotFound }),
)

const routeTree = rootRoute.addChildren([
  startRoute,
  signInRoute,
  docsRoute,
  frameRoute.addChildren([
    fleetRoute,
    inboxRoute,
    spawnRoute,
    tasksRoute,
    newTasksRoute,
    taskRoute,
    alertsRoute,
    sandboxRoute,
    adminRoute,
    settingsRoute,
    ...unknownRoutes,
  ]),
])

export function makeRouter(queries: QueryClient) {
  return createRouter({ routeTree, context: { queries }, defaultPreload: false })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

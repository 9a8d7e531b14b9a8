import {
  Activity,
  AppWindow,
  FileDiff,
  Folder,
  History,
  type LucideIcon,
  ScrollText,
  TerminalSquare,
  Users,
} from 'lucide-react'
import type { ComponentType } from 'react'
import type { Sandbox } from '~/api/types'
import type { Watch } from '~/store/watch'
import { lazily } from '~/ui/lazily'
import { TimelinePanel } from './TimelinePanel'
import type { Actions } from './use-actions'

/** Properties of every tab of a sandbox. */
export interface PanelProps {
  readonly sandbox: Sandbox
  readonly watch: Watch
  readonly actions: Actions
}

export interface Tab {
  readonly id: string
  readonly label: string
  readonly icon: LucideIcon
  readonly Panel: ComponentType<PanelProps>
}

/** Tabs of a sandbox; `?tab=` selects one. All but the first are loaded on demand. */
export const TABS: readonly [Tab, ...Tab[]] = [
  { id: 'timeline', label: 'Timeline', icon: Activity, Panel: TimelinePanel },
  {
    id: 'terminal',
    label: 'Terminal',
    icon: TerminalSquare,
    Panel: lazily(() => import('../terminal/TerminalPanel'), 'TerminalPanel'),
  },
  {
    id: 'files',
    label: 'Files',
    icon: Folder,
    Panel: lazily(() => import('../files/FilesPanel'), 'FilesPanel'),
  },
  {
    id: 'changes',
    label: 'Changes',
    icon: FileDiff,
    Panel: lazily(() => import('../changes/ChangesPanel'), 'ChangesPanel'),
  },
  {
    id: 'events',
    label: 'Events',
    icon: ScrollText,
    Panel: lazily(() => import('../events/EventsPanel'), 'EventsPanel'),
  },
  {
    id: 'preview',
    label: 'Preview',
    icon: AppWindow,
    Panel: lazily(() => import('../preview/PreviewPanel'), 'PreviewPanel'),
  },
  {
    id: 'sharing',
    label: 'Sharing',
    icon: Users,
    Panel: lazily(() => import('../sharing/SharingPanel'), 'SharingPanel'),
  },
  {
    id: 'snapshots',
    label: 'Snapshots',
    icon: History,
    Panel: lazily(() => import('../snapshots/SnapshotsPanel'), 'SnapshotsPanel'),
  },
]

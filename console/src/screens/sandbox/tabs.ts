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
import { type ComponentType, lazy } from 'react'
import type { Sandbox } from '~/api/types'
import type { Watch } from '~/store/watch'
import { TimelinePanel } from './TimelinePanel'
import type { Actions } from './use-actions'

/** What every part of a sandbox's screen is given. */
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

/** The parts of a sandbox's screen; `?tab=` names one. All but the first are loaded when they are opened. */
export const TABS: readonly [Tab, ...Tab[]] = [
  { id: 'timeline', label: 'Timeline', icon: Activity, Panel: TimelinePanel },
  {
    id: 'terminal',
    label: 'Terminal',
    icon: TerminalSquare,
    Panel: lazy(async () => ({ default: (await import('../terminal/TerminalPanel')).TerminalPanel })),
  },
  {
    id: 'files',
    label: 'Files',
    icon: Folder,
    Panel: lazy(async () => ({ default: (await import('../files/FilesPanel')).FilesPanel })),
  },
  {
    id: 'changes',
    label: 'Changes',
    icon: FileDiff,
    Panel: lazy(async () => ({ default: (await import('../changes/ChangesPanel')).ChangesPanel })),
  },
  {
    id: 'events',
    label: 'Events',
    icon: ScrollText,
    Panel: lazy(async () => ({ default: (await import('../events/EventsPanel')).EventsPanel })),
  },
  {
    id: 'preview',
    label: 'Preview',
    icon: AppWindow,
    Panel: lazy(async () => ({ default: (await import('../preview/PreviewPanel')).PreviewPanel })),
  },
  {
    id: 'sharing',
    label: 'Sharing',
    icon: Users,
    Panel: lazy(async () => ({ default: (await import('../sharing/SharingPanel')).SharingPanel })),
  },
  {
    id: 'snapshots',
    label: 'Snapshots',
    icon: History,
    Panel: lazy(async () => ({ default: (await import('../snapshots/SnapshotsPanel')).SnapshotsPanel })),
  },
]

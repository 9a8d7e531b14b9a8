import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, useContext, useMemo } from 'react'
import { type Content, type RemoteFiles, readAt } from '~/api/files'
import type { Sandbox } from '~/api/types'
import { directoryOf } from '~/store/ignore-files'
import { IgnoreRules } from '~/store/ignored'
import type { Watch } from '~/store/watch'
import { useMay } from '../sandbox/use-may'
import { useWorkspace } from './use-workspace'

const MOST_FILES = 20
const ONLY_NAMES = new IgnoreRules()

/** Whether a file is hidden; undefined hides none. */
export type Hides = ((path: string) => boolean) | undefined

export const HidesContext = createContext<Hides>(undefined)

export function useHides(): Hides {
  return useContext(HidesContext)
}

/** The hidden files: version control, caches and the paths in `.gitignore`. */
export function useIgnored(sandbox: Sandbox, watch: Watch): Hides {
  const showsAll = useSearch({ from: '/frame/console/sandboxes/$sandboxId', select: (search) => search.ignored })
  const { remote, hasEnded, ignoreFiles } = useWorkspace(sandbox, watch)
  const told = ignoreFiles.follow(watch.events.events)
  const may = useMay(sandbox, 'no')
  const { data: rules = ONLY_NAMES } = useQuery({
    queryKey: ['sandbox', sandbox.sandbox_id, 'ignored', hasEnded, ...told],
    queryFn: () => (hasEnded ? fromLog(sandbox.sandbox_id, told) : fromWorkspace(remote, told)),
    enabled: !showsAll && ignoreFiles.hasFiles && may('fs:ro') && sandbox.state !== 'creating',
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return useMemo(() => (showsAll ? undefined : (path: string) => rules.hides(path)), [showsAll, rules])
}

async function fromWorkspace(remote: RemoteFiles, told: ReadonlyMap<string, number>): Promise<IgnoreRules> {
  // The log has no event for a file that is older than the log. Only the root is read, because a request for each
  // directory is expensive.
  const root = await remote.list('')
  const own = root.filter((entry) => entry.type === 'file' && entry.name === '.gitignore').map((entry) => entry.path)
  const nested = [...told.keys()].filter((path) => path.includes('/'))
  return rulesOf([...own, ...nested], (path) => remote.read(path))
}

function fromLog(sandboxId: string, told: ReadonlyMap<string, number>): Promise<IgnoreRules> {
  return rulesOf([...told.keys()], (path) => readAt(sandboxId, path, told.get(path) ?? 0))
}

async function rulesOf(paths: readonly string[], read: (path: string) => Promise<Content>): Promise<IgnoreRules> {
  const texts = await Promise.all(
    paths.slice(0, MOST_FILES).map(async (path) => {
      const bytes = await read(path).then(
        (content) => content.bytes,
        () => new Uint8Array(),
      )
      return [directoryOf(path), new TextDecoder().decode(bytes)] as const
    }),
  )
  return new IgnoreRules(new Map(texts))
}

import { useEffect, useState, useSyncExternalStore } from 'react'
import { connected, listed, type TaskFilter, type TaskSource, TaskWatch } from '~/store/task-watch'
import { useFeed } from '../frame/fleet-context'

const nothing = () => () => undefined

/** The newest tasks that match a filter, live. */
export function useTasks({ status, agentType }: TaskFilter): TaskWatch | undefined {
  return useTaskWatch(() => listed({ status, agentType }), `${status ?? ''} ${agentType ?? ''}`)
}

/** A task and all tasks that are connected with it, live. */
export function useConnected(taskId: string): TaskWatch | undefined {
  return useTaskWatch(() => connected(taskId), taskId)
}

/** `key` names the source: another key is another list. The old list stays until the new one is loaded. */
function useTaskWatch(source: () => TaskSource, key: string): TaskWatch | undefined {
  const feed = useFeed()
  const [watch, setWatch] = useState<TaskWatch>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the source
  useEffect(() => {
    const started = new TaskWatch(source())
    const stop = started.tasks.notifier.subscribe(() => {
      stop()
      setWatch(started)
    })
    started.follow(feed)
    return () => {
      stop()
      started.close()
    }
  }, [feed, key])
  const notifier = watch?.tasks.notifier
  useSyncExternalStore(notifier?.subscribe ?? nothing, notifier?.version ?? (() => 0))
  return watch
}

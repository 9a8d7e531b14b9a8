import type { TestProject } from 'vitest/node'
import { ModelProcess } from './model'
import { Server, type Settings } from './server'

/** What the tests of one worker have: a server, and the model that its agents ask. */
export interface House {
  readonly url: string
  readonly adminKey: string
  readonly modelUrl: string
}

declare module 'vitest' {
  interface ProvidedContext {
    houses: readonly House[]
  }
}

/** A house for every worker, so that no test hears what the model was told to say to another. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return build(project, {})
}

/** The same, with servers of these settings. Returns what removes them. */
export async function build(project: TestProject, settings: Settings): Promise<() => Promise<void>> {
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    const ended = await Promise.allSettled(closers.map((each) => each()))
    const failed = ended.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
  const one = async (): Promise<House> => {
    const model = await ModelProcess.start()
    closers.push(() => model.close())
    const server = await Server.start({ ...settings, ...modelSettings(model.url) })
    closers.push(() => server.close())
    return { url: server.url, adminKey: server.adminKey, modelUrl: model.url }
  }
  try {
    const workers = Number(project.config.maxWorkers)
    project.provide('houses', await Promise.all(Array.from({ length: workers }, one)))
  } catch (error) {
    await close()
    throw error
  }
  return close
}

/** Leads the agents of a server to this model. */
export function modelSettings(url: string): Settings {
  return { 'model-url': url, 'model-key': 'no-key-is-needed' }
}

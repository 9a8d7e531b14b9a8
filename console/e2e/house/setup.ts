import type { TestProject } from 'vitest/node'
import { ModelProcess } from './model'
import { Server, type Settings } from './server'

/** Resources of one test worker: a server and its scripted model. */
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

/** One server and one model for each worker, so that scripts of different tests do not mix. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return build(project, {})
}

/** The same with servers of these settings. Returns a function that removes them. */
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

/** Points the agents of a server to this model. */
export function modelSettings(url: string): Settings {
  return { 'model-url': url, 'model-key': 'no-key-is-needed' }
}

import type { Node } from '../node/use-node'
import type { Draft, Runtime } from './draft'

/** The missing requirements of a runtime, with the commands that install them. */
export interface Need {
  readonly text: string
  readonly command: string
}

type Agents = Node['agents']

const IMAGE: Need = { text: 'the worker image', command: 'viv image build worker' }
const MODEL: Need = { text: 'a model', command: 'ANTHROPIC_API_KEY=… viv serve' }

/** The missing requirements of a runtime. Empty until the server has listed its own. */
export function needs(runtime: Runtime, agents: Agents | undefined, image = ''): readonly Need[] {
  if (agents === undefined || runtime === 'none' || runtime === 'command') return []
  const hasModel = runtime === 'claude' ? agents.models.includes('anthropic') : agents.models.length > 0
  // Another image may also contain the SDKs.
  const hasImage = agents.has_worker_image || image.trim() !== ''
  return [...(hasImage ? [] : [IMAGE]), ...(hasModel ? [] : [MODEL])]
}

/** The draft with a startable runtime: `command`, if the chosen one cannot start. */
export function startable(draft: Draft, agents: Agents | undefined): Draft {
  return needs(draft.runtime, agents, draft.image).length === 0 ? draft : { ...draft, runtime: 'command' }
}
